//! Benchmarks under Valgrind, where times say nothing, and instructions can be counted exactly.
//!
//! `picollo stat --counts=valgrind --benchmarks` starts a program under callgrind, and says so by a variable. The benchmarks in it then take
//! some blocks, by number and not by time. Each sample has its instructions collected and written to a file of its own, which the command
//! reads when the program has ended: a program cannot read them itself. The names of these files tell what is in them: see `plan.rs`.
//!
//! Samples have one call or some more than one, in turns. What a sample takes beside its calls is the same in both, and goes out with the
//! difference, to the last instruction. A program that gave a number of calls gets that number each time.
//!
//! Without the variable, or with another tool, a benchmark goes by time as ever, but is not believed: [`BENCHMARK_SIMULATED`].

use core::fmt::{self, Write};

use picollo_core::Verdict;
use picollo_core::text::Format;

use super::options::Limits;
use super::plan::{Name, Plan};
use super::schedule::Schedule;
use super::{BENCHMARK_SIMULATED, BLOCK, Benchmark, BenchmarkResult, Step};
use crate::base::error::Result;
use crate::os::valgrind;

/// What there is of a benchmark that Valgrind executes.
pub(super) struct Simulation {
    /// A sample was timed by the clock, which says nothing here.
    is_timed: bool,
    plan: Option<Plan>,
}

impl Simulation {
    /// `None` where Valgrind does not execute this.
    pub(super) fn of(limits: &mut Limits) -> Option<Simulation> {
        valgrind::is_running().then(|| Simulation { is_timed: false, plan: Plan::of(limits) })
    }

    /// What is to be run, where that goes by number; outer `None` where it goes by time.
    pub(super) fn step(&mut self) -> Option<Option<Step>> {
        self.plan.as_mut().map(Plan::step)
    }

    /// A sample begins: nothing must come behind this.
    #[inline(always)]
    pub(super) fn start(&mut self) {
        if let Some(plan) = &mut self.plan {
            plan.start();
        }
    }

    /// A sample has ended, if one was begun, which the clock has timed.
    #[inline(always)]
    pub(super) fn stop(&mut self, was_begun: bool) {
        self.is_timed |= was_begun;
        if let Some(plan) = &mut self.plan {
            plan.stop();
        }
    }
}

impl Benchmark {
    /// A sample that goes by number was taken.
    pub(super) fn took_by_number(&mut self, step: Step, picos: u64) -> Result<()> {
        let Some(plan) = self.simulation.as_mut().and_then(|simulation| simulation.plan.as_mut()) else {
            return Ok(());
        };
        let at = plan.taken(picos);
        let calls = plan.calls();
        let is_end = plan.has_ended();
        if self.schedule.repetitions() != [calls; 2] {
            self.schedule = Schedule::new(calls, false);
        }
        if let Some(at) = at {
            self.block[at] = (step.side as usize, picos as f64 / step.repetitions as f64);
            if at + 1 == BLOCK {
                self.took_block()?;
            }
        }
        if is_end {
            self.schedule.end();
        }
        Ok(())
    }

    /// Whether samples go by number.
    pub(super) fn goes_by_number(&self) -> bool {
        self.simulation.as_ref().is_some_and(|simulation| simulation.plan.is_some())
    }

    /// Whether its times are those of a simulation.
    pub(super) fn is_simulated(&self) -> bool {
        self.simulation.as_ref().is_some_and(|simulation| simulation.is_timed || simulation.plan.is_some())
    }

    /// Of times that say nothing there is no verdict.
    pub(super) fn disbelieve(result: &mut BenchmarkResult) {
        result.blocks.verdict = Verdict::NoEvidence as u32;
        result.flags = BENCHMARK_SIMULATED;
    }

    /// Says that times say nothing, and what does. To the command, what the benchmark is called.
    pub(super) fn write_simulated(
        &self,
        out: &mut (impl Write + ?Sized),
        title: &str,
        names: [&str; 2],
        format: Format,
    ) -> fmt::Result {
        let plan = self.simulation.as_ref().and_then(|simulation| simulation.plan.as_ref());
        if let Some(plan) = plan {
            let [a, b] = names.map(Name);
            plan.mark(format_args!("names {}\t{a}\t{b}", Name(title)));
        }
        if !title.is_empty() {
            let title = Name(title);
            if format == Format::Markdown {
                write!(out, "**{title}**\n\n")?
            } else {
                writeln!(out, "{title}")?
            }
        }
        out.write_str("It ran under Valgrind, where times say nothing. ")?;
        out.write_str(match plan {
            Some(_) => "Its instructions are told by picollo stat, when the program has ended.",
            None => "picollo stat --counts=valgrind --benchmarks PROGRAM counts its instructions.",
        })
    }
}
