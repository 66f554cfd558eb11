//! What this processor says that it is, and which processors the PMUs that libpfm4 names belong to.
//!
//! libpfm4 asks the processor once, and encodes for what it took it for. In a virtual machine the answer may be the hypervisor's
//! invention, and codes of another processor count something else under a trusted name, which nobody would notice. So the kernel's word
//! is asked as well, features that the named processor never had are looked for, and what does not agree is refused.

use core::fmt;

use crate::base::text;
use crate::os::sys::Files;

/// Who makes it. The kernel's names on x86, numbers of implementers on Arm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Maker {
    Intel,
    Amd,
    Arm(u32),
}
use Maker::{Amd, Arm, Intel};

/// A processor, as `/proc/cpuinfo` tells of it.
pub(crate) struct Processor {
    /// `None` where it is neither Intel's nor AMD's nor Arm's, or cannot be read.
    pub maker: Option<Maker>,
    /// 0 on Arm.
    pub family: u32,
    /// The part on Arm.
    pub model: u32,
    /// Arm: there are cores of several kinds.
    pub mixed: bool,
    /// Of the features that tell generations apart, those that it has; a bit each, as in [`FEATURES`].
    features: u32,
}

/// Features that tell generations apart.
const FEATURES: [&str; 5] = ["avx512f", "avx512_vbmi2", "avx_vnni", "amx_tile", "avx512_fp16"];
const AVX512: u32 = 1;
/// From Ice Lake and Zen 4 on.
const VBMI2: u32 = 2;
/// From Sapphire Rapids, Alder Lake and Zen 5 on.
const VNNI: u32 = 4;
const AMX: u32 = 8;
const FP16: u32 = 16;

/// A PMU's processors: models of one family, and features that none of them has.
struct Row {
    pmu: &'static str,
    maker: Maker,
    family: u32,
    /// From, to.
    models: &'static [(u32, u32)],
    never: u32,
}

const fn row(pmu: &'static str, maker: Maker, family: u32, models: &'static [(u32, u32)], never: u32) -> Row {
    Row { pmu, maker, family, models, never }
}

const fn intel(pmu: &'static str, models: &'static [(u32, u32)], never: u32) -> Row {
    row(pmu, Intel, 6, models, never)
}

const BEFORE_SKYLAKE: u32 = AVX512 | VBMI2 | VNNI | AMX | FP16;
const BEFORE_ICE_LAKE: u32 = VBMI2 | VNNI | AMX | FP16;
const BEFORE_SAPPHIRE: u32 = VNNI | AMX | FP16;

const ANY: &[(u32, u32)] = &[(0, u32::MAX)];

