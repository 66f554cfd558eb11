//! Handles to single-writer histograms: every handle can read and reset, and one recorder can record.

use core::ptr::NonNull;

use crate::cells::header::Header;
use crate::cells::kind::Mode;
use crate::error::{Error, Result};
use crate::handle::options::Options;
use crate::handle::prefix::Prefix;
use crate::handle::recorder::Recorder;
use crate::handle::shared::SharedHistogram;
use crate::layout::layout::Layout;
use crate::snapshot::snapshot::{Since, Snapshot};

pub(crate) mod sealed {
    /// A value that only Picollo's crates can make, so nobody else can call functions that take it: methods of a bound's
    /// supertrait would otherwise be callable.
    pub struct Inside(pub ());

    pub trait Sealed {
        /// Returns the reference as one that does not check who records.
        fn unguarded(&self, _: Inside) -> &super::SharedHistogram;
    }
}

/// A counted reference to a histogram, a [`SharedHistogram`] or a [`SingleWriterHistogram`], for code that only reads.
pub trait Handle: Clone + sealed::Sealed {}

impl Handle for SharedHistogram {}
impl sealed::Sealed for SharedHistogram {
    fn unguarded(&self, _: sealed::Inside) -> &SharedHistogram {
        self
    }
}

impl Handle for SingleWriterHistogram {}
impl sealed::Sealed for SingleWriterHistogram {
    fn unguarded(&self, _: sealed::Inside) -> &SharedHistogram {
        &self.0
    }
}

/// A counted reference to a histogram with one writer, which uses plain additions. Inlined, they take half to a sixth
/// of the time of atomic ones. It is [`SharedHistogram`]'s sibling: any thread may hold, clone and drop one, read and
/// reset, and one of them has the [`SingleWriterHistogram::recorder`].
///
/// ```
/// use picollo_core::{Error, Options, SingleWriterHistogram};
///
/// let latency = SingleWriterHistogram::create(&Options::default())?;
/// let mut recorder = latency.recorder()?;
/// assert_eq!(latency.recorder().err(), Some(Error::Busy));
/// std::thread::spawn(move || recorder.record(1_234)).join().unwrap();
/// latency.reset()?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
#[repr(transparent)]
pub struct SingleWriterHistogram(SharedHistogram);

impl SingleWriterHistogram {
    /// The alignment of the memory passed to [`SingleWriterHistogram::init_in`].
    pub const ALIGNMENT: usize = SharedHistogram::ALIGNMENT;

    /// Creates a histogram on the heap. The options' mode must be [`Mode::SingleWriter`] or the default.
    ///
    /// Fails with [`Error::InvalidArgument`] for other modes; otherwise as [`SharedHistogram::create`].
    pub fn create(options: &Options) -> Result<SingleWriterHistogram> {
        let options = single_writer(options)?;
        // SAFETY: only recorders record, and there is only one.
        unsafe { SharedHistogram::create_unguarded(&options) }.map(SingleWriterHistogram)
    }

    /// Returns the bytes that [`SingleWriterHistogram::init_in`] needs. See [`SharedHistogram::required_size`].
    pub fn required_size(options: &Options) -> Result<usize> {
        SharedHistogram::required_size(&single_writer(options)?)
    }

