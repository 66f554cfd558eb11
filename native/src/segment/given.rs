//! What is asked for in a segment, where it may be.

use std::borrow::ToOwned;
use std::string::String;
use std::vec::Vec;

use picollo_core::{Metric, Mode, Options, Storage, has_restartable_sequences};

use super::format::{self, Names, mode};
use crate::base::error::{Error, Result, Status};

pub(crate) fn too_long() -> Error {
    Error::new(
        Status::InvalidArgument,
        format_args!(
            "name, unit, help and labels of a histogram in a segment have {} bytes together",
            format::TEXT
        ),
    )
}

/// What it is known as, if it may be.
pub(crate) fn names(metric: &Metric<'_>) -> Result<Names> {
    let refuse = |why: &str| Err(Error::new(Status::InvalidArgument, format_args!("{why}")));
    let mut labels: Vec<(String, String)> = Vec::new();
    if metric.labels.len() > format::MOST_LABELS {
        return refuse("there are 32 labels at most");
    }
    for (name, value) in metric.labels {
        if name.is_empty() {
            return refuse("a label has no name");
        }
        labels.push(((*name).to_owned(), (*value).to_owned()));
    }
    labels.sort_unstable();
    if labels.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return refuse("a label is given twice");
    }
    if metric.name.is_empty() {
        return refuse("a histogram in a segment has a name");
    }
    let texts = labels.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
    if texts.chain([metric.name, metric.unit, metric.help]).any(|text| text.chars().any(format::is_loud)) {
        return refuse(
            "names, units, help and labels have neither control characters nor such as turn the direction of writing",
        );
    }
    Ok(Names { name: metric.name.into(), unit: metric.unit.into(), help: metric.help.into(), labels })
}

/// Who is to write a histogram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// Any thread of any process, in whatever way is best here: nothing was said.
    Anyone,
    /// Any thread of any process, into shards.
    PerCpu,
    /// One thread.
    One,
}

/// Up to so many CPUs histograms have shards where nothing else is said: memory, and what viewers read, grows with them.
const FEW: usize = 8;

impl Way {
    /// The mode of a new histogram in a segment with these flags.
    pub(crate) fn mode(self, flags: u32) -> u32 {
        match self {
            Way::Anyone if flags != 0 => mode::INTERLOCKED,
            Way::Anyone if has_restartable_sequences() && possible_cpus() <= FEW => mode::PER_CPU,
            Way::Anyone => mode::INTERLOCKED,
            Way::PerCpu => mode::PER_CPU,
            Way::One => mode::SINGLE_WRITER,
        }
    }

    /// Whether one that there is will do.
    pub(crate) fn admits(self, mode: u32) -> bool {
        match self {
            Way::Anyone => mode != mode::SINGLE_WRITER,
            Way::PerCpu => mode == mode::PER_CPU,
            Way::One => mode == mode::SINGLE_WRITER,
        }
    }
}

/// How many CPUs there may ever be.
pub(crate) fn possible_cpus() -> usize {
    // SAFETY: a query.
    let configured = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    usize::try_from(configured).unwrap_or(1).clamp(1, 1 << 16)
}

/// The options as they are in a segment with these flags, where they may be, and who is to write.
pub(crate) fn allowed(options: &Options, flags: u32) -> Result<(Options, Way)> {
    let refuse = |what: &str| {
        Err(Error::new(
            Status::Unsupported,
            format_args!("{what} cannot lie in a segment; use the default mode, or per-CPU"),
        ))
    };
    let way = match options.mode {
        Mode::Interlocked => Way::Anyone,
        Mode::SingleWriter => Way::One,
        Mode::PerCpu => Way::PerCpu,
        Mode::ThreadLocal => return refuse("a thread-local histogram"),
        Mode::Scalable => return refuse("a scalable histogram"),
    };
    if options.storage == Storage::Sparse {
        return Err(Error::new(
            Status::Unsupported,
            format_args!(
                "a sparse histogram cannot lie in a segment; use dense storage with a smaller range or a larger error"
            ),
        ));
    }
    if !matches!(options.counter_bits, 0 | 64) {
        return Err(Error::new(
            Status::Unsupported,
            format_args!("counters in a segment have 64 bits; leave counter_bits 0"),
        ));
    }
    let no_live_reset = options.no_live_reset || flags & format::LIVE_RESET == 0;
    let mut options = Options { no_live_reset, counter_bits: 64, ..*options };
    if options.relative_error == 0.0 && options.significant_digits == 0 {
        options.relative_error = 0.01;
    }
    if options.min_trackable == 0 && options.max_trackable == 0 {
        (options.min_trackable, options.max_trackable) = (1, 3_600_000_000_000);
    }
    Ok((options, way))
}
