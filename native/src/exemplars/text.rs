//! An interval for people, and for programs.

use core::fmt::{self, Write};

use picollo_core::text::{Grouped, Quantity, Unit};

use super::cause::{Cause, PARTS, Parts};
use super::evidence::{KNOWN_ACCOUNTS, KNOWN_FAULT_TIMES, KNOWN_QUOTA, KNOWN_RING, KNOWN_RUN_DELAY};
use super::executed_text::{Ipc, IpcCell, JsonExecuted, Uncounted, ipc_column};
use super::exemplar::{Exemplar, NO_CPU};
use super::interval::Interval;
use super::json::write_json_parts;
use super::verdict::Verdict;
use super::written::{Hex, Optional, Right};

/// Exemplars that are shown to people.
const SHOWN: usize = 8;

/// Page faults that are worth a word: they take 50 µs and more.
const MANY_FAULTS: u64 = 100;

/// Why there is no evidence, as [`super::evidence::Missing`] has it.
const MISSING: [&str; 8] = [
    "",
    "timed elsewhere, or by an event loop",
    "ended on another thread than they were begun on",
    "begun before a fork",
    "too many at once",
    "so many other scopes in between that their beginning was forgotten",
    "accounts that contradict themselves",
    "a system without accounts",
];

fn time(nanos: u64) -> Quantity {
    Unit::new("ns").integer(nanos)
}

/// Causes in some order, without memory of their own.
struct Causes([Cause; Cause::ALL.len()], usize);

impl Causes {
    /// Those that are wanted, the least by its key first.
    fn sorted<K: Ord>(is_wanted: impl Fn(Cause) -> bool, key: impl Fn(Cause) -> K) -> Causes {
        let mut causes = Causes(Cause::ALL, 0);
        for cause in Cause::ALL.into_iter().filter(|&cause| is_wanted(cause)) {
            causes.0[causes.1] = cause;
            causes.1 += 1;
        }
        causes.0[..causes.1].sort_unstable_by_key(|&cause| key(cause));
        causes
    }

    /// Those with some of these nanoseconds, most first.
    fn of(parts: &Parts) -> Causes {
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

/// What a cause means, where it typically had so many page faults.
struct Meaning(Cause, u64);

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            // No time is known of them, so that they are not said to be the cause.
            Meaning(Cause::OnCpu, faults) if faults >= MANY_FAULTS => {
                write!(f, "ran for longer, with {} page faults", Grouped::from(faults))
            }
            Meaning(cause, _) => f.write_str(cause.meaning()),
        }
    }
}

impl Interval {
    /// A value: a time, or a number where values are no times.
    fn shown(&self, value: u64) -> Quantity {
        if self.unit_nanos == 0.0 {
            return Unit::NONE.integer(value);
        }
        time((value as f64 * self.unit_nanos).round() as u64)
    }

    /// The causes that have a part of the excess, or are verdicts, the largest first.
    fn rows(&self) -> Causes {
        let has_row = |cause| self.share(cause).observations > 0 || self.percent(cause) >= 0.5;
        Causes::sorted(has_row, |cause| {
            let share = self.share(cause);
            let after = (cause as usize).saturating_sub(PARTS);
            (after, core::cmp::Reverse((share.excess_nanos, share.observations)), cause as usize)
        })
    }

    /// What a cause means here.
    fn meaning(&self, cause: Cause) -> Meaning {
        Meaning(cause, self.share(cause).typical_faults)
    }

    fn percent(&self, cause: Cause) -> f64 {
        match self.excess_nanos() {
            0 => 0.0,
            all => self.share(cause).excess_nanos as f64 * 100.0 / all as f64,
        }
    }

