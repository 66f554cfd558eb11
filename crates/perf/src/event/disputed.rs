//! Codes of libpfm4 (4.13) that differ from Intel's own lists, as perf (Linux 6.1) has them. Both have 4,805 names;
//! these are all that count something else. A program cannot know which of the two is right, and what is unknown is not
//! counted.

/// What Intel's list has instead: the code, and the value that goes with it in `config1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Other {
    pub code: u64,
    pub beside: u64,
}

/// PMUs, event (with its mask if others rightly have the code), the library's code, Intel's code, and its `config1`.
type Row = (&'static [&'static str], &'static str, u64, u64, u64);

const HASWELL_BROADWELL: &[&str] = &["hsw", "hsw_ep", "bdw", "bdw_ep"];
const SKYLAKE: &[&str] = &["skl", "skx", "clx"];
const ICE_LAKE_ON: &[&str] = &["icl", "icx", "spr", "emr"];
const SAPPHIRE_ON: &[&str] = &["spr", "emr"];
const KNIGHTS: &[&str] = &["knl", "knm"];
const IVY: &[&str] = &["ivb", "ivb_ep"];

const ROWS: [Row; 27] = [
    (&["nhm", "nhm_ex"], "MACRO_INSTS", 0x1d0, 0x1a6, 0),
    (IVY, "MOVE_ELIMINATION", 0x458, 0x158, 0),
    (IVY, "MOVE_ELIMINATION", 0x158, 0x458, 0),
    (&["ivb_ep"], "MEM_LOAD_UOPS_LLC_MISS_RETIRED", 0x1d3, 0x3d3, 0),
    (HASWELL_BROADWELL, "L2_RQSTS", 0x4124, 0xc124, 0),
    (HASWELL_BROADWELL, "L2_RQSTS", 0x4224, 0xc224, 0),
    (HASWELL_BROADWELL, "L2_RQSTS", 0x4424, 0xc424, 0),
    (HASWELL_BROADWELL, "L2_RQSTS", 0xd824, 0xd024, 0),
    (HASWELL_BROADWELL, "L2_RQSTS", 0x3824, 0x3024, 0),
    (HASWELL_BROADWELL, "UOPS_RETIRED", 0x0a80_01c2, 0x1080_01c2, 0),
    (SKYLAKE, "UOPS_RETIRED", 0x0180_01c2, 0x0180_02c2, 0),
    (SKYLAKE, "UOPS_RETIRED", 0x0a80_01c2, 0x1080_02c2, 0),
    (&["glm"], "CPU_CLK_UNHALTED", 0, 0x3c, 0),
    (&["glm"], "CPU_CLK_UNHALTED", 0x100, 0x300, 0),
    (&["slm", "tmt"], "CPU_CLK_UNHALTED", 0x13c, 0x300, 0),
    (KNIGHTS, "PAGE_WALKS", 0x0104_0105, 0x0004_0105, 0),
    (KNIGHTS, "PAGE_WALKS", 0x0104_0205, 0x0004_0205, 0),
    (KNIGHTS, "PAGE_WALKS", 0x0104_0305, 0x0004_0305, 0),
    (&["icx"], "MEM_LOAD_MISC_RETIRED", 0x4c4, 0x4d4, 0),
    // These count cycles, slots, and nothing: for event 0 the kernel takes the fixed counter that the mask numbers.
    (ICE_LAKE_ON, "TOPDOWN", 0x200, 0x2a4, 0),
    (SAPPHIRE_ON, "TOPDOWN:BAD_SPEC_SLOTS", 0x400, 0x4a4, 0),
    (ICE_LAKE_ON, "TOPDOWN", 0x800, 0x8a4, 0),
    (ICE_LAKE_ON, "TOPDOWN", 0x1000, 0x10a4, 0),
    (SAPPHIRE_ON, "MEM_TRANS_RETIRED", 0x3cd, 0x2cd, 0),
    (SAPPHIRE_ON, "INT_MISC", 0x7ad, 0x40ad, 7),
    (SAPPHIRE_ON, "UOPS_RETIRED", 0x8c2, 0x4c2, 8),
    (SAPPHIRE_ON, "ARITH", 0x8b0, 0x0100_08b0, 0),
];

/// Unit mask and event.
const LOW: u64 = 0xffff;
/// Unit mask, event and counter mask.
const WITH_COUNTER_MASK: u64 = 0xff00_ffff;

/// Returns what Intel's list has for the code that the library made of a name, if the two differ. `full` is the name
/// that the library spelled out: `skx::UOPS_RETIRED:STALL_CYCLES:k=0:u=1`.
pub(crate) fn disputed(pmu: &str, full: &str, config: u64) -> Option<Other> {
    let (_, name) = full.split_once("::")?;
    let is_of =
        |event: &str| name.strip_prefix(event).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
    let found = ROWS.iter().find(|(pmus, event, code, other, _)| {
        // Modifiers that users add, such as :i or :t, do not make it right.
        let mask = if code & LOW == other & LOW || code >> 24 != 0 { WITH_COUNTER_MASK } else { LOW };
        pmus.contains(&pmu) && is_of(event) && config & mask == code & mask
    });
    found.map(|&(_, _, _, code, beside)| Other { code, beside })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_are_doubted() {
        let other = |full: &str, config| disputed(full.split(':').next().unwrap(), full, config);
        let is = |code| Some(Other { code, beside: 0 });
        assert_eq!(other("spr::TOPDOWN:BAD_SPEC_SLOTS:k=1", 0x400), is(0x4a4));
        assert_eq!(other("spr::TOPDOWN:BAD_SPEC_SLOTS", 0x400), is(0x4a4));
        assert_eq!(other("spr::TOPDOWN:SLOTS:k=1", 0x400), None);
        assert_eq!(other("spr::TOPDOWN:BAD_SPEC_SLOTS:k=1", 0x4a4), None);
        assert_eq!(other("icx::TOPDOWN:BACKEND_BOUND_SLOTS:i=1", 0x80_0200), is(0x2a4));
        assert_eq!(other("skx::TOPDOWN:X", 0x200), None);
        assert_eq!(other("icx::TOPDOWNS:X", 0x200), None);
        assert_eq!(other("hsw::UOPS_RETIRED:ALL:c=10", 0x0a80_01c2), is(0x1080_01c2));
        assert_eq!(other("hsw::UOPS_RETIRED:ALL:c=0", 0x1c2), None);
        assert_eq!(other("skx::UOPS_RETIRED:ALL:c=0", 0x1c2), None);
        assert_eq!(other("spr::UOPS_RETIRED:MS", 0x8c2), Some(Other { code: 0x4c2, beside: 8 }));
        assert_eq!(
            (other("", 0), other("spr", 0x400), other("glm::CPU_CLK_UNHALTED:CORE_P", 0)),
            (None, None, is(0x3c))
        );
    }

    #[test]
    fn every_row_doubts_something() {
        for (pmus, event, code, other, beside) in ROWS {
            assert!(code != other && !pmus.is_empty(), "{event}");
            for pmu in pmus {
                let full = format!("{pmu}::{event}:k=1");
                assert_eq!(disputed(pmu, &full, code), Some(Other { code: other, beside }), "{full}");
                // No right code is listed as a wrong one, except where two are exchanged.
                assert!(disputed(pmu, &full, other).is_none() || event == "MOVE_ELIMINATION", "{full}");
            }
        }
    }
}
