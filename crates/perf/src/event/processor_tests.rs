use super::*;
use crate::event::named::tests::Cpuinfo;

fn said(cpuinfo: &str, pmu: &str) -> String {
    disproof(&Cpuinfo(cpuinfo.into()), pmu).map_or(String::new(), |disproof| disproof.to_string())
}

#[test]
fn a_model_that_lies_is_found_out() {
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
        let said = said(
            &format!("processor\t: 0\nmodel\t\t: 1\nflags\t\t: fpu {features} sse\n\nprocessor\t: 1\n"),
            pmu,
        );
        assert_eq!(said.is_empty(), found.is_empty(), "{pmu} {features}: {said}");
        assert!(
            said.contains(&format!("but it has {found}, which no {pmu} has")) || found.is_empty(),
            "{said}"
        );
    }
}

#[test]
fn names_begin_before_an_underscore() {
    assert_eq!(said("flags : avx512f\n", "corebench"), "");
    assert!(said("flags : avx512f\n", "core").contains("avx512f"));
    assert!(said("", "atom").contains("does not list"));
}

#[test]
fn cores_of_several_kinds() {
    let core = |part: &str| format!("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: {part}\n\n");
    assert_eq!(said(&core("0xd0c").repeat(4), "arm_n1"), "");
    assert!(said(&(core("0xd03") + &core("0xd07")), "arm_ac53").contains("of several kinds"));
    let makers = core("0xd01") + "CPU implementer\t: 0x48\nCPU part\t: 0xd01\n";
    assert!(said(&makers, "arm_kunpeng").contains("of several kinds"));
    assert_eq!(said(&makers, "bench"), "");
    for nothing in ["", "\n\n", "flags\n", ":::"] {
        assert_eq!(said(nothing, "skx"), "");
    }
}