/// What libpfm4 (4.13, and later versions' emr and adl) detects these PMUs by, and for Zen 4 what AMD counts as that. Not here is `atom`, of 2008: too many
/// of its codes are not those of Intel's list.
const ROWS: [Row; 56] = [
    intel("coreduo", &[(14, 14)], BEFORE_SKYLAKE),
    intel("core", &[(15, 15), (23, 23), (29, 29)], BEFORE_SKYLAKE),
    intel("nhm", &[(26, 26), (30, 31)], BEFORE_SKYLAKE),
    intel("nhm_ex", &[(46, 46)], BEFORE_SKYLAKE),
    intel("wsm", &[(37, 37)], BEFORE_SKYLAKE),
    intel("wsm_dp", &[(44, 44), (47, 47)], BEFORE_SKYLAKE),
    intel("snb", &[(42, 42)], BEFORE_SKYLAKE),
    intel("snb_ep", &[(45, 45)], BEFORE_SKYLAKE),
    intel("ivb", &[(58, 58)], BEFORE_SKYLAKE),
    intel("ivb_ep", &[(62, 62)], BEFORE_SKYLAKE),
    intel("hsw", &[(60, 60), (69, 70)], BEFORE_SKYLAKE),
    intel("hsw_ep", &[(63, 63)], BEFORE_SKYLAKE),
    intel("bdw", &[(61, 61), (71, 71)], BEFORE_SKYLAKE),
    intel("bdw_ep", &[(79, 79), (86, 86)], BEFORE_SKYLAKE),
    intel("slm", &[(55, 55), (76, 77)], BEFORE_SKYLAKE),
    intel("glm", &[(92, 92), (95, 95)], BEFORE_SKYLAKE),
    intel("tmt", &[(134, 134), (150, 150)], BEFORE_SKYLAKE),
    intel("knl", &[(87, 87)], BEFORE_ICE_LAKE),
    intel("knm", &[(133, 133)], BEFORE_ICE_LAKE),
    intel("skl", &[(78, 78), (94, 94), (142, 142), (158, 158), (165, 166)], BEFORE_SKYLAKE),
    intel("skx", &[(85, 85)], BEFORE_ICE_LAKE),
    intel("clx", &[(85, 85)], BEFORE_ICE_LAKE),
    intel("icl", &[(108, 108), (125, 126), (140, 141), (157, 157), (167, 167)], BEFORE_SAPPHIRE),
    intel("icx", &[(106, 106)], BEFORE_SAPPHIRE),
    intel("spr", &[(143, 143)], 0),
    intel("emr", &[(207, 207)], 0),
    intel("adl_glc", &[(151, 151), (154, 154)], AMX),
    intel("adl_grt", &[(151, 151), (154, 154)], AMX),
    row("amd64_k8_revb", Amd, 15, ANY, BEFORE_SKYLAKE),
    row("amd64_k8_revc", Amd, 15, ANY, BEFORE_SKYLAKE),
    row("amd64_k8_revd", Amd, 15, ANY, BEFORE_SKYLAKE),
    row("amd64_k8_reve", Amd, 15, ANY, BEFORE_SKYLAKE),
    row("amd64_k8_revf", Amd, 15, ANY, BEFORE_SKYLAKE),
    row("amd64_k8_revg", Amd, 15, ANY, BEFORE_SKYLAKE),
    row("amd64_fam10h_barcelona", Amd, 16, &[(0, 3), (7, 7), (10, 255)], BEFORE_SKYLAKE),
    row("amd64_fam10h_shanghai", Amd, 16, &[(4, 6)], BEFORE_SKYLAKE),
    row("amd64_fam10h_istanbul", Amd, 16, &[(8, 9)], BEFORE_SKYLAKE),
    row("amd64_fam11h_turion", Amd, 17, ANY, BEFORE_SKYLAKE),
    row("amd64_fam12h_llano", Amd, 18, ANY, BEFORE_SKYLAKE),
    row("amd64_fam14h_bobcat", Amd, 20, ANY, BEFORE_SKYLAKE),
    row("amd64_fam15h_interlagos", Amd, 21, ANY, BEFORE_SKYLAKE),
    row("amd64_fam16h", Amd, 22, ANY, BEFORE_SKYLAKE),
    row("amd64_fam17h_zen1", Amd, 23, &[(0, 47)], BEFORE_SKYLAKE),
    row("amd64_fam17h_zen2", Amd, 23, &[(48, 255)], BEFORE_SKYLAKE),
    row("amd64_fam19h_zen3", Amd, 25, &[(0, 15), (32, 95)], BEFORE_SKYLAKE),
    row("amd64_fam19h_zen4", Amd, 25, &[(16, 31), (96, 127), (160, 175)], VNNI | AMX | FP16),
    row("arm_ac53", Arm(0x41), 0, &[(0xd03, 0xd03)], 0),
    row("arm_ac57", Arm(0x41), 0, &[(0xd07, 0xd07)], 0),
    row("arm_n1", Arm(0x41), 0, &[(0xd0c, 0xd0c)], 0),
    row("arm_v1", Arm(0x41), 0, &[(0xd40, 0xd40)], 0),
    row("arm_n2", Arm(0x41), 0, &[(0xd49, 0xd49)], 0),
    row("arm_v2", Arm(0x41), 0, &[(0xd4f, 0xd4f)], 0),
    row("arm_thunderx2", Arm(0x43), 0, &[(0xaf, 0xaf)], 0),
    row("arm_a64fx", Arm(0x46), 0, &[(0x001, 0x001)], 0),
    row("arm_kunpeng", Arm(0x48), 0, &[(0xd01, 0xd01)], 0),
    row("arm_xgene", Arm(0x50), 0, &[(0x000, 0x000)], 0),
];

/// Whether a PMU is this processor's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fit {
    Fits,
    /// Its models are others.
    OtherModel,
    /// The model is right, but no processor of that model has this feature.
    Never(&'static str),
    /// Its models are not known here.
    UnknownPmu,
    /// What this processor is cannot be told.
    UnknownProcessor,
    /// There are cores of several kinds, and codes for one of them.
    Mixed,
}

impl Processor {
    /// What the kernel says of the first processor, and of Arm's whether the others are of the same kind.
    pub(crate) fn read<S: Files>(sys: &S) -> Processor {
        let mut buffer = [0; 8192];
        let length = sys.read_file("/proc/cpuinfo", &mut buffer).unwrap_or(0);
        Processor::of(&buffer[..length])
    }