    /// The answer in a sentence, the causes in a table, the slowest with what leads to their requests, and what is not known.
    pub fn write_text(&self, out: &mut dyn Write) -> fmt::Result {
        self.write_answer(out)?;
        let rows = self.rows();
        if !rows.is_empty() {
            let widest = rows.iter().map(|cause| cause.name().len()).max().unwrap_or(0);
            write!(out, "\n\n{:widest$}  Excess  Observations   Typical  It", "Cause")?;
            for &cause in rows.iter() {
                let share = self.share(cause);
                write!(out, "\n{:widest$}  ", cause.name())?;
                match (cause as usize) <= PARTS && self.known > 0 {
                    true => write!(out, "{:>5.0}%", self.percent(cause))?,
                    false => write!(out, "      ")?,
                }
                write!(out, "  {}  ", Right(Grouped::from(share.observations), 12))?;
                match share.typical_nanos {
                    0 => write!(out, "{:8}", "")?,
                    nanos => write!(out, "{}", Right(time(nanos), 8))?,
                }
                write!(out, "  {}", self.meaning(cause))?;
            }
        }
        if !self.exemplars().is_empty() {
            write!(out, "\n\nThe slowest")?;
            for (exemplar, verdict) in self.exemplars().iter().take(SHOWN) {
                write!(out, "\n  ")?;
                self.write_exemplar(out, exemplar, verdict)?;
            }
        }
        self.write_hints(out)?;
        self.write_unknown(out)
    }

    fn write_answer(&self, out: &mut dyn Write) -> fmt::Result {
        if self.observations == 0 && self.exemplars().is_empty() {
            return out.write_str("Nothing was recorded.");
        }
        if self.slow == 0 && self.threshold != 0 {
            let (observations, threshold) = (Grouped::from(self.observations), self.shown(self.threshold));
            return write!(out, "None of {observations} observations was above {threshold}.");
        }
        let largest = self.rows().first().copied().filter(|&cause| self.percent(cause) > 50.0);
        match (self.known, largest) {
            (0, _) => write!(out, "Why these were slow is not known.")?,
            (_, Some(cause)) => {
                write!(
                    out,
                    "Mostly {} ({:.0}%): what was slow {}.",
                    cause.name(),
                    self.percent(cause),
                    cause.meaning()
                )?;
            }
            (_, None) => write!(out, "Several causes: none makes up more than half.")?,
        }
        match self.threshold {
            0 => write!(
                out,
                "\nThe {} slowest of {} observations; causes are known of {}.",
                Grouped::from(self.slow),
                Grouped::from(self.observations),
                Grouped::from(self.known)
            ),
            threshold => write!(
                out,
                "\n{} of {} observations were above {}; causes are known of {}.",
                Grouped::from(self.slow),
                Grouped::from(self.observations),
                self.shown(threshold),
                Grouped::from(self.known)
            ),
        }
    }

    fn write_exemplar(&self, out: &mut dyn Write, exemplar: &Exemplar, verdict: &Verdict) -> fmt::Result {
        write!(out, "{}  {}", Right(self.shown(exemplar.value), 8), verdict.cause.name())?;
        let parts = Causes::of(&verdict.excess);
        if verdict.cause == Cause::Several {
            for (at, &cause) in parts.iter().take(2).enumerate() {
                write!(
                    out,
                    "{} {} {}",
                    if at == 0 { ":" } else { "," },
                    cause.name(),
                    time(verdict.excess.get(cause))
                )?;
            }
        } else if let Some(&cause) = parts.first().filter(|&&cause| cause == verdict.cause) {
            write!(out, " {}", time(verdict.excess.get(cause)))?;
        }
        if exemplar.evidence.major_faults > 0 {
            write!(out, ", {} faults from disk", Grouped(exemplar.evidence.major_faults.into()))?;
        } else if u64::from(exemplar.evidence.minor_faults) >= MANY_FAULTS {
            write!(out, ", {} page faults", Grouped(exemplar.evidence.minor_faults.into()))?;
        }
        write!(out, "{}", Ipc(exemplar, verdict))?;
        let context = &exemplar.context;
        if context.trace_id != [0; 16] {
            write!(out, "  trace {}", Hex(&context.trace_id))?;
        }
        match context.words {
            [0, 0] => Ok(()),
            [first, 0] => write!(out, "  id {first}"),
            [first, second] => write!(out, "  id {first} {second}"),
        }
    }

