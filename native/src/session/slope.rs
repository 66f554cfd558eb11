//! The cost of a piece of work without the cost of measuring it: by the difference between N and 2N repetitions, so that nothing
//! has to be subtracted that was measured another time.

use crate::base::error::{Error, Result, Status};
use crate::session::options::ReadMode;
use crate::session::session::Session;
use crate::user_read::sys::Sys;

/// What repetitions of some work cost in one event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slope {
    /// Of one repetition.
    pub each: f64,
    /// Of everything else: the readings, calls, warming up. May be negative where the work overlaps with it.
    pub constant: f64,
    /// In how many rounds the event was counted, of those asked for.
    pub rounds: u32,
}

impl<S: Sys> Session<S> {
    /// Does `work` with N and with 2N repetitions by turns, `rounds` times each, and takes the difference of the medians of every
    /// event's raw counts. `None` for events that were not counted. Takes readings, and so moves the last deltas on.
    ///
    /// Errors: `InvalidArgument` for no repetitions or rounds; those of [`Session::read`].
    pub fn slope(
        &mut self,
        repetitions: u64,
        rounds: u32,
        mut work: impl FnMut(u64),
    ) -> Result<Vec<Option<Slope>>> {
        let twice = repetitions.checked_mul(2).filter(|_| repetitions != 0 && rounds != 0);
        let Some(twice) = twice else {
            let why =
                format_args!("a slope needs repetitions, not more than half of all numbers, and rounds");
            return Err(Error::new(Status::InvalidArgument, why));
        };
        let length = self.length()?;
        // By event, then once and twice.
        let mut counts = vec![[const { Vec::new() }; 2]; length];
        for _ in 0..rounds {
            for (half, repetitions) in [repetitions, twice].into_iter().enumerate() {
                self.read(ReadMode::Auto)?;
                work(repetitions);
                self.read(ReadMode::Auto)?;
                for (slot, counts) in counts.iter_mut().enumerate() {
                    let reading = self.tally.history(slot).reading(true, 0);
                    if reading.is_counted() {
                        counts[half].push(reading.value);
                    }
                }
            }
        }
        Ok(counts.iter_mut().map(|[once, twice]| of(repetitions, once, twice)).collect())
    }
}

fn of(repetitions: u64, once: &mut [u64], twice: &mut [u64]) -> Option<Slope> {
    let median = |counts: &mut [u64]| -> Option<f64> {
        counts.sort_unstable();
        counts.get(counts.len() / 2).map(|&count| count as f64)
    };
    let rounds = once.len().min(twice.len());
    let (once, twice) = (median(once)?, median(twice)?);
    Some(Slope {
        each: (twice - once) / repetitions as f64,
        constant: 2.0 * once - twice,
        rounds: rounds as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_their_difference() {
        let slope = of(10, &mut [107, 107, 900], &mut [207, 5000, 207]).unwrap();
        assert_eq!((slope.each, slope.constant, slope.rounds), (10.0, 7.0, 3));
        assert_eq!(of(10, &mut [], &mut [1]), None);
    }

    /// A breakpoint counts exactly: so does the slope, whatever the readings cost.
    #[test]
    fn of_a_breakpoint() {
        let mut cell = 0u64;
        let place = &raw mut cell;
        let event = crate::event::event::Event::parse(&format!("mem:{place:p}/8:w")).unwrap();
        let mut session = match Session::create(&crate::session::options::SessionOptions::default(), &[event])
        {
            Ok(session) => session,
            Err(error) => return eprintln!("SKIPPED: no breakpoints: {error}"),
        };
        // SAFETY: the pointer is to a live variable that nothing else uses.
        let write = |count: u64| (0..count + 5).for_each(|n| unsafe { place.write_volatile(n) });
        let slope = session.slope(100, 5, write).unwrap()[0].unwrap();
        assert_eq!((slope.each, slope.constant, slope.rounds), (1.0, 5.0, 5));
        assert_eq!(session.slope(0, 5, write).unwrap_err().status(), Status::InvalidArgument);
    }
}
