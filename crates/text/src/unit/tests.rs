//! Quantities, checked against all their digits.

use super::*;
use proptest::prelude::*;
use std::string::{String, ToString};

#[test]
fn whole_numbers() {
    for (unit, value, text) in [
        ("ns", 0, "0 ns"),
        ("ns", 999, "999 ns"),
        ("ns", 1_000, "1.00 µs"),
        ("ns", 9_995, "10.0 µs"),
        ("ns", 999_500, "1.00 ms"),
        ("ps", 4_509_696, "4.51 µs"),
        ("picoseconds", 999, "999 ps"),
        ("microseconds", 3_290, "3.29 ms"),
        ("us", 45, "45 µs"),
        ("ms", 0, "0 ms"),
        ("s", 5, "5 s"),
        ("s", 7_200, "7,200 s"),
        ("ns", 7_200_499_999_999, "7,200 s"),
        ("ns", u64::MAX, "18,446,744,074 s"),
        ("s", u64::MAX, "18,446,744,073,709,551,615 s"),
        ("bytes", 1, "1 B"),
        ("bytes", 1_234_567, "1.23 MB"),
        ("bytes", u64::MAX, "18.4 EB"),
        ("cycles", 4_509_696, "4.51 M"),
        ("cycles", 999, "999"),
        ("apples", 4_509_696, "4,509,696"),
        ("", u64::MAX, "18,446,744,073,709,551,615"),
    ] {
        assert_eq!(Unit::new(unit).integer(value).to_string(), text, "{value} {unit}");
    }
}

#[test]
fn other_numbers() {
    for (unit, value, text) in [
        ("ns", 0.0, "0 ns"),
        ("ns", -0.0, "0 ns"),
        ("ns", 4.3329, "4.33 ns"),
        ("ns", 0.4336, "434 ps"),
        ("ns", 0.000_433_6, "0.434 ps"),
        ("ns", -1_004.5, "−1.00 µs"),
        ("ns", 999.5, "1.00 µs"),
        ("ns", 999.499, "999 ns"),
        ("ns", 1e300, "1.00e291 s"),
        ("ns", 5e-324, "4.94e-321 ps"),
        ("ns", f64::NAN, "n/a"),
        ("ns", f64::INFINITY, "n/a"),
        ("s", 0.00352, "3.52 ms"),
        ("s", 86_400.4, "86,400 s"),
        ("", 4_332.9, "4,333"),
        ("", 432.96, "433"),
        ("", 432.94, "432.9"),
        ("", 0.5, "0.5"),
        ("", -0.012_345, "−0.01235"),
        ("", 1e-9, "1e-9"),
        ("", 123_456_789.4, "123,456,789"),
        ("", 1.234_56e20, "1.235e20"),
        ("", f64::NEG_INFINITY, "n/a"),
        ("cycles", 12.5, "12.5"),
    ] {
        // `1.00e291` has no zeros at the end.
        let text = text.replace("1.00e", "1e");
        assert_eq!(Unit::new(unit).number(value).to_string(), text, "{value} {unit}");
    }
    let ns = Unit::new("ns");
    assert_eq!(ns.number(3.0).signed().to_string(), "+3.00 ns");
    assert_eq!(ns.number(-3.0).signed().to_string(), "−3.00 ns");
    assert_eq!(ns.number(0.0).signed().to_string(), "0 ns");
    assert_eq!(ns.number(-3.0).magnitude().to_string(), "3.00 ns");
    assert_eq!(Unit::COUNT.number(0.05).at_most(2).to_string(), "0.05");
}

#[test]
fn units_of_titles() {
    for (title, heading, unit) in [
        ("Latency (ns)", "Latency", "ns"),
        (" Latency [µs] ", "Latency", "µs"),
        ("25,600 additions, ns", "25,600 additions", "ns"),
        ("(ms)", "", "ms"),
        ("Nanoseconds", "Nanoseconds", "Nanoseconds"),
        ("task-clock", "task-clock", "ns"),
        ("Software:CpuClock", "Software:CpuClock", "ns"),
        ("ns", "ns", "ns"),
        ("Work (cycles)", "Work (cycles)", "cycles"),
        ("Sorting (fast)", "Sorting (fast)", ""),
        ("Sorting, fast", "Sorting, fast", ""),
        ("a) b", "a) b", ""),
        (")", ")", ""),
        ("S", "S", ""),
        ("Grade (b)", "Grade (b)", ""),
        ("x (MS)", "x (MS)", ""),
        ("", "", ""),
    ] {
        assert_eq!(Unit::from_title(title), (heading, Unit::new(unit)), "{title}");
    }
    assert!(Unit::new("Seconds").is_time() && Unit::new("bytes").is_known() && !Unit::new("x").is_known());
}

/// The number in front of the unit, and its power of ten.
fn taken_apart(text: &str) -> (String, i32) {
    let (number, unit) = text.split_once(' ').unwrap();
    let power = match unit {
        "ps" => -12,
        "ns" => -9,
        "µs" => -6,
        "ms" => -3,
        "s" => 0,
        unit => panic!("{unit}"),
    };
    (number.replace([',', '−'], ""), power)
}

proptest! {
    /// There are one to three digits before the point and three significant digits, correct to half of the last.
    #[test]
    fn times_are_rounded_exactly(
        bits in any::<u64>(), shift in 0u32..64, float in any::<bool>(), scale in -30i32..20, base in 0usize..5
    ) {
        let (name, power) = [("ps", -12), ("ns", -9), ("us", -6), ("ms", -3), ("s", 0)][base];
        let whole = bits >> shift;
        let value = libm::ldexp(whole as f64, scale);
        let (text, exact) = if float {
            (Unit::new(name).number(value).to_string(), Decimal::new(value).unwrap())
        } else {
            (Unit::new(name).integer(whole).to_string(), Decimal::from(whole))
        };
        prop_assume!(!text.contains('e'));
        let (number, shown) = taken_apart(&text);
        let (before, after) = number.split_once('.').unwrap_or((&number, ""));
        if shown < 0 {
            prop_assert!(before.len() <= 3, "{}", text);
        }
        // Three digits distinguish adjacent values, unless the value has fewer.
        let count = number.replace('.', "").trim_start_matches('0').len();
        prop_assert!(count >= 3 || !float && shown == power || value == 0.0 || !float && whole == 0, "{}", text);
        // Its digits are those of the exact value, rounded once.
        let (decimals, mut expected) = (after.len(), String::new());
        let rounded = exact.shifted(power - shown).rounded(decimals as i32);
        rounded.write_digits(&mut expected, decimals as u32, "").unwrap();
        prop_assert_eq!(&number, &expected, "{} of {}", text, value);
        // The number equals the exact value, to half a percent.
        let back: f64 = number.parse::<f64>().unwrap() * 10f64.powi(shown - power);
        let value = if float { value } else { whole as f64 };
        prop_assert!((back - value).abs() <= value * 0.005_001, "{} of {}", text, value);
    }

    #[test]
    fn no_bit_pattern_panics(bits: u64, unit in 0usize..8) {
        let unit = Unit::new(KNOWN[unit].0[0]);
        for unit in [unit, Unit::NONE] {
            let text = unit.number(f64::from_bits(bits)).signed().to_string();
            prop_assert!(text.chars().count() < 60, "{}", text);
            prop_assert!(unit.integer(bits).to_string().chars().count() < 30);
        }
    }
}
