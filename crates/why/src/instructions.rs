//! Splits excess time on the CPU by what was executed meanwhile.
//!
//! Let `I` and `C` be instructions and cycles in user space, `I'` and `C'` their usual means over the controls of that
//! kind, and `n` the nanoseconds per cycle. Then the excess cycles are exactly
//!
//! ```text
//!     C − C'  =  (I − I') · C'/I'      +  I · (C/I − C'/I')
//!     more       = (I − I') · C'/I' · n       more was executed, as slowly as usual
//!     slower     = I · (C/I − C'/I') · n      the same took more cycles: caches, memory, branches, the other half of a core
//!     rest       = on CPU in excess − more − slower
//! ```
//!
//! The rest stays *on CPU, cause not known*: cycles of user space do not include time in the kernel, interrupts, a
//! lower clock, and time that a hypervisor took. Each part is at least 0, and their sum is at most the excess cycles,
//! and at most the excess.
//!
//! **Nanoseconds per cycle** are the usual ones: a lower clock must not look like slower instructions. They are not
//! known directly because the time on the CPU includes the kernel's. So `n` is the usual time on the CPU over the usual
//! cycles, or the time of a loop measured when the counters were opened, whichever is less. The loop matters for
//! requests that are mostly system calls: otherwise the kernel's time would count as time of instructions.
//!
//! **What was before the observation**, `b` nanoseconds of up to 300 µs in its window, is assumed to be usual code, so
//! that all of it is in `more` and is removed there. If it was unusual code, `more` is wrong by up to `8 · b · C'/I'`
//! (no processor executes more than eight instructions a cycle for long), and `slower` by `b`. To be named, they must
//! be larger by that much. If that could be more than a quarter of the excess and neither is named, nothing is split.
//! The counters of controls are read when they begin, so nothing is before them.

use super::cause::{Cause, PARTS, Parts};
use super::exemplar::{Exemplar, KNOWN_ACCOUNTS, KNOWN_COUNTERS};
use super::usual::{LEAST, Ordinary};

/// Maximum number of instructions per cycle.
const MOST: f64 = 8.0;
/// A control is not used if its window contains more than one part in this many of time before it.
const BEFORE: u64 = 16;

/// Instructions, cycles and CPU time of a control.
#[derive(Clone, Copy, Debug)]
pub struct Executed {
    instructions: f64,
    cycles: f64,
    cpu_nanos: f64,
}

impl Executed {
    /// `None` if the counts are unknown, or include too much of the time before.
    pub(super) fn from_control(control: &Exemplar) -> Option<Executed> {
        let evidence = &control.evidence;
        let before = evidence.window_nanos.saturating_sub(control.wall_nanos);
        let is_known = evidence.knows(KNOWN_ACCOUNTS | KNOWN_COUNTERS)
            && before.saturating_mul(BEFORE) <= control.wall_nanos
            && evidence.instructions > 0
            && evidence.cycles > 0;
        is_known.then_some(Executed {
            instructions: evidence.instructions as f64,
            cycles: evidence.cycles as f64,
            cpu_nanos: evidence.cpu_nanos as f64,
        })
    }
}

/// What ordinary observations of one kind execute.
#[derive(Clone, Copy, Debug)]
pub struct Execution {
    instructions: f64,
    cycles: f64,
    cpu_nanos: f64,
    /// Standard deviations in cycles: of the instructions, and of cycles beyond the usual for as many instructions.
    more_deviation: f64,
    slower_deviation: f64,
}

impl Execution {
    /// `None` if too few are known.
    pub(super) fn from_controls(controls: impl Iterator<Item = Executed> + Clone) -> Option<Execution> {
        let count = controls.clone().count();
        if count < LEAST {
            return None;
        }
        let mean = |part: &dyn Fn(Executed) -> f64| controls.clone().map(part).sum::<f64>() / count as f64;
        let instructions = mean(&|one| one.instructions);
        let cycles = mean(&|one| one.cycles);
        let each = cycles / instructions;
        Some(Execution {
            instructions,
            cycles,
            cpu_nanos: mean(&|one| one.cpu_nanos),
            more_deviation: mean(&|one| ((one.instructions - instructions) * each).powi(2)).sqrt(),
            slower_deviation: mean(&|one| (one.cycles - one.instructions * each).powi(2)).sqrt(),
        })
    }

