//! Writes an interval for people: text and Markdown here, HTML in `html.rs`. Writing allocates nothing.

use core::fmt::{self, Display, Write, from_fn};

use picollo_core::seam::Grouped;
use picollo_text::seam::width;
use picollo_text::{Quantity, Unit};

use super::cause::{Cause, PARTS, Parts};
use super::diagnosis::Diagnosis;
use super::exemplar::{Context, Exemplar, KNOWN_ACCOUNTS, Missing};
use super::interval::Interval;

/// Number of exemplars to show.
const SHOWN: usize = 8;

/// Number of page faults worth mentioning: they take at least 50 µs.
const MANY_FAULTS: u64 = 100;

/// Why slow observations have no exemplar.
const COUNTED_ONLY: &str = "only counted: they were recorded without a scope, or were too many at once. If requests share a thread \
     (an event loop), offer each with its duration (`offer`), or put a scope around the call that blocks";

fn time(nanos: u64) -> Quantity {
    Unit::new("ns").integer(nanos)
}

/// Bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> impl Display {
    from_fn(move |f| bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")))
}

/// Pads text that is formatted in another way.
fn right(what: impl Display, to: usize) -> impl Display {
    from_fn(move |f| {
        let padding = to.saturating_sub(width(&what)?);
        write!(f, "{:padding$}{what}", "")
    })
}

/// The value, or another text.
fn or(what: Option<impl Display>, other: &'static str) -> impl Display {
    from_fn(move |f| match &what {
        Some(what) => what.fmt(f),
        None => f.write_str(other),
    })
}

/// The value, or nothing.
fn maybe(what: Option<impl Display>) -> impl Display {
    or(what, "")
}

/// The caller's words, without trailing zeros.
fn words(context: &Context) -> impl Display {
    let [first, second] = context.words;
    from_fn(move |f| match (first, second) {
        (0, 0) => Ok(()),
        (_, 0) => write!(f, "{first}"),
        _ => write!(f, "{first} {second}"),
    })
}

/// The diagnosis with its excess over the usual. For several causes, the two with the most.
fn cause_and_excess(diagnosis: &Diagnosis, between: &str) -> impl Display {
    from_fn(move |f| {
        f.write_str(diagnosis.cause.name())?;
        if diagnosis.cause != Cause::Several {
            let excess = Some(diagnosis.excess.get(diagnosis.cause)).filter(|&nanos| nanos > 0);
            return excess.map_or(Ok(()), |nanos| write!(f, " {}", time(nanos)));
        }
        let excess = Causes::from_parts(&diagnosis.excess);
        excess.iter().take(2).enumerate().try_for_each(|(at, &cause)| {
            let before = if at == 0 { ":" } else { between };
            write!(f, "{before} {} {}", cause.name(), time(diagnosis.excess.get(cause)))
        })
    })
}

/// Causes in some order, without allocation.
struct Causes([Cause; Cause::ALL.len()], usize);

impl Causes {
    /// The wanted causes, in ascending order of `key`.
    fn sorted<K: Ord>(is_wanted: impl Fn(Cause) -> bool, key: impl Fn(Cause) -> K) -> Causes {
        let mut causes = Causes(Cause::ALL, 0);
        for cause in Cause::ALL.into_iter().filter(|&cause| is_wanted(cause)) {
            causes.0[causes.1] = cause;
            causes.1 += 1;
        }
        causes.0[..causes.1].sort_unstable_by_key(|&cause| key(cause));
        causes
    }

    /// Causes that have some of these nanoseconds, in descending order.
    fn from_parts(parts: &Parts) -> Causes {
        let key = |cause: Cause| (core::cmp::Reverse(parts.get(cause)), cause as usize);
        Causes::sorted(|cause| parts.get(cause) > 0, key)
    }
}

impl core::ops::Deref for Causes {
    type Target = [Cause];

    fn deref(&self) -> &[Cause] {
        &self.0[..self.1]
    }
}

impl Interval {
    /// A value as a time, or as a number if values are not times.
    fn time_or_number(&self, value: u64) -> Quantity {
        match self.units_per_second {
            0 => Unit::NONE.integer(value),
            units => time((value as f64 * 1e9 / units as f64).round() as u64),
        }
    }

    /// The causes that have a share of the excess or are diagnoses, the largest first.
    fn rows(&self) -> Causes {
        let has_row = |cause| self.share(cause).observations > 0 || self.percent(cause) >= 0.5;
        Causes::sorted(has_row, |cause| {
            let share = self.share(cause);
            let after = (cause as usize).saturating_sub(PARTS);
            (after, core::cmp::Reverse((share.excess_nanos, share.observations)), cause as usize)
        })
    }