    fn of(cpuinfo: &[u8]) -> Processor {
        let mut found = Processor { maker: None, family: 0, model: 0, mixed: false, features: 0 };
        let mut part = None;
        for line in cpuinfo.split(|&byte| byte == b'\n') {
            let Ok(line) = core::str::from_utf8(line) else { continue };
            let Some((key, value)) = line.split_once(':') else {
                // The first processor's lines end with an empty one. Arm's are short, and all of them matter.
                if matches!(found.maker, Some(Intel | Amd)) {
                    break;
                }
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            let decimal = || value.parse().unwrap_or(u32::MAX);
            let hexadecimal =
                || value.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
            match key {
                "vendor_id" if value == "GenuineIntel" => found.maker = Some(Intel),
                "vendor_id" if value == "AuthenticAMD" => found.maker = Some(Amd),
                "cpu family" => found.family = decimal(),
                "model" => found.model = decimal(),
                "flags" => found.features = features(value),
                "CPU implementer" => {
                    let maker = hexadecimal().map(Arm);
                    found.mixed |= part.is_some() && found.maker != maker;
                    found.maker = maker;
                }
                "CPU part" => {
                    let model = hexadecimal().unwrap_or(u32::MAX);
                    found.mixed |= part.is_some_and(|earlier| earlier != model);
                    part = Some(model);
                    found.model = model;
                }
                _ => {}
            }
        }
        found
    }

    /// Whether a PMU of libpfm4's is this processor's.
    pub(crate) fn fits(&self, pmu: &str) -> Fit {
        let Some(maker) = self.maker else { return Fit::UnknownProcessor };
        if self.mixed {
            return Fit::Mixed;
        }
        // What Intel promises of every processor that has it, whatever its model.
        if pmu == "ix86arch" {
            return if maker == Intel { Fit::Fits } else { Fit::OtherModel };
        }
        let Some(row) = ROWS.iter().find(|row| row.pmu == pmu) else { return Fit::UnknownPmu };
        let models = || row.models.iter().any(|&(from, to)| (from..=to).contains(&self.model));
        if row.maker != maker || row.family != self.family || !models() {
            return Fit::OtherModel;
        }
        let wrong = self.features & row.never;
        match wrong {
            0 => Fit::Fits,
            _ => Fit::Never(FEATURES[wrong.trailing_zeros() as usize]),
        }
    }
}

fn features(flags: &str) -> u32 {
    let bit = |flag: &str| FEATURES.iter().position(|feature| *feature == flag).map_or(0, |at| 1 << at);
    flags.split(' ').fold(0, |all, flag| all | bit(flag))
}

impl fmt::Display for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Processor { family, model, .. } = self;
        match self.maker {
            Some(Intel) => write!(f, "Intel family {family} model {model}"),
            Some(Amd) => write!(f, "AMD family {family} model {model}"),
            Some(Arm(maker)) => write!(f, "Arm implementer {maker:#x} part {model:#x}"),
            None => f.write_str("one that /proc/cpuinfo does not tell of"),
        }
    }
}

/// Whether this is the name of a PMU whose processors are known here.
pub(crate) fn is_known(pmu: &str) -> bool {
    pmu == "ix86arch" || ROWS.iter().any(|row| row.pmu == pmu)
}

/// The models that a PMU is for, for people.
pub(crate) struct Models<'a>(pub &'a str);

impl fmt::Display for Models<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(row) = ROWS.iter().find(|row| row.pmu == self.0) else {
            return f.write_str(if self.0 == "ix86arch" { "Intel" } else { "unknown models" });
        };
        let is_arm = match row.maker {
            Intel => write!(f, "Intel family {} model", row.family).map(|()| false),
            Amd => write!(f, "AMD family {} model", row.family).map(|()| false),
            Arm(maker) => write!(f, "Arm implementer {maker:#x} part").map(|()| true),
        }?;
        if row.models == ANY {
            return f.write_str(" any");
        }
        for (at, &(from, to)) in row.models.iter().enumerate() {
            f.write_str(if at == 0 { " " } else { ", " })?;
            match (is_arm, from == to) {
                (true, _) => write!(f, "{from:#x}")?,
                (false, true) => write!(f, "{from}")?,
                (false, false) => write!(f, "{from} to {to}")?,
            }
        }
        Ok(())
    }
}

/// Why a PMU is not this processor's, for people; empty where it is.
pub(crate) fn explain(pmu: &str, processor: &Processor, out: &mut [core::ffi::c_char]) {
    let models = Models(pmu);
    match processor.fits(pmu) {
        Fit::Fits => text::set(out, format_args!("")),
        Fit::OtherModel => text::set(out, format_args!("{pmu} is {models}, and this is {processor}")),
        Fit::Never(feature) => text::set(
            out,
            format_args!(
                "{pmu} is {models}, and this says that it is one, but has {feature}, which none of them has"
            ),
        ),
        Fit::UnknownPmu => text::set(
            out,
            format_args!("which processors {pmu} belongs to is not known here, and this is {processor}"),
        ),
        Fit::UnknownProcessor => {
            text::set(out, format_args!("{pmu} is {models}, and what this is /proc/cpuinfo does not say"));
        }
        Fit::Mixed => text::set(out, format_args!("{pmu} is {models}, and cores here are of several kinds")),
    }
}

#[cfg(test)]
#[path = "processor_tests.rs"]
mod tests;
