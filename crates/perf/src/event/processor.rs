//! Evidence that libpfm4 takes this processor for another one.
//!
//! libpfm4 asks the processor for its model, once, and encodes for it. In a virtual machine the hypervisor may invent
//! the model. Codes of another processor then count something else under a trusted name, and nobody would notice. It
//! shows in a feature that no such processor has, and in several kinds of core, since codes are for one kind.

use core::fmt;

use picollo_native::seam::sys::Files;

/// Features that distinguish generations.
const FEATURES: [&str; 5] = ["avx512f", "avx512_vbmi2", "avx_vnni", "amx_tile", "avx512_fp16"];
const AVX512: u32 = 1;
/// From Ice Lake and Zen 4 on.
const VBMI2: u32 = 2;
/// From Sapphire Rapids, Alder Lake and Zen 5 on.
const VNNI: u32 = 4;
const AMX: u32 = 8;
const FP16: u32 = 16;

/// Names of PMUs, which other names continue after an underscore, and features that none of these processors has.
const NEVER: [(&str, u32); 5] = [
    (
        "coreduo core nhm wsm snb ivb hsw bdw slm glm tmt skl amd64_k8 amd64_fam10h amd64_fam11h amd64_fam12h \
         amd64_fam14h amd64_fam15h amd64_fam16h amd64_fam17h amd64_fam19h_zen3",
        AVX512 | VBMI2 | VNNI | AMX | FP16,
    ),
    ("skx clx knl knm", VBMI2 | VNNI | AMX | FP16),
    ("icl icx", VNNI | AMX | FP16),
    ("adl", AMX),
    ("amd64_fam19h_zen4", VNNI | AMX | FP16),
];

/// Why this processor cannot have the PMU that libpfm4 reports.
pub(crate) enum Disproof<'a> {
    /// The PMU, and the feature that it cannot have.
    Feature(&'a str, &'static str),
    /// The PMU; there are cores of several kinds.
    Mixed(&'a str),
    /// The PMU, whose names have other codes in libpfm4 than in Intel's list.
    Codes(&'a str),
}

impl fmt::Display for Disproof<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Disproof::Feature(pmu, feature) => {
                write!(
                    f,
                    "libpfm4 takes this processor for {pmu}, but it has {feature}, which no {pmu} has"
                )?;
            }
            Disproof::Mixed(pmu) => {
                write!(f, "libpfm4 takes this processor for {pmu}, but its cores are of several kinds")?;
            }
            Disproof::Codes(pmu) => write!(f, "libpfm4 has many codes for {pmu} that Intel does not list")?,
        }
        f.write_str("; use a newer libpfm4 or raw codes")
    }
}

/// The kernel's evidence that this processor does not have a PMU.
pub(crate) fn disproof<'a, S: Files>(sys: &S, pmu: &'a str) -> Option<Disproof<'a>> {
    if pmu == "atom" {
        return Some(Disproof::Codes(pmu));
    }
    let mut buffer = [0; 8192];
    let length = sys.read_file("/proc/cpuinfo", &mut buffer).unwrap_or(0);
    let fields = || {
        let lines =
            buffer[..length].split(|&byte| byte == b'\n').filter_map(|line| core::str::from_utf8(line).ok());
        lines.filter_map(|line| line.split_once(':')).map(|(key, value)| (key.trim(), value.trim()))
    };
    let is_of =
        |name: &str| pmu.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    let never = NEVER.iter().find(|(names, _)| names.split(' ').any(is_of));
    // The flags of the first processor. On x86 the others have the same flags, and Arm uses another key.
    let flags = fields().find(|(key, _)| *key == "flags").map_or("", |(_, flags)| flags);
    let bit = |feature: &str| FEATURES.iter().position(|known| *known == feature).map_or(0, |at| 1 << at);
    let wrong = flags.split(' ').fold(0, |all, flag| all | bit(flag)) & never.map_or(0, |(_, never)| *never);
    if wrong != 0 {
        return Some(Disproof::Feature(pmu, FEATURES[wrong.trailing_zeros() as usize]));
    }
    let is_mixed = ["CPU implementer", "CPU part"].into_iter().any(|wanted| {
        let mut kinds = fields().filter(|(key, _)| *key == wanted).map(|(_, kind)| kind);
        kinds.next().is_some_and(|first| kinds.any(|kind| kind != first))
    });
    (is_mixed && (is_of("arm") || is_of("qcom"))).then_some(Disproof::Mixed(pmu))
}

#[cfg(test)]
#[path = "processor_tests.rs"]
mod tests;
