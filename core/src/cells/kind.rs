//! Who may write a histogram, when its cells are allocated, and how wide they are, in one word.

/// Who may write, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Mode {
    /// Correct with any number of threads, and in signal and interrupt handlers: one atomic add. The default.
    #[default]
    Interlocked = 0,
    /// One writer, any number of readers: a plain add. The caller promises that there is only one; in Rust the type
    /// [`crate::SingleWriterHistogram`] keeps the promise, and [`crate::SharedHistogram`] rejects this mode.
    SingleWriter = 1,
    /// Many hot writers: a plain add into the thread's shard.
    ThreadLocal = 2,
    /// Many hot writers, also in signal handlers and after forks: a plain add into the CPU's shard if the system allows
    /// that in one step, otherwise an atomic add. Cells of 64 bits.
    PerCpu = 4,
}

crate::error::from_code!(Mode { Interlocked, SingleWriter, ThreadLocal, PerCpu });

/// When cells are allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Storage {
    /// All memory at once. The default.
    #[default]
    Dense = 0,
    /// In chunks of 64 counters: the first use of a counter allocates its chunk.
    Sparse = 1,
}

crate::error::from_code!(Storage { Dense, Sparse });

/// Mode, storage and cell width in one word, so that a record distinguishes them with one comparison. Headers contain
/// it, also in memory that processes share: any word is a kind, but perhaps one that no build makes. The top byte has
/// the binary logarithm of the layout's unit, so a comparison with a kind without unit also checks the unit.
///
/// In the order of these words, kinds with 32-bit cells come before those with 64-bit cells. Without a unit, the first
/// kind of either width is a dense single writer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub(crate) struct Kind(u32);

impl Kind {
    pub(crate) const fn new(mode: Mode, storage: Storage, counter_bits: u32) -> Kind {
        Kind(number_of(mode) | (storage as u32) << 8 | counter_bits << 16)
    }

    /// Returns who may write; `None` for a mode that this build does not know.
    pub(crate) fn mode(self) -> Option<Mode> {
        Mode::ALL.iter().copied().find(|&mode| number_of(mode) == self.0 & 0xff)
    }

    /// Returns when cells are allocated; `None` for a storage that this build does not know.
    pub(crate) fn storage(self) -> Option<Storage> {
        Storage::ALL.iter().copied().find(|&storage| storage as u32 == self.0 >> 8 & 0xff)
    }

    pub(crate) const fn counter_bits(self) -> u32 {
        self.0 >> 16 & 0xff
    }

    pub(crate) const fn with_unit(self, unit: u32) -> Kind {
        Kind(self.0 & 0xff_ffff | unit << 24)
    }

    /// Returns the binary logarithm of the unit.
    pub(crate) const fn unit(self) -> u32 {
        self.0 >> 24
    }
}

/// Returns the number of a mode in images. These numbers differ from those of [`Mode`], which callers use to ask for a
/// mode. Images of every version have these numbers, so a new default does not change the meaning of shared memory.
const fn number_of(mode: Mode) -> u32 {
    match mode {
        Mode::SingleWriter => 0,
        Mode::Interlocked => 1,
        Mode::ThreadLocal => 2,
        Mode::PerCpu => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn a_kind_is_what_it_was_made_of() {
        for &mode in Mode::ALL {
            assert_eq!(Mode::try_from(mode as u32), Ok(mode));
            for &storage in Storage::ALL {
                assert_eq!(Storage::try_from(storage as u32), Ok(storage));
                for bits in [32, 64] {
                    let kind = Kind::new(mode, storage, bits);
                    let parts = (kind.mode(), kind.storage(), kind.counter_bits());
                    assert_eq!(parts, (Some(mode), Some(storage), bits));
                    let in_units = kind.with_unit(61);
                    let parts =
                        (in_units.mode(), in_units.storage(), in_units.counter_bits(), in_units.unit());
                    assert_eq!(parts, (Some(mode), Some(storage), bits, 61));
                    assert_eq!((in_units.with_unit(0), kind.unit()), (kind, 0));
                }
            }
        }
        for none in [3, 5] {
            assert_eq!(Mode::try_from(none), Err(Error::InvalidArgument));
        }
        assert_eq!((Mode::default(), Mode::Interlocked as u32), (Mode::Interlocked, 0));
        assert_eq!((Kind(0x40_00ff).mode(), Kind(0x40_ff00).storage()), (None, None));
    }

    /// Later builds read the images that earlier builds made.
    #[test]
    fn the_words_in_images_stay_what_they_are() {
        for (word, mode, storage, bits) in [
            (0x40_0000, Mode::SingleWriter, Storage::Dense, 64),
            (0x20_0000, Mode::SingleWriter, Storage::Dense, 32),
            (0x40_0001, Mode::Interlocked, Storage::Dense, 64),
            (0x20_0101, Mode::Interlocked, Storage::Sparse, 32),
            (0x40_0002, Mode::ThreadLocal, Storage::Dense, 64),
            (0x40_0004, Mode::PerCpu, Storage::Dense, 64),
        ] {
            assert_eq!(Kind::new(mode, storage, bits), Kind(word));
        }
    }
}
