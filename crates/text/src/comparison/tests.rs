//! Texts of comparisons.

use super::*;
use crate::{Unit, example};
use picollo_core::layouts::ValueSelection;
use picollo_stats::{CompareOptions, compare_snapshots};
use proptest::prelude::*;
use std::string::{String, ToString};
use std::vec::Vec;

fn compared() -> (Summary, Summary, Comparison) {
    let (a, b) = (example::recorded(&example::first_values()), example::recorded(&example::second_values()));
    let compared = compare_snapshots(&a, &b, &CompareOptions::default()).unwrap();
    (a.summary(ValueSelection::Midpoint), b.summary(ValueSelection::Midpoint), compared)
}

fn text(format: Format) -> String {
    let (a, b, compared) = compared();
    let mut text = String::new();
    write_comparison(&compared, &a, &b, &mut text, "T", "", "x|y", format).unwrap();
    text
}

#[test]
fn worked_example() {
    let text = text(Format::Markdown);
    let (diff, below) = text.split_once("\n\n").unwrap();
    assert!(diff.ends_with(" 0.08 |"), "{diff}");
    assert_eq!(
        below,
        "\
| Comparison     | Before |   x\\|y |    Difference |
| :------------- | -----: | -----: | ------------: |
| P50            |  3,600 |  3,696 |   +96 (+2.7%) |
| 95% from       |  3,584 |  3,648 | +50.7 (+1.4%) |
| 95% to         |  3,647 |  3,711 |   +96 (+2.7%) |
| Margin         |        |        |    ±36 (1.0%) |
| Detectable     |        |        |  ±68.3 (1.9%) |
| P(larger)      |        |        |        0.5133 |
| Cliff's delta  |        |        |        0.0266 |
| Mann-Whitney   |   z, p |  11.23 |         3e-29 |
| Kolmogorov-Sm. |   D, p | 0.0292 |         3e-44 |
| Verdict        |        |        |        slower |

- Observations out of range or lost are not compared.
"
    );
}

#[test]
fn what_does_not_exist() {
    let few = example::recorded(&[3_000, 4_000, 20_000]);
    let compared =
        compare_snapshots(&few, &few, &CompareOptions { quantile: 0.999, ..Default::default() }).unwrap();
    let mut table = String::new();
    write_markdown(&mut table, &compared, ("Before", "After")).unwrap();
    assert!(table.contains("| 95% to         |    n/a |    n/a |          n/a |"), "{table}");
    assert!(table.ends_with("\n\n- Too few observations for an interval of this quantile.\n- Observations out of range or lost are not compared.\n"));
    let answer = human::Answer::for_comparison(&compared, "", "", Unit::NONE);
    assert_eq!(answer.to_string(), "Too few measurements to distinguish Before from After at P99.9.");
    assert_eq!(compared.to_string(), "P99.9: 0 [n/a, n/a], no evidence");
    let mut line = String::new();
    let summary = few.summary(ValueSelection::Midpoint);
    write_comparison(&compared, &summary, &summary, &mut line, "", "", "", Format::Line).unwrap();
    assert!(line.contains("n/a] 95%, "), "{line}");
    let strange = Comparison {
        mann_whitney_p: 0.0,
        ks_p: 1.6e-7,
        cohens_d: f64::NAN,
        flags: u32::MAX,
        verdict: 77,
        ..compared
    };
    let mut table = String::new();
    write_markdown(&mut table, &strange, ("Before", "After")).unwrap();
    assert!(table.contains(" <1e-300 |") && table.contains(" 2e-7 |"), "{table}");
    assert_eq!(
        table.lines().filter(|line| line.starts_with("- ")).count(),
        NOTES.len() - 1,
        "all but that it is within the margin"
    );
    let mut json = String::new();
    write_json(&mut json, &strange).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["cohens_d"].is_null() && json["verdict"] == "no evidence");
    let lines: Vec<_> = table.lines().take(12).map(|line| line.chars().count()).collect();
    assert!(lines.iter().all(|&width| width == lines[0]), "{table}");
}

fn anything() -> impl Strategy<Value = Comparison> {
    // SAFETY: the struct has only integers and doubles.
    unsafe { example::anything() }
}

proptest! {
    #[test]
    fn any_content_is_well_formed(compared in anything(), title in any::<String>(), name in any::<String>()) {
        let (a, b) = (example::first(), example::empty());
        let write = |format| {
            let mut text = String::new();
            write_comparison(&compared, &a, &b, &mut text, &title, &name, "b", format).unwrap();
            text
        };
        let markdown = write(Format::Markdown);
        let widths = |table: &str| -> Vec<_> {
            table.lines().filter(|line| line.starts_with('|')).map(|line| line.chars().count()).collect()
        };
        let widths = widths(markdown.split_once("\n\n").unwrap().1);
        prop_assert!(widths.len() == 12 && widths.iter().all(|&width| width == widths[0]), "{markdown}");
        prop_assert_eq!(write(Format::Line).lines().count(), 1);
        let json: serde_json::Value = serde_json::from_str(&write(Format::Json)).unwrap();
        prop_assert_eq!(json["comparison"]["flags"].as_u64(), Some(u64::from(compared.flags)));
    }
}
