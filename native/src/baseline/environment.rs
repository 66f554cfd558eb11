//! What a run is measured on, as far as files say.

use std::fs;
use std::string::{String, ToString};

use super::Environment;

/// The machine, its kernel and governor, and how busy it is: `cpu`, `cpus`, `host`, `kernel`, `governor`, `load` (of the last
/// minute) and
/// `pressure` (the share of the last ten seconds in which something waited for a processor, in per cent). What is not known is
/// empty.
/// Whoever compiles adds `compiler`.
pub fn environment() -> Environment {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let line = |path: &str| read(path).lines().next().unwrap_or_default().trim().to_string();
    let cpus = std::thread::available_parallelism().map_or_else(|_| String::new(), |count| count.to_string());
    let pressure = line("/proc/pressure/cpu");
    let pressure =
        pressure.split("avg10=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    [
        ("cpu", cpu(&read("/proc/cpuinfo"))),
        ("cpus", cpus),
        ("host", line("/proc/sys/kernel/hostname")),
        ("kernel", line("/proc/sys/kernel/osrelease")),
        ("governor", line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        ("load", line("/proc/loadavg").split(' ').next().unwrap_or_default().to_string()),
        ("pressure", pressure.to_string()),
    ]
    .map(|(key, value)| (key.to_string(), value))
    .into()
}

/// The processor by name; where it has none, as on Arm, by its numbers.
fn cpu(info: &str) -> String {
    let value = |key: &str| {
        let found = info.lines().find(|line| line.split(':').next().is_some_and(|of| of.trim() == key));
        found.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_string())
    };
    value("model name").unwrap_or_else(|| {
        let numbers = ["CPU implementer", "CPU variant", "CPU part", "CPU revision"]
            .map(|key| value(key).unwrap_or_default());
        numbers.join(" ").trim().to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors() {
        assert_eq!(cpu("processor\t: 0\nmodel\t\t: 143\nmodel name\t: A CPU @ 2.00GHz\n"), "A CPU @ 2.00GHz");
        assert_eq!(
            cpu(
                "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n"
            ),
            "0x41 0x3 0xd0c 1"
        );
        assert_eq!(cpu(""), "");
    }

    #[test]
    fn this_machine() {
        let found = environment();
        let known = |key: &str| found.iter().any(|(of, value)| of == key && !value.is_empty());
        assert!(known("cpus"));
        assert!(
            !cfg!(target_os = "linux") || (known("kernel") && known("host") && known("load")),
            "{found:?}"
        );
    }
}
