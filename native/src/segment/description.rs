//! What a segment says of itself and of what is in it; the same where there are none.

/// What an entry is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum SegmentKind {
    /// A histogram.
    #[default]
    Histogram = 1,
    /// A number that only grows.
    Counter = 2,
}

/// What [`Segment::create`](crate::Segment::create) is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SegmentOptions<'a> {
    /// What it is called: 1 to 64 letters, digits, `_` and `-`. Empty: as the program, with `_` for other characters.
    pub name: &'a str,
    /// An existing directory that it goes to, or one that is made; empty: see docs/observing.md for where that is.
    pub directory: &'a str,
    /// The most that the file may come to take; 0: 128 MiB. Address space from the beginning, memory only as entries are made.
    pub max_bytes: u64,
    /// Keep the file at an orderly end of the process.
    pub keep: bool,
    /// Also where the directory is not in memory: then the kernel writes to the disk what changes, and a record may wait for that.
    pub on_disk: bool,
    /// Histograms of which no mode is said have one set of cells, which all add to atomically, and not one for each CPU: less memory,
    /// and less to read.
    pub interlocked: bool,
    /// Histograms can be reset while others record, unless their options say that they are not to be: three times the memory, and interlocked
    /// where no mode is said. Per-CPU ones cannot.
    pub live_reset: bool,
}

/// What a segment says of itself. Texts come without what would act on a terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SegmentInfo {
    /// What it is called.
    pub name: String,
    /// The program that made it.
    pub program: String,
    /// The process that made it, as it saw itself; and when that began, in ticks since the machine did.
    pub pid: u32,
    /// See `pid`.
    pub start_time: u64,
    /// Which start of the machine that was.
    pub boot_id: String,
    /// When it was made, in nanoseconds since 1970.
    pub created_unix_nanos: u64,
    /// Who it is: for no two segments the same.
    pub identity: [u64; 2],
    /// Entries that can be read, also those that were retired since the viewer first saw them.
    pub entries: usize,
    /// How often an entry was refused because the segment was full, or counted with others in the one for all beyond the last.
    pub refused: u64,
    /// Bytes of memory that the file takes.
    pub memory: u64,
    /// Bytes that it may come to take.
    pub capacity: u64,
    /// Whether a process has it mapped, or the one that made it runs; otherwise all of them ended, orderly or not.
    pub is_live: bool,
}

/// What is published as one entry.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SegmentEntry {
    /// Histogram or counter.
    pub kind: SegmentKind,
    /// What it is called.
    pub name: String,
    /// The unit of its values as recorded; may be empty.
    pub unit: String,
    /// What it means; may be empty.
    pub help: String,
    /// Names and values that tell entries of one name apart, by name.
    pub labels: Vec<(String, String)>,
    /// Values are to be divided by this where they are exported.
    pub divisor: f64,
    /// Since when there are counts, in nanoseconds since 1970.
    pub created_unix_nanos: u64,
    /// Bytes that it takes.
    pub bytes: u64,
    /// The process that alone writes it, if there is one.
    pub writer: Option<u32>,
    /// The program has taken it out since the viewer first saw it. What was counted before can still be read.
    pub is_retired: bool,
}