    /// Where to look next, if there is something to look for.
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
        let mut breaks = "\n\n";
        let mut line = |out: &mut dyn Write, count: u64, why: &str| -> fmt::Result {
            if count == 0 {
                return Ok(());
            }
            write!(
                out,
                "{}Not known of {}: {why}.",
                core::mem::replace(&mut breaks, "\n"),
                Grouped::from(count)
            )
        };
        line(out, counted_only, "only counted")?;
        line(out, without_controls, "too few ordinary ones of their kind")?;
        line(out, too_short, "too short beside what came before them in the same accounts")?;
        for (&count, why) in missing.iter().zip(MISSING).skip(1) {
            line(out, count, why)?;
        }
        if self.known > 0 && !self.has_run_delay {
            write!(
                out,
                "\nWaiting and the run queue are not told apart: this system has no schedstat, or its threads were not prepared."
            )?;
        }
        write!(out, "{}", Uncounted(self))
    }

    /// The same as Markdown, for reports: a heading, the answer, the causes and the slowest, with what is not known.
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
            let share = self.share(cause);
            write!(out, "\n| {} | ", cause.name())?;
            if (cause as usize) <= PARTS && self.known > 0 {
                write!(out, "{:.0}%", self.percent(cause))?;
            }
            write!(out, " | {} | ", Grouped::from(share.observations))?;
            if share.typical_nanos > 0 {
                write!(out, "{}", time(share.typical_nanos))?;
            }
            write!(out, " | {} |", self.meaning(cause))?;
        }
        if !self.exemplars().is_empty() {
            let ([head, rule], slowest) =
                (ipc_column(self), "\n\n| The slowest | Cause | Excess | Page faults |");
            write!(out, "{slowest}{head} Trace | Words |\n| --: | :-- | --: | --: |{rule} :-- | --: |")?;
        }
        for (exemplar, verdict) in self.exemplars().iter().take(SHOWN) {
            let context = &exemplar.context;
            write!(out, "\n| {} | {} | ", self.shown(exemplar.value), verdict.cause.name())?;
            match verdict.excess.get(verdict.cause) {
                0 => {}
                nanos => write!(out, "{}", time(nanos))?,
            }
            out.write_str(" | ")?;
            if exemplar.evidence.knows(KNOWN_ACCOUNTS) {
                write!(out, "{}", Grouped::from(exemplar.evidence.faults()))?;
            }
            out.write_str(" | ")?;
            write!(out, "{}", IpcCell(self, exemplar))?;
            if context.trace_id != [0; 16] {
                write!(out, "{}", Hex(&context.trace_id))?;
            }
            match context.words {
                [0, 0] => out.write_str(" |  |")?,
                [first, 0] => write!(out, " | {first} |")?,
                [first, second] => write!(out, " | {first} {second} |")?,
            }
        }
        self.write_hints(out)?;
        self.write_unknown(out)
    }

    /// All of it, exactly, as a JSON object. What is not known is null.
    pub fn write_json(&self, out: &mut dyn Write) -> fmt::Result {
        let ([counted_only, without_controls, too_short], missing) = self.unknown();
        write!(
            out,
            "{{\"begin_unix_nanos\":{},\"end_unix_nanos\":{},\"threshold\":{},\"observations\":{},\"slow\":{},\"known\":{},\
             \"controls\":{},\"counted_only\":{counted_only},\"without_controls\":{without_controls},\"too_short\":{too_short},\"without_evidence\":{},\"counted\":{},\
             \"excess_nanos\":{}",
            self.unix_nanos[0],
            self.unix_nanos[1],
            Optional(Some(self.threshold).filter(|&threshold| threshold != 0)),
            self.observations,
            self.slow,
            self.known,
            self.controls,
            missing.iter().sum::<u64>(),
            self.counted,
            self.excess_nanos(),
        )?;
        self.write_json_units(out)?;
        out.write_str(",\"machine\":")?;
        self.hints.write_json(out)?;
        out.write_str(",\"causes\":[")?;
        for (at, cause) in Cause::ALL.into_iter().enumerate() {
            let share = self.share(cause);
            let is_part = at < PARTS && self.known > 0;
            let has_typical = is_part && share.observations > 0;
            write!(
                out,
                "{}{{\"cause\":\"{}\",\"excess_nanos\":{},\"observations\":{},\"typical_nanos\":{},\"typical_faults\":{}}}",
                if at == 0 { "" } else { "," },
                cause.name(),
                Optional(is_part.then_some(share.excess_nanos)),
                share.observations,
                Optional(has_typical.then_some(share.typical_nanos)),
                Optional(has_typical.then_some(share.typical_faults)),
            )?;
        }
        out.write_str("],\"exemplars\":[")?;
        for (at, (exemplar, verdict)) in self.exemplars().iter().enumerate() {
            out.write_str(if at == 0 { "" } else { "," })?;
            write_json_exemplar(out, exemplar, verdict)?;
        }
        out.write_str("]}")
    }
}

