use super::*;

fn x86(vendor: &str, family: u32, model: u32, flags: &str) -> Processor {
    let one = format!(
        "vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: X\nflags\t\t: fpu {flags} sse\n"
    );
    // What comes behind the first is not looked at.
    Processor::of(
        format!("processor\t: 0\n{one}\nprocessor\t: 1\nmodel\t: 1\nflags\t: amx_tile\n").as_bytes(),
    )
}

fn intel_model(model: u32, flags: &str) -> Processor {
    x86("GenuineIntel", 6, model, flags)
}

#[test]
fn processors_and_their_pmus() {
    for (pmu, model) in [("skx", 85), ("clx", 85), ("icx", 106), ("icl", 126), ("spr", 143), ("hsw_ep", 63)] {
        assert_eq!(intel_model(model, "").fits(pmu), Fit::Fits, "{pmu}");
    }
    for (family, model, pmu) in [
        (23, 1, "amd64_fam17h_zen1"),
        (23, 49, "amd64_fam17h_zen2"),
        (25, 1, "amd64_fam19h_zen3"),
        (25, 17, "amd64_fam19h_zen4"),
        (25, 0x61, "amd64_fam19h_zen4"),
    ] {
        let processor = x86("AuthenticAMD", family, model, "");
        assert_eq!(processor.fits(pmu), Fit::Fits, "{pmu}");
        let fitting: Vec<_> = ROWS.iter().filter(|row| processor.fits(row.pmu) == Fit::Fits).collect();
        assert_eq!(fitting.len(), 1, "{pmu}");
    }
    // Zen 5 is nobody's here, and another maker's model of the same number is not meant.
    assert!(ROWS.iter().all(|row| x86("AuthenticAMD", 26, 2, "").fits(row.pmu) == Fit::OtherModel));
    assert_eq!(x86("AuthenticAMD", 6, 85, "").fits("skx"), Fit::OtherModel);
    assert_eq!(x86("HygonGenuine", 24, 1, "").fits("amd64_fam17h_zen1"), Fit::UnknownProcessor);
}

#[test]
fn a_model_that_lies_is_found_out() {
    // Sapphire Rapids that says Ice Lake.
    let liar = intel_model(106, "avx512f avx512_vbmi2 avx_vnni amx_tile avx512_fp16");
    assert_eq!(liar.fits("icx"), Fit::Never("avx_vnni"));
    assert_eq!(intel_model(106, "avx512f amx_tile").fits("icx"), Fit::Never("amx_tile"));
    assert_eq!(intel_model(106, "avx512f avx512_vbmi2").fits("icx"), Fit::Fits);
    assert_eq!(intel_model(85, "avx512f avx512_vbmi2").fits("skx"), Fit::Never("avx512_vbmi2"));
    // Zen 4 that says Zen 3.
    assert_eq!(x86("AuthenticAMD", 25, 1, "avx512f").fits("amd64_fam19h_zen3"), Fit::Never("avx512f"));
    // What the feature says of others it does not say of this one.
    assert_eq!(intel_model(143, "amx_tile avx512_fp16 avx_vnni").fits("spr"), Fit::Fits);
    // Not a prefix of a flag, nor a part of one.
    assert_eq!(intel_model(106, "amx_tile2 xamx_tile").fits("icx"), Fit::Fits);
}

#[test]
fn arm() {
    let core = |part: &str| {
        format!("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: {part}\nCPU revision\t: 1\n\n")
    };
    let neoverse = Processor::of(core("0xd0c").repeat(4).as_bytes());
    assert_eq!(neoverse.fits("arm_n1"), Fit::Fits);
    assert_eq!(neoverse.fits("arm_v1"), Fit::OtherModel);
    assert_eq!(neoverse.to_string(), "Arm implementer 0x41 part 0xd0c");
    let mixed = Processor::of((core("0xd03") + &core("0xd07")).as_bytes());
    assert!(mixed.fits("arm_ac53") == Fit::Mixed && mixed.fits("arm_ac57") == Fit::Mixed);
    let makers = core("0xd01") + "CPU implementer\t: 0x48\nCPU part\t: 0xd01\n";
    assert_eq!(Processor::of(makers.as_bytes()).fits("arm_kunpeng"), Fit::Mixed);
}

#[test]
fn what_is_not_known_does_not_fit() {
    for cpuinfo in
        [&b""[..], b"\n\n", b"vendor_id\n", b"\xff\xfe", b"vendor_id : GenuineInte\n", b"CPU part\t: 0xd0c\n"]
    {
        let processor = Processor::of(cpuinfo);
        assert!(ROWS.iter().all(|row| processor.fits(row.pmu) == Fit::UnknownProcessor));
        assert_eq!(processor.fits("ix86arch"), Fit::UnknownProcessor);
    }
    let odd = Processor::of(b"vendor_id\t: GenuineIntel\ncpu family\t: 99999999999\nmodel\t: -1\n");
    assert_eq!(odd.fits("skx"), Fit::OtherModel);
    let skylake = intel_model(85, "");
    assert_eq!(skylake.fits("no_such_pmu"), Fit::UnknownPmu);
    assert_eq!((skylake.fits("ix86arch"), skylake.fits("SKX")), (Fit::Fits, Fit::UnknownPmu));
    assert_eq!(x86("AuthenticAMD", 25, 1, "").fits("ix86arch"), Fit::OtherModel);
}

#[test]
fn rows_are_told_apart() {
    for (at, row) in ROWS.iter().enumerate() {
        assert!(ROWS[..at].iter().all(|earlier| earlier.pmu != row.pmu), "{} twice", row.pmu);
        assert!(row.models.iter().all(|&(from, to)| from <= to), "{}", row.pmu);
    }
    let mut why = [0; 300];
    explain("skx", &intel_model(143, ""), &mut why);
    assert_eq!(text::get(&why), "skx is Intel family 6 model 85, and this is Intel family 6 model 143");
    explain("icl", &intel_model(125, "amx_tile"), &mut why);
    assert_eq!(
        text::get(&why),
        "icl is Intel family 6 model 108, 125 to 126, 140 to 141, 157, 167, and this says that it is one, but has amx_tile, which none of them has"
    );
    explain("skx", &intel_model(85, ""), &mut why);
    assert_eq!(text::get(&why), "");
}
