//! Handles to single-writer histograms: whoever has one reads and resets, and one of all has the writer.

use core::ptr::NonNull;

use crate::cells::header::Header;
use crate::cells::kind::Mode;
use crate::error::{Error, Result};
use crate::handle::options::Options;
use crate::handle::prefix::Prefix;
use crate::handle::recorder::Recorder;
use crate::handle::shared::SharedHistogram;
use crate::histograms::dense::single_writer::{directly, record_in_all_ways};
use crate::layout::layout::Layout;
use crate::snapshot::merge::Merged;
use crate::snapshot::snapshot::{Since, Snapshot};

pub(crate) mod sealed {
    /// What only this crate can make, so that nobody else can call what takes it: methods of a bound's supertrait could be.
    pub struct Inside(pub(crate) ());

    pub trait Sealed {
        /// The reference as one that does not ask who records.
        fn unguarded(&self, _: Inside) -> &super::SharedHistogram;
    }
}

/// A counted reference to a histogram: a [`SharedHistogram`] or a [`SingleWriterHistogram`]. For what only reads.
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

/// A counted reference to a histogram that one writer records into, by plain additions, which take a third to a fifth of
/// the time of atomic ones. It is [`SharedHistogram`]'s sibling: any thread may hold, clone and drop one, read and reset,
/// and one of them has [`SingleWriterHistogram::writer`].
///
/// ```
/// use picollo_core::{Error, Options, SingleWriterHistogram};
///
/// let latency = SingleWriterHistogram::create(&Options::default())?;
/// let mut writer = latency.writer()?;
/// assert_eq!(latency.writer().err(), Some(Error::Busy));
/// std::thread::spawn(move || writer.record(1_234)).join().unwrap();
/// latency.reset()?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
#[repr(transparent)]
pub struct SingleWriterHistogram(SharedHistogram);

impl SingleWriterHistogram {
    /// Alignment of the memory given to [`SingleWriterHistogram::init_in`].
    pub const ALIGNMENT: usize = SharedHistogram::ALIGNMENT;

    /// A new histogram on the heap. The options' mode is [`Mode::SingleWriter`], or the default, since the type says it.
    ///
    /// [`Error::InvalidArgument`] for other modes; otherwise as [`SharedHistogram::create`].
    pub fn create(options: &Options) -> Result<SingleWriterHistogram> {
        let options = single_writer(options)?;
        // SAFETY: only writers record, of which there is one.
        unsafe { SharedHistogram::create_unguarded(&options) }.map(SingleWriterHistogram)
    }

    /// Bytes that [`SingleWriterHistogram::init_in`] needs. See [`SharedHistogram::required_size`].
    pub fn required_size(options: &Options) -> Result<usize> {
        SharedHistogram::required_size(&single_writer(options)?)
    }

