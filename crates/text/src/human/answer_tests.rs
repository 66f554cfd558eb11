//! Checks that the sentence states exactly what the verdict and the flags state.

use super::Answer;
use crate::Unit;
use picollo_stats::{
    BlockComparison, COMPARISON_BELOW_RESOLUTION, COMPARISON_NOISY, COMPARISON_TOO_FEW,
    COMPARISON_WITHIN_MARGIN, CompareOptions, Verdict, compare_blocks,
};
use proptest::prelude::*;
use std::string::{String, ToString};
use std::vec::Vec;

fn blocks() -> BlockComparison {
    BlockComparison {
        block_count: 40,
        confidence: 0.95,
        coverage: 0.96,
        median_a: 1000.0,
        median_b: 116.0,
        difference: -884.0,
        difference_lower: -885.0,
        difference_upper: -883.0,
        margin: 10.0,
        smallest_detectable: 42.0,
        verdict: Verdict::Faster as u32,
        ..BlockComparison::default()
    }
}

fn sentence(blocks: &BlockComparison) -> String {
    Answer::for_blocks(blocks, "A", "B", Unit::new("ns")).to_string()
}

#[test]
fn sentences() {
    let fast = blocks();
    let with = |blocks: BlockComparison, [difference_lower, difference, difference_upper]: [f64; 3]| {
        BlockComparison { difference, difference_lower, difference_upper, ..blocks }
    };
    let slow = BlockComparison { median_a: 100.0, verdict: Verdict::Slower as u32, ..fast };
    let slow = with(slow, [3.0, 3.62, 4.2]);
    // 10 + (1.96 + 0.8416) * 55 / 3.92
    let open = BlockComparison { verdict: 0, smallest_detectable: 49.308, ..fast };
    let open = with(open, [-21.0, 6.0, 34.0]);
    let flagged = |blocks, flags| BlockComparison { flags, ..blocks };
    let from = |blocks, median_a| BlockComparison { median_a, ..blocks };
    for (blocks, text) in [
        (fast, "B is 8.6 × faster than A (−88.4 %, 95 %: −88.5 to −88.3)."),
        (slow, "B is 3.6 % slower than A (95 %: +3.0 to +4.2 %)."),
        (with(fast, [-1090.0, -884.0, -680.0]), "B is 8.6 × faster than A (−88 %, 95 %: −100 to −68)."),
        (
            with(slow, [7_590.0, 7_600.0, 7_610.0]),
            "B is 77 × slower than A (+7,600 %, 95 %: +7,590 to +7,610).",
        ),
        (
            with(flagged(fast, COMPARISON_TOO_FEW), [f64::NEG_INFINITY, -884.0, -883.0]),
            "B is faster than A, by how much is not known (95 %: up to −88.3 %).",
        ),
        (from(slow, 0.0), "B is 3.62 ns slower than A (95 %: +3.00 ns to +4.20 ns)."),
        (
            BlockComparison { median_a: 0.3, resolution: 0.5, ..slow },
            "B is 3.62 ns slower than A (95 %: +3.00 ns to +4.20 ns).",
        ),
        (
            open,
            "No difference found between A and B (95 %: −2.1 to +3.4 %); one of 4.9 % would have been seen 80 % of the time.",
        ),
        (
            BlockComparison { smallest_detectable: f64::INFINITY, ..open },
            "No difference found between A and B (95 %: −2.1 to +3.4 %).",
        ),
        (
            BlockComparison { smallest_detectable: 10.0, ..open },
            "No difference found between A and B (95 %: −2.1 to +3.4 %); the smallest that would be seen is 1.0 %.",
        ),
        (
            flagged(open, COMPARISON_WITHIN_MARGIN),
            "No difference that matters: A and B are within 1.0 % (95 %: −2.1 to +3.4 %).",
        ),
        (
            flagged(open, COMPARISON_WITHIN_MARGIN | COMPARISON_BELOW_RESOLUTION),
            "Below the resolution: A and B differ by less than 10.0 ns, if at all.",
        ),
        (flagged(open, COMPARISON_TOO_FEW), "Too few measurements to distinguish A from B."),
        // The difference is not zero, but it is not proven to matter.
        (
            with(open, [9.6, 20.0, 44.0]),
            "B against A: slower by 1.0 to 4.4 % (95 %), not proven to exceed the margin of 1.0 %.",
        ),
        (
            with(open, [-1200.0, -90.0, -2.0]),
            "B against A: faster by 0 to 100 % (95 %), not proven to exceed the margin of 1.0 %.",
        ),
        (
            with(from(open, 0.0), [9.6, 6.0, 44.0]),
            "B against A: slower by 9.60 ns to 44.0 ns (95 %), not proven to exceed the margin of 10.0 ns.",
        ),
        (
            fast.unproven(),
            "Unproven: the machine was too noisy to distinguish A from B in this time: measure longer, or when it is quieter.",
        ),
    ] {
        assert_eq!(sentence(&blocks), text);
    }
    let bytes = Answer::for_blocks(&fast, "A", "B", Unit::new("bytes")).to_string();
    assert!(bytes.starts_with("B is 8.6 × less than A"), "{bytes}");
    let unnamed = Answer::for_blocks(&fast, "", "", Unit::NONE).to_string();
    assert!(unnamed.starts_with("After is 8.6 × faster than Before"), "{unnamed}");
}

