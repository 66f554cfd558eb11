//! What observations executed, for people and for programs.

use core::fmt;

use picollo_core::text::Grouped;

use super::exemplar::Exemplar;
use super::interval::Interval;
use super::verdict::Verdict;

/// Instructions of a cycle, beside the usual, behind what else is said of an exemplar.
pub(super) struct Ipc<'a>(pub &'a Exemplar, pub &'a Verdict);

impl fmt::Display for Ipc<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.evidence.ipc(), self.1.usual_ipc) {
            (None, _) => Ok(()),
            (Some(ipc), 0.0) => write!(f, ", IPC {ipc:.2}"),
            (Some(ipc), usual) => write!(f, ", IPC {ipc:.2} against {usual:.2}"),
        }
    }
}

/// Head and rule of a column for it, where it is known of any.
pub(super) fn ipc_column(interval: &Interval) -> [&'static str; 2] {
    match interval.exemplars().iter().any(|(exemplar, _)| exemplar.evidence.ipc().is_some()) {
        true => [" IPC |", " --: |"],
        false => ["", ""],
    }
}

/// A cell of that column, with what ends it.
pub(super) struct IpcCell<'a>(pub &'a Interval, pub &'a Exemplar);

impl fmt::Display for IpcCell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (ipc_column(self.0), self.1.evidence.ipc()) {
            (["", _], _) => Ok(()),
            (_, Some(ipc)) => write!(f, "{ipc:.2} | "),
            (_, None) => f.write_str(" | "),
        }
    }
}

/// Why it is not known of all what they executed.
pub(super) struct Uncounted<'a>(pub &'a Interval);

impl fmt::Display for Uncounted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(why) = &self.0.uncounted else { return Ok(()) };
        let (counted, known) = (Grouped::from(self.0.counted), Grouped::from(self.0.known));
        write!(
            f,
            "\nInstructions were counted of {counted} of {known}: {}.",
            why.message().trim_end_matches('.')
        )
    }
}

/// Fields of an exemplar in JSON, each behind a comma.
pub(super) struct JsonExecuted<'a>(pub &'a Exemplar, pub &'a Verdict);

impl fmt::Display for JsonExecuted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let evidence = &self.0.evidence;
        match evidence.ipc() {
            Some(ipc) => {
                let (instructions, cycles) = (evidence.instructions, evidence.cycles);
                write!(f, ",\"instructions\":{instructions},\"cycles\":{cycles},\"ipc\":{ipc:.4}")?;
            }
            None => f.write_str(",\"instructions\":null,\"cycles\":null,\"ipc\":null")?,
        }
        match self.1.usual_ipc {
            0.0 => f.write_str(",\"usual_ipc\":null"),
            usual => write!(f, ",\"usual_ipc\":{usual:.4}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::evidence::{Evidence, KNOWN_ACCOUNTS, KNOWN_COUNTERS, KNOWN_RUN_DELAY};
    use super::super::interval::Counted;
    use super::super::usual::Usual;
    use super::*;
    use crate::base::error::{Error, Status};

    const MS: u64 = 1_000_000;

    fn one(millis: u64, instructions: u64, cycles: u64) -> Exemplar {
        let evidence = Evidence {
            known: KNOWN_ACCOUNTS | KNOWN_RUN_DELAY | if cycles > 0 { KNOWN_COUNTERS } else { 0 },
            window_nanos: millis * MS,
            cpu_nanos: millis * MS,
            instructions,
            cycles,
            ..Evidence::default()
        };
        Exemplar { value: millis * MS, wall_nanos: millis * MS, evidence, ..Exemplar::default() }
    }

    fn interval(slow: &[Exemplar]) -> Interval {
        let mut usual = Usual::new().unwrap();
        (0..20).for_each(|_| usual.take(&one(1, 6 * MS, 3 * MS)));
        let hints = Default::default();
        let counted = Counted {
            unix_nanos: [1, 2],
            threshold: 5 * MS,
            unit_nanos: 1.0,
            observations: 100,
            slow: 3,
            hints,
        };
        Interval::new(counted, slow, slow.len(), slow, slow.len() as u64, &usual).unwrap()
    }

    fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
        let mut text = String::new();
        write(&mut text).unwrap();
        text
    }

    #[test]
    fn what_was_executed_is_shown() {
        let mut interval = interval(&[one(40, 6 * MS, 120 * MS), one(20, 120 * MS, 60 * MS), one(9, 0, 0)]);
        assert_eq!((interval.known, interval.counted), (3, 2));
        interval.uncounted = Some(Error::new(Status::Permission, format_args!("not allowed.")));
        let text = written(|text| interval.write_text(text));
        for line in [
            "\nslower instructions         59%             1   39.0 ms  executed as much, more slowly",
            "\nmore instructions           29%             1   19.0 ms  executed more",
            "\n   40.0 ms  slower instructions 39.0 ms, IPC 0.05 against 2.00",
            "\n   20.0 ms  more instructions 19.0 ms, IPC 2.00 against 2.00",
            "\n   9.00 ms  on CPU, cause not known 8.00 ms",
            "\nInstructions were counted of 2 of 3: not allowed.",
        ] {
            assert!(text.contains(line), "{line:?} is not in {text}");
        }
        let markdown = written(|text| interval.write_markdown(text));
        assert!(markdown.contains("| Page faults | IPC | Trace |"), "{markdown}");
        assert!(markdown.contains("| --: | :-- | --: | --: | --: | :-- | --: |"), "{markdown}");
        assert!(markdown.contains("| 40.0 ms | slower instructions | 39.0 ms | 0 | 0.05 | "), "{markdown}");
        assert!(markdown.contains("| 9.00 ms | on CPU, cause not known | 8.00 ms | 0 |  | "), "{markdown}");
        let json = written(|text| interval.write_json(text));
        for part in [
            r#""counted":2,"#,
            r#""uncounted":"not allowed.","#,
            r#","instructions":6000000,"cycles":120000000,"ipc":0.0500,"usual_ipc":2.0000,"excess":{"slower instructions":39000000}"#,
            r#","instructions":null,"cycles":null,"ipc":null,"usual_ipc":2.0000,"excess":{"on CPU, cause not known":8000000}"#,
        ] {
            assert!(json.contains(part), "{part} is not in {json}");
        }
    }
}
