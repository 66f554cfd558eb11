//! How a segment and its entries describe themselves; the same on systems without segments.

/// What an entry contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum SegmentKind {
    /// A histogram.
    #[default]
    Histogram = 1,
    /// A number that only grows.
    Counter = 2,
}

/// Options for [`Segment::create`](crate::Segment::create).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SegmentOptions<'a> {
    /// What it is called: 1 to 64 letters, digits, `_` and `-`. Empty: as the program, with `_` for other characters.
    pub name: &'a str,
    /// The directory to use; it is created if it does not exist. If it is empty, docs/watch-from-outside.md explains
    /// the default.
    pub directory: &'a str,
    /// Maximum size of the file; 0: 128 MiB. It reserves address space at once, but memory only as entries are created.
    pub max_bytes: u64,
    /// Keep the file when the process exits normally.
    pub keep: bool,
    /// Allow a directory that is not in memory. The kernel then writes changes to disk, and a record may wait for that.
    pub on_disk: bool,
    /// Histograms without an explicit mode use one set of cells with atomic additions instead of one set per CPU. They
    /// need less memory and are faster to read.
    pub interlocked: bool,
    /// Histograms can be reset while others record, unless their own options forbid it. They need three times the
    /// memory, and are interlocked unless they have an explicit mode. Per-CPU histograms cannot be reset.
    pub live_reset: bool,
}

/// Describes a segment. Characters that would control a terminal are removed from its texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SegmentInfo {
    /// Name of the segment.
    pub name: String,
    /// The program that created it.
    pub program: String,
    /// PID of the process that created it, in its own PID namespace. `start_time` is its start, in ticks since the
    /// machine booted.
    pub pid: u32,
    /// See `pid`.
    pub start_time: u64,
    /// Identifies the boot of the machine.
    pub boot_id: String,
    /// Creation time, in nanoseconds since 1970.
    pub created_unix_nanos: u64,
    /// Identity: unique for each segment.
    pub identity: [u64; 2],
    /// Readable entries, including those retired after the viewer first saw them.
    pub entries: usize,
    /// How often the segment was full, so that an entry was refused or shared the overflow entry.
    pub refused: u64,
    /// Bytes of memory that the file uses.
    pub memory: u64,
    /// Maximum bytes of the file.
    pub capacity: u64,
    /// Whether the creator runs or any process has the segment mapped. If not, all of them have exited or crashed.
    pub is_live: bool,
}

/// Describes one entry of a segment.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SegmentEntry {
    /// Histogram or counter.
    pub kind: SegmentKind,
    /// Name of the entry.
    pub name: String,
    /// The unit of its values as recorded; may be empty.
    pub unit: String,
    /// What it means; may be empty.
    pub help: String,
    /// Label names and values, sorted by name. They distinguish entries with the same name.
    pub labels: Vec<(String, String)>,
    /// Exporters divide values by this.
    pub divisor: f64,
    /// When counting began, in nanoseconds since 1970.
    pub created_unix_nanos: u64,
    /// Bytes that the entry uses.
    pub bytes: u64,
    /// PID of the only process that writes the entry, if there is just one.
    pub writer: Option<u32>,
    /// The program retired the entry after the viewer first saw it. Its earlier counts are still readable.
    pub is_retired: bool,
}