    /// Instructions per cycle.
    pub fn ipc(&self) -> f64 {
        self.instructions / self.cycles
    }
}

/// Two parts of the excess time on the CPU, and how much too large each may be.
#[derive(Clone, Copy, Debug)]
struct Split {
    more: f64,
    slower: f64,
    more_error: f64,
    slower_error: f64,
    more_deviation: f64,
    slower_deviation: f64,
}

impl Split {
    fn new(exemplar: &Exemplar, usual: &Execution, on_cpu: f64) -> Option<Split> {
        let evidence = &exemplar.evidence;
        if !evidence.knows(KNOWN_ACCOUNTS | KNOWN_COUNTERS)
            || evidence.instructions == 0
            || evidence.cycles == 0
        {
            return None;
        }
        let (instructions, cycles) = (evidence.instructions as f64, evidence.cycles as f64);
        let mut nanos = usual.cpu_nanos / usual.cycles;
        if evidence.cycle_hertz > 0 {
            nanos = nanos.min(1e9 / evidence.cycle_hertz as f64);
        }
        let each = usual.cycles / usual.instructions;
        let before = evidence.window_nanos.saturating_sub(exemplar.wall_nanos).min(evidence.cpu_nanos) as f64;
        let most = ((cycles - usual.cycles) * nanos - before).max(0.0).min(on_cpu);
        let more = ((instructions - usual.instructions) * each * nanos - before).max(0.0).min(most);
        let slower = ((cycles - instructions * each) * nanos).max(0.0).min(most);
        // Neither part exceeds the whole, and they do not overlap.
        let fits = if more + slower > most { most / (more + slower) } else { 1.0 };
        Some(Split {
            more: more * fits,
            slower: slower * fits,
            more_error: before * MOST * each.max(1.0 / MOST),
            slower_error: before,
            more_deviation: usual.more_deviation * nanos,
            slower_deviation: usual.slower_deviation * nanos,
        })
    }
}

/// Splits the part of an excess that is on the CPU, and names a new cause if that part was the cause.
pub(super) fn split(exemplar: &Exemplar, ordinary: &Ordinary, excess: &mut Parts, named: &mut Cause) {
    let on_cpu = excess.get(Cause::OnCpu) as f64;
    let Some(split) = ordinary.execution.and_then(|usual| Split::new(exemplar, &usual, on_cpu)) else {
        return;
    };
    let all: f64 = excess.0.iter().map(|&nanos| nanos as f64).sum();
    let spread: f64 =
        ordinary.deviation[..PARTS].iter().sum::<f64>() - ordinary.deviation[Cause::OnCpu as usize - 1];
    // Uses the rule for diagnoses: more than half, even if it is as small, and all others are as large, as they may be.
    let is_cause = |own: f64, error: f64, deviation: f64, other: f64| {
        own * 2.0 > all && own - error - deviation > all - own + error + other + spread
    };
    let mut cause = None;
    if is_cause(split.more, split.more_error, split.more_deviation, split.slower_deviation) {
        cause = Some(Cause::MoreInstructions);
    } else if is_cause(split.slower, split.slower_error, split.slower_deviation, split.more_deviation) {
        cause = Some(Cause::SlowerInstructions);
    }
    if cause.is_none() && split.more_error.max(split.slower_error) * 4.0 > on_cpu {
        return;
    }
    // Large numbers are rounded.
    let whole = excess.get(Cause::OnCpu);
    let more = (split.more as u64).min(whole);
    let slower = (split.slower as u64).min(whole - more);
    let rest = whole - more - slower;
    excess.0[Cause::MoreInstructions as usize - 1] = more;
    excess.0[Cause::SlowerInstructions as usize - 1] = slower;
    excess.0[Cause::OnCpu as usize - 1] = rest;
    if *named == Cause::OnCpu && rest as f64 * 2.0 <= all {
        *named = cause.unwrap_or(Cause::Several);
    }
}

#[cfg(test)]
#[path = "instructions_tests.rs"]
mod tests;
