//! Evidence that libpfm4 takes this processor for another one.
//!
//! libpfm4 asks the processor for its model, once, and encodes for it. In a virtual machine the hypervisor may invent
//! the model. Codes of another processor then count something else under a trusted name, and nobody would notice. It
//! shows in a feature that no such processor has, and in several kinds of core, since codes are for one kind.

use core::ffi::c_char;

use picollo_native::seam::sys::Files;
use picollo_native::seam::text;

/// Features that distinguish generations. The second came with Ice Lake and Zen 4, the third with Sapphire Rapids,
/// Alder Lake and Zen 5.
const FEATURES: [&str; 5] = ["avx512f", "avx512_vbmi2", "avx_vnni", "amx_tile", "avx512_fp16"];

/// Names of PMUs, which other names continue after an underscore, and the part of the features that none of these
/// processors has.
const NEVER: [(&str, core::ops::Range<usize>); 5] = [
    (
        "coreduo core nhm wsm snb ivb hsw bdw slm glm tmt skl amd64_k8 amd64_fam10h amd64_fam11h amd64_fam12h \
         amd64_fam14h amd64_fam15h amd64_fam16h amd64_fam17h amd64_fam19h_zen3",
        0..5,
    ),
    ("skx clx knl knm", 1..5),
    ("icl icx", 2..5),
    ("adl", 3..4),
    ("amd64_fam19h_zen4", 2..5),
];

/// Whether this processor cannot have the PMU that libpfm4 reports. If so, `why` gets the evidence.
pub(crate) fn is_disproved(sys: &dyn Files, pmu: &str, why: &mut [c_char]) -> bool {
    const ADVICE: &str = "use a newer libpfm4 or raw codes";
    if pmu == "atom" {
        text::set(why, format_args!("libpfm4 has many codes for {pmu} that Intel does not list; {ADVICE}"));
        return true;
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
    // The flags of the first processor. On x86 the others have the same flags, and Arm uses another key.
    let flags = fields().find(|(key, _)| *key == "flags").map_or("", |(_, flags)| flags);
    let has = |feature: &&&str| flags.split(' ').any(|flag| flag == **feature);
    let never = NEVER.iter().find(|(names, _)| names.split(' ').any(is_of));
    if let Some(feature) = never.and_then(|(_, never)| FEATURES[never.clone()].iter().find(has)) {
        let but = format_args!("it has {feature}, which no {pmu} has");
        text::set(why, format_args!("libpfm4 takes this processor for {pmu}, but {but}; {ADVICE}"));
        return true;
    }
    let is_mixed = ["CPU implementer", "CPU part"].into_iter().any(|wanted| {
        let mut kinds = fields().filter(|(key, _)| *key == wanted).map(|(_, kind)| kind);
        kinds.next().is_some_and(|first| kinds.any(|kind| kind != first))
    });
    if is_mixed && (is_of("arm") || is_of("qcom")) {
        let but = "its cores are of several kinds";
        text::set(why, format_args!("libpfm4 takes this processor for {pmu}, but {but}; {ADVICE}"));
        return true;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::named::tests::Cpuinfo;

    fn evidence(cpuinfo: &str, pmu: &str) -> String {
        let mut why = [0; 200];
        let is_disproved = is_disproved(&Cpuinfo(cpuinfo.into()), pmu, &mut why);
        assert_eq!(is_disproved, why[0] != 0);
        text::get(&why).to_owned()
    }

    #[test]
    fn features_disprove_another_processor() {
        for (features, pmu, found) in [
            ("avx512f avx512_vbmi2 avx_vnni amx_tile avx512_fp16", "icx", "avx_vnni"),
            ("avx512f amx_tile", "icl", "amx_tile"),
            ("avx512f avx512_vbmi2", "icx", ""),
            ("avx512f avx512_vbmi2", "skx", "avx512_vbmi2"),
            ("avx512f", "skx", ""),
            ("avx512f", "skl", "avx512f"),
            ("avx512f", "hsw_ep", "avx512f"),
            ("avx512f", "amd64_fam19h_zen3", "avx512f"),
            ("avx512f avx512_vbmi2", "amd64_fam19h_zen4", ""),
            ("avx_vnni", "amd64_fam19h_zen4", "avx_vnni"),
            ("avx_vnni", "adl_glc", ""),
            ("amx_tile avx512_fp16 avx_vnni", "spr", ""),
            // PMUs that later versions know, and one that Intel promises for every processor.
            ("amx_tile avx512_fp16 avx_vnni avx512f", "gnr", ""),
            ("avx512f avx_vnni", "amd64_fam1ah_zen5", ""),
            ("amx_tile", "ix86arch", ""),
            // A flag matches only as a whole.
            ("amx_tile2 xamx_tile", "icx", ""),
        ] {
            let expected = match found {
                "" => String::new(),
                _ => format!(
                    "libpfm4 takes this processor for {pmu}, but it has {found}, which no {pmu} has; use a newer libpfm4 or raw codes"
                ),
            };
            let cpuinfo = format!("processor\t: 0\nflags\t\t: fpu {features} sse\n\nprocessor\t: 1\n");
            assert_eq!(evidence(&cpuinfo, pmu), expected, "{features}");
        }
    }

    #[test]
    fn names_begin_before_an_underscore() {
        assert_eq!(evidence("flags : avx512f\n", "corebench"), "");
        assert!(evidence("flags : avx512f\n", "core").contains("avx512f"));
        assert!(evidence("", "atom").contains("does not list"));
    }

    #[test]
    fn cores_of_several_kinds() {
        let core = |part: &str| format!("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: {part}\n\n");
        assert_eq!(evidence(&core("0xd0c").repeat(4), "arm_n1"), "");
        assert!(evidence(&(core("0xd03") + &core("0xd07")), "arm_ac53").contains("of several kinds"));
        let makers = core("0xd01") + "CPU implementer\t: 0x48\nCPU part\t: 0xd01\n";
        assert!(evidence(&makers, "arm_kunpeng").contains("of several kinds"));
        assert_eq!(evidence(&makers, "bench"), "");
        for nothing in ["", "\n\n", "flags\n", ":::"] {
            assert_eq!(evidence(nothing, "skx"), "");
        }
    }
}