    fn percent(&self, cause: Cause) -> f64 {
        match self.excess_nanos() {
            0 => 0.0,
            all => self.share(cause).excess_nanos.unwrap_or(0) as f64 * 100.0 / all as f64,
        }
    }

    /// Cells of a cause's row: share of the excess, number of observations, typical duration, and meaning.
    fn cells(&self, cause: Cause) -> (impl Display, Grouped, impl Display, impl Display) {
        let share = self.share(cause);
        let percent = share.excess_nanos.map(|_| self.percent(cause));
        let meaning = from_fn(move |f| match share.typical_faults.unwrap_or(0) {
            // Their time is unknown, so that they are not reported as the cause.
            faults if cause == Cause::OnCpu && faults >= MANY_FAULTS => {
                write!(f, "ran for longer, with {} page faults", Grouped::from(faults))
            }
            _ => f.write_str(cause.meaning()),
        });
        (
            maybe(percent.map(|percent| from_fn(move |f| write!(f, "{percent:.0}%")))),
            Grouped::from(share.observations),
            maybe(share.typical_nanos.filter(|&nanos| nanos > 0).map(time)),
            meaning,
        )
    }

    /// Writes the answer in a sentence, the causes in a table, the slowest with their contexts, and unknown things.
    pub fn write_text(&self, out: &mut dyn Write) -> fmt::Result {
        self.write_answer(out)?;
        let rows = self.rows();
        let widest = rows.iter().map(|cause| cause.name().len()).max().unwrap_or(0);
        if !rows.is_empty() {
            write!(out, "\n\n{:widest$}  Excess  Observations   Typical  It", "Cause")?;
        }
        for &cause in rows.iter() {
            let (percent, observations, typical, meaning) = self.cells(cause);
            let (percent, observations, typical) =
                (right(percent, 6), right(observations, 12), right(typical, 8));
            write!(out, "\n{:widest$}  {percent}  {observations}  {typical}  {meaning}", cause.name())?;
        }
        if !self.exemplars().is_empty() {
            write!(out, "\n\nThe slowest")?;
        }
        for (exemplar, diagnosis) in self.exemplars().iter().take(SHOWN) {
            write!(out, "\n  {}  ", right(self.time_or_number(exemplar.value), 8))?;
            self.write_exemplar(out, exemplar, diagnosis)?;
        }
        self.write_hints(out)?;
        self.write_unknown(out)
    }

    fn write_answer(&self, out: &mut dyn Write) -> fmt::Result {
        let [observations, slow, known] = [self.observations, self.slow, self.known].map(Grouped::from);
        if self.observations == 0 && self.exemplars().is_empty() {
            return out.write_str("Nothing was recorded.");
        }
        if self.slow == 0 && self.threshold != 0 {
            return write!(
                out,
                "None of {observations} observations was above {}.",
                self.time_or_number(self.threshold)
            );
        }
        let largest = self.rows().first().copied().filter(|&cause| self.percent(cause) > 50.0);
        match (self.known, largest) {
            (0, _) => write!(out, "Why these were slow is not known.")?,
            (_, Some(cause)) => {
                let (name, percent, meaning) = (cause.name(), self.percent(cause), cause.meaning());
                write!(out, "Mostly {name} ({percent:.0}%): what was slow {meaning}.")?;
            }
            (_, None) => write!(out, "Several causes: none makes up more than half.")?,
        }
        match self.threshold {
            0 => write!(out, "\nThe {slow} slowest of {observations} observations; ")?,
            threshold => {
                write!(
                    out,
                    "\n{slow} of {observations} observations were above {}; ",
                    self.time_or_number(threshold)
                )?;
            }
        }
        write!(out, "causes are known of {known}.")
    }

    fn write_exemplar(&self, out: &mut dyn Write, exemplar: &Exemplar, diagnosis: &Diagnosis) -> fmt::Result {
        write!(out, "{}", cause_and_excess(diagnosis, ","))?;
        let (minor, major) = (exemplar.evidence.minor_faults, exemplar.evidence.major_faults);
        if major > 0 {
            write!(out, ", {} faults from disk", Grouped(major.into()))?;
        } else if u64::from(minor) >= MANY_FAULTS {
            write!(out, ", {} page faults", Grouped(minor.into()))?;
        }
        if let Some(ipc) = exemplar.evidence.ipc() {
            write!(out, ", IPC {ipc:.2}")?;
            if diagnosis.usual_ipc != 0.0 {
                write!(out, " against {:.2}", diagnosis.usual_ipc)?;
            }
        }
        let context = &exemplar.context;
        if context.trace_id != [0; 16] {
            write!(out, "  trace {}", hex(&context.trace_id))?;
        }
        if context.words != [0, 0] { write!(out, "  id {}", words(context)) } else { Ok(()) }
    }

