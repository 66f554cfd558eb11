//! Compares everything that Picollo does fast with everything that does the same, on the same values in one process.
//!
//! `make bench` builds the peers in C and runs it.

mod memory;
mod peers;
#[cfg(target_os = "linux")]
mod per_cpu;
mod reads;
mod record;
mod threads;
mod through;

/// Three significant digits, at most one bit apart: block size 1024, as in HdrHistogram with three digits.
const ERROR: f64 = 0.0005;
/// The ranges of the published comparison.
const RANGES: [u64; 4] = [30_000, 1_000_000_000, MAIN_RANGE, i64::MAX as u64];
/// The range of the tables for several threads.
const MAIN_RANGE: u64 = 7_716_549_600;

fn main() {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown");
    println!("processor: {}", cpu.trim_start_matches(['\t', ' ', ':']));
    println!("cores: {}", std::thread::available_parallelism().map_or(1, usize::from));
    println!("load average at the start: {}", read("/proc/loadavg").split(' ').next().unwrap_or_default());
    let date = std::process::Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    let date = date.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    println!("date: {}", date.unwrap_or_default());
    if !peers::IN_C {
        println!("SKIPPED: HdrHistogram_c and calls through shared libraries; `make bench` builds them");
    }
    record::run();
    threads::run();
    #[cfg(target_os = "linux")]
    per_cpu::run();
    through::run();
    reads::run();
    memory::run();
}