/// Any number, including difficult ones.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -2000.0f64..2000.0,
        1 => Just(0.0),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(f64::NAN),
        1 => any::<u64>().prop_map(f64::from_bits),
    ]
}

/// The claims that a sentence may make.
fn claims(text: &str) -> Vec<&'static str> {
    [
        "faster than",
        "slower than",
        "less than A",
        "more than A",
        "No difference that matters",
        "No difference found",
        "not proven to exceed",
        "Below the resolution",
        "Too few",
        "Unproven",
    ]
    .into_iter()
    .filter(|claim| text.contains(claim))
    .collect()
}

proptest! {
    /// The sentence makes one claim, that of the verdict and the flags, even if the numbers contradict it.
    #[test]
    fn one_claim_and_the_right_one(
        numbers in prop::array::uniform7(number()), verdict in 0u32..4, flags in 0u32..512, resolution in number()
    ) {
        let [median_a, difference, lower, upper, margin, smallest_detectable, confidence] = numbers;
        let blocks = BlockComparison {
            median_a, difference, difference_lower: lower, difference_upper: upper, margin, smallest_detectable,
            confidence, verdict, flags, resolution, ..blocks()
        };
        let text = sentence(&blocks);
        let expected = match Verdict::from_code(verdict) {
            Verdict::Faster => "faster than",
            Verdict::Slower => "slower than",
            Verdict::NoEvidence if flags & COMPARISON_NOISY != 0 => "Unproven",
            Verdict::NoEvidence if flags & COMPARISON_TOO_FEW != 0 => "Too few",
            Verdict::NoEvidence if flags & COMPARISON_BELOW_RESOLUTION != 0 => "Below the resolution",
            Verdict::NoEvidence if flags & COMPARISON_WITHIN_MARGIN != 0 => "No difference that matters",
            Verdict::NoEvidence if lower.is_finite() && upper.is_finite() && (lower > 0.0 || upper < 0.0) => {
                "not proven to exceed"
            }
            Verdict::NoEvidence => "No difference found",
        };
        prop_assert_eq!(claims(&text), [expected], "{}", text);
        // There is no size without evidence of one.
        let is_sized = flags & COMPARISON_TOO_FEW == 0 && verdict != 0;
        prop_assert!(is_sized || !text.contains(" ×"), "{}", text);
        prop_assert!(!text.contains("NaN") && !text.contains("inf") && text.ends_with('.'), "{}", text);
    }

    /// For real comparisons, the size agrees with the verdict, and lies inside the interval after it.
    #[test]
    fn of_what_was_measured(
        a in prop::collection::vec(1.0f64..5000.0, 1..60), factor in 0.05f64..20.0, resolution in 0.0f64..2000.0
    ) {
        let b: Vec<f64> = a.iter().rev().map(|value| value * factor).collect();
        let options = CompareOptions { resolution, ..CompareOptions::default() };
        let found = compare_blocks(&a, &b, &mut std::vec![0.0; a.len()], &options).unwrap();
        let text = sentence(&found);
        prop_assert_eq!(claims(&text).len(), 1, "{}", text);
        match found.verdict() {
            Verdict::Faster => prop_assert!(text.contains("faster") && !text.contains('+'), "{}", text),
            Verdict::Slower => prop_assert!(text.contains("slower") && !text.contains('−'), "{}", text),
            Verdict::NoEvidence => {
                // It names a direction only if the whole interval is on one side of zero, and adds that this proves
                // nothing.
                let says_which = text.contains("faster") || text.contains("slower");
                prop_assert_eq!(says_which, text.contains("not proven to exceed"), "{}", text);
                let is_aside = found.difference_lower > 0.0 || found.difference_upper < 0.0;
                prop_assert!(is_aside || !says_which, "{}", text);
            }
        }
        if text.contains("of the time") {
            prop_assert!(text.contains("seen 80 % of the time"), "{}", text);
        }
    }
}

/// An answer is small enough to be copied around.
const _: () = assert!(core::mem::size_of::<Answer<'_>>() < 256);