    /// A new histogram in the caller's memory. See [`SharedHistogram::init_in`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn init_in(memory: *mut u8, size: usize, options: &Options) -> Result<SingleWriterHistogram> {
        let options = single_writer(options)?;
        // SAFETY: passed on; only writers record, and who makes them promises that there is one.
        unsafe { SharedHistogram::init_in_unguarded(memory, size, &options) }.map(SingleWriterHistogram)
    }

    /// A histogram that another process, or an earlier call, made in memory. See [`SharedHistogram::attach`].
    ///
    /// [`Error::InvalidArgument`] also for a histogram of another mode.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn attach(memory: *mut u8, size: usize) -> Result<SingleWriterHistogram> {
        // SAFETY: passed on; only writers record, and who makes them promises that there is one.
        let attached = unsafe { SharedHistogram::attach_unguarded(memory, size)? };
        if attached.is_single_writer() {
            Ok(SingleWriterHistogram(attached))
        } else {
            Err(Error::InvalidArgument)
        }
    }

    /// The writer. It can be had again when it is dropped.
    ///
    /// [`Error::Busy`] while there is one; [`Error::Unsupported`] for a histogram in the caller's memory, of which other
    /// processes may be the writer: see [`SingleWriterHistogram::writer_unchecked`].
    pub fn writer(&self) -> Result<SharedWriter> {
        if !self.0.is_counted() {
            return Err(Error::Unsupported);
        }
        // SAFETY: counted, so with a prefix in front of it.
        let claim = unsafe { Claim::of(&self.0)? };
        Ok(SharedWriter { claim: Some(claim), histogram: self.clone() })
    }

    /// The writer of a histogram in the caller's memory.
    ///
    /// # Safety
    /// There must be no other writer, in any process, as long as this one is there: counts get lost otherwise. (Nothing
    /// worse happens: all accesses are atomic.)
    pub unsafe fn writer_unchecked(&self) -> SharedWriter {
        SharedWriter { claim: None, histogram: self.clone() }
    }

    /// The reference as one through which anybody can record.
    ///
    /// # Safety
    /// As for [`SharedHistogram::create_unguarded`]; a [`SharedWriter`] is one who records.
    #[doc(hidden)]
    pub unsafe fn into_unguarded(self) -> SharedHistogram {
        self.0
    }

    /// The rule that maps values to counters.
    pub fn layout(&self) -> &Layout {
        self.0.layout()
    }

    /// Width of the cells, 32 or 64.
    pub fn counter_bits(&self) -> u32 {
        self.0.counter_bits()
    }

    /// See [`crate::Histogram::reset`].
    pub fn reset(&self) -> Result<()> {
        self.0.reset()
    }

    /// Bytes of memory in use.
    pub fn footprint(&self) -> usize {
        self.0.footprint()
    }

    /// Takes the counts of this histogram into a snapshot. See [`Snapshot::update`].
    pub fn update(&self, snapshot: &mut Snapshot, since: Since) -> Result<()> {
        self.0.update(snapshot, since)
    }
}

/// The options with the mode that the type says.
pub(crate) fn single_writer(options: &Options) -> Result<Options> {
    match options.mode {
        Mode::SingleWriter | Mode::Interlocked => Ok(Options { mode: Mode::SingleWriter, ..*options }),
        _ => Err(Error::InvalidArgument),
    }
}

/// That a histogram on the heap has its writer, until this is dropped.
#[derive(Debug)]
pub(crate) struct Claim(NonNull<Header>);

// SAFETY: what it leads to is atomic, and alive as long as whoever has the claim has the histogram.
unsafe impl Send for Claim {}
// SAFETY: as above.
unsafe impl Sync for Claim {}

impl Claim {
    /// # Safety
    /// The histogram must be a counted one, and outlive the claim.
    unsafe fn of(histogram: &SharedHistogram) -> Result<Claim> {
        // SAFETY: counted, as the caller promises.
        let claimed = unsafe { Prefix::of(histogram.0).as_ref() }.claim_writer();
        if claimed { Ok(Claim(histogram.0)) } else { Err(Error::Busy) }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // SAFETY: counted and alive, as it was promised to `of`.
        unsafe { Prefix::of(self.0).as_ref() }.release_writer();
    }
}

/// The one writer of a [`SingleWriterHistogram`], which it keeps alive. It can be sent to another thread, and not cloned.
#[derive(Debug)]
pub struct SharedWriter {
    /// First, so that it is dropped while the histogram is there.
    claim: Option<Claim>,
    histogram: SingleWriterHistogram,
}

impl SharedWriter {
    record_in_all_ways!([mut] self, directly(self.histogram.0), inline);

    /// Counts one value: a load, an add and a store of one cell.
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        self.histogram.0.record(value);
    }

    /// The histogram, for reading and resetting.
    pub fn histogram(&self) -> &SingleWriterHistogram {
        &self.histogram
    }

    /// A direct handle for recording in the writer's place. Errors as for [`SharedHistogram::recorder`]; sparse storage has
    /// none.
    pub fn into_recorder(self) -> Result<Recorder> {
        let SharedWriter { claim, histogram } = self;
        // SAFETY: the recorder is the writer from here on.
        unsafe { Recorder::of(&histogram.0, claim) }
    }
}