fn write_json_exemplar(out: &mut dyn Write, exemplar: &Exemplar, verdict: &Verdict) -> fmt::Result {
    let evidence = &exemplar.evidence;
    let known = |bit: u32, value: u64| Optional(evidence.knows(bit).then_some(value));
    write!(
        out,
        "{{\"value\":{},\"wall_nanos\":{},\"unix_nanos\":{},\"thread\":{},\"cpu\":{},\"label\":{},\"words\":[{},{}],\
         \"trace_id\":\"{}\",\"span_id\":\"{}\",\"cause\":\"{}\"",
        exemplar.value,
        exemplar.wall_nanos,
        exemplar.unix_nanos,
        exemplar.thread,
        Optional(Some(exemplar.cpu).filter(|&cpu| cpu != NO_CPU)),
        exemplar.label,
        exemplar.context.words[0],
        exemplar.context.words[1],
        Hex(&exemplar.context.trace_id),
        Hex(&exemplar.context.span_id),
        verdict.cause.name(),
    )?;
    write!(
        out,
        ",\"window_nanos\":{},\"cpu_nanos\":{},\"run_delay_nanos\":{},\"off_nanos\":{},\"preempted_nanos\":{},\"fault_nanos\":{},\
         \"throttled\":{},\"voluntary\":{},\"involuntary\":{},\"minor_faults\":{},\"major_faults\":{}{},\"excess\":{{",
        known(KNOWN_ACCOUNTS, evidence.window_nanos),
        known(KNOWN_ACCOUNTS, evidence.cpu_nanos),
        known(KNOWN_RUN_DELAY, evidence.run_delay_nanos),
        known(KNOWN_RING, evidence.off_nanos),
        known(KNOWN_RING, evidence.preempted_nanos),
        known(KNOWN_FAULT_TIMES, evidence.fault_nanos),
        known(KNOWN_QUOTA, evidence.throttled.into()),
        known(KNOWN_ACCOUNTS, evidence.voluntary.into()),
        known(KNOWN_ACCOUNTS, evidence.involuntary.into()),
        known(KNOWN_ACCOUNTS, evidence.minor_faults.into()),
        known(KNOWN_ACCOUNTS, evidence.major_faults.into()),
        JsonExecuted(exemplar, verdict),
    )?;
    let parts = Cause::ALL.into_iter().take(PARTS).filter(|&cause| verdict.excess.get(cause) > 0);
    for (at, cause) in parts.enumerate() {
        write!(out, "{}\"{}\":{}", if at == 0 { "" } else { "," }, cause.name(), verdict.excess.get(cause))?;
    }
    out.write_char('}')?;
    write_json_parts(out, verdict)?;
    out.write_char('}')
}

#[path = "html.rs"]
mod html;

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