    /// Whether to write hints where to look next.
    fn has_hints(&self) -> bool {
        self.slow > 0 && !self.hints.is_empty()
    }

    fn write_hints(&self, out: &mut dyn Write) -> fmt::Result {
        if !self.has_hints() {
            return Ok(());
        }
        out.write_str("\n\n")?;
        self.hints.write_text(out)
    }

    fn write_unknown(&self, out: &mut dyn Write) -> fmt::Result {
        let ([counted_only, without_controls, too_short], missing) = self.unknown();
        let reasons = [
            (counted_only, COUNTED_ONLY),
            (without_controls, "too few ordinary ones of their kind"),
            (too_short, "too short beside what came before them in the same accounts"),
        ];
        let missing = Missing::ALL.iter().zip(missing).skip(1).map(|(why, &count)| (count, why.sentence()));
        let mut breaks = "\n\n";
        for (count, why) in reasons.into_iter().chain(missing).filter(|&(count, _)| count > 0) {
            let before = core::mem::replace(&mut breaks, "\n");
            write!(out, "{before}Not known of {}: {why}.", Grouped::from(count))?;
        }
        if self.known > 0 && !self.has_run_delay {
            write!(
                out,
                "\nWaiting and the run queue are not told apart: this system has no schedstat, or its threads were not prepared."
            )?;
        }
        let Some(why) = &self.uncounted else { return Ok(()) };
        let (counted, known) = (Grouped::from(self.counted), Grouped::from(self.known));
        let why = why.message().trim_end_matches('.');
        write!(out, "\nInstructions were counted of {counted} of {known}: {why}.")
    }

    /// Writes Markdown for reports: a heading, the answer, the causes, the slowest, and unknown things.
    pub fn write_markdown(&self, out: &mut dyn Write) -> fmt::Result {
        out.write_str("### Why the slow ones were slow\n\n")?;
        self.write_answer(out)?;
        let rows = self.rows();
        if !rows.is_empty() {
            out.write_str(
                "\n\n| Cause | Excess | Observations | Typical | It |\n| :-- | --: | --: | --: | :-- |",
            )?;
        }
        for &cause in rows.iter() {
            let (percent, observations, typical, meaning) = self.cells(cause);
            write!(out, "\n| {} | {percent} | {observations} | {typical} | {meaning} |", cause.name())?;
        }
        let has_ipc = self.exemplars().iter().any(|(exemplar, _)| exemplar.evidence.ipc().is_some());
        if !self.exemplars().is_empty() {
            let (head, rule) = if has_ipc { (" IPC |", " --: |") } else { ("", "") };
            let slowest = "\n\n| The slowest | Cause | Excess | Page faults |";
            write!(out, "{slowest}{head} Trace | Words |\n| --: | :-- | --: | --: |{rule} :-- | --: |")?;
        }
        for (exemplar, diagnosis) in self.exemplars().iter().take(SHOWN) {
            let (context, evidence) = (&exemplar.context, &exemplar.evidence);
            let excess = Some(diagnosis.excess.get(diagnosis.cause)).filter(|&nanos| nanos > 0).map(time);
            let faults = evidence.knows(KNOWN_ACCOUNTS).then(|| Grouped::from(evidence.faults()));
            let (value, cause) = (self.time_or_number(exemplar.value), diagnosis.cause.name());
            write!(out, "\n| {value} | {cause} | {} | {} | ", maybe(excess), maybe(faults))?;
            if has_ipc {
                write!(
                    out,
                    "{} | ",
                    maybe(evidence.ipc().map(|ipc| from_fn(move |f| write!(f, "{ipc:.2}"))))
                )?;
            }
            let trace = Some(hex(&context.trace_id)).filter(|_| context.trace_id != [0; 16]);
            write!(out, "{} | {} |", maybe(trace), words(context))?;
        }
        self.write_hints(out)?;
        self.write_unknown(out)
    }
}

#[path = "html.rs"]
mod html;

#[cfg(test)]
#[path = "text_tests.rs"]
pub(super) mod tests;