    /// Creates a histogram in the caller's memory. See [`SharedHistogram::init_in`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn init_in(memory: *mut u8, size: usize, options: &Options) -> Result<SingleWriterHistogram> {
        let options = single_writer(options)?;
        // SAFETY: passed on; only recorders record, and whoever makes one promises that it is the only one.
        unsafe { SharedHistogram::init_in_unguarded(memory, size, &options) }.map(SingleWriterHistogram)
    }

    /// Attaches to a histogram that another process, or an earlier call, made in memory. See
    /// [`SharedHistogram::attach`].
    ///
    /// Also fails with [`Error::InvalidArgument`] for a histogram of another mode.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn attach(memory: *mut u8, size: usize) -> Result<SingleWriterHistogram> {
        // SAFETY: passed on; only recorders record, and whoever makes one promises that it is the only one.
        let attached = unsafe { SharedHistogram::attach_unguarded(memory, size)? };
        if attached.is_single_writer() {
            Ok(SingleWriterHistogram(attached))
        } else {
            Err(Error::InvalidArgument)
        }
    }

    /// Returns the only recorder. After it is dropped, you can get it again.
    ///
    /// Fails with [`Error::Busy`] while there is one; with [`Error::Unsupported`] for a histogram in the caller's
    /// memory, whose recorder may be in another process: see [`SingleWriterHistogram::recorder_unchecked`].
    pub fn recorder(&self) -> Result<Recorder<SingleWriterHistogram>> {
        if !self.0.is_counted() {
            return Err(Error::Unsupported);
        }
        // SAFETY: it is counted, so it has a prefix before it.
        let claim = unsafe { Claim::new(&self.0)? };
        Ok(Recorder::for_single_writer(self, Some(claim)))
    }

    /// Returns the recorder of a histogram in the caller's memory.
    ///
    /// # Safety
    /// There must be no other recorder, in any process, as long as this one exists: counts get lost otherwise. (Nothing
    /// worse happens: all accesses are atomic.)
    pub unsafe fn recorder_unchecked(&self) -> Recorder<SingleWriterHistogram> {
        Recorder::for_single_writer(self, None)
    }

    /// Converts the reference to one through which anybody can record.
    ///
    /// # Safety
    /// As for [`SharedHistogram::create_unguarded`]; a [`Recorder`] counts as a thread that records.
    pub unsafe fn into_unguarded(self) -> SharedHistogram {
        self.0
    }

    /// The rule that maps values to counters.
    pub fn layout(&self) -> &Layout {
        self.0.layout()
    }

    /// Returns the width of the cells, 32 or 64.
    pub fn counter_bits(&self) -> u32 {
        self.0.counter_bits()
    }

    /// See [`crate::Histogram::reset`].
    pub fn reset(&self) -> Result<()> {
        self.0.reset()
    }

    /// Returns the bytes of memory in use.
    pub fn footprint(&self) -> usize {
        self.0.footprint()
    }

    /// Copies the counts of this histogram into a snapshot. See [`Snapshot::update`].
    pub fn update(&self, snapshot: &mut Snapshot, since: Since) -> Result<()> {
        self.0.update(snapshot, since)
    }

    /// Returns the counts since the last reset. See [`SharedHistogram::snapshot`].
    #[cfg(feature = "alloc")]
    pub fn snapshot(&self) -> Result<alloc::boxed::Box<Snapshot>> {
        self.0.snapshot()
    }

    /// Returns percentiles, mean and counts since the last reset. See [`SharedHistogram::summary`].
    #[cfg(feature = "alloc")]
    pub fn summary(&self) -> Result<crate::Summary> {
        self.0.summary()
    }
}

/// Returns the options with the mode of the type.
pub(crate) fn single_writer(options: &Options) -> Result<Options> {
    match options.mode {
        Mode::SingleWriter | Mode::Interlocked => Ok(Options { mode: Mode::SingleWriter, ..*options }),
        _ => Err(Error::InvalidArgument),
    }
}

/// Proof that a histogram on the heap has its recorder, until this is dropped.
#[derive(Debug)]
pub(crate) struct Claim(NonNull<Header>);

// SAFETY: it points to atomics, which are alive as long as the owner of the claim has the histogram.
unsafe impl Send for Claim {}
// SAFETY: as above.
unsafe impl Sync for Claim {}

impl Claim {
    /// # Safety
    /// The histogram must be counted, and outlive the claim.
    unsafe fn new(histogram: &SharedHistogram) -> Result<Claim> {
        // SAFETY: it is counted, as the caller promises.
        let claimed = unsafe { Prefix::before(histogram.0).as_ref() }.claim_writer();
        if claimed { Ok(Claim(histogram.0)) } else { Err(Error::Busy) }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // SAFETY: it is counted and alive, as promised to `new`.
        unsafe { Prefix::before(self.0).as_ref() }.release_writer();
    }
}
