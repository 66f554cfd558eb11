//! Zlib streams (RFC 1950): inflates into bounded memory, and deflates into a sink.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress_to_output, create_comp_flags_from_zip_params,
};
use miniz_oxide::inflate::TINFLStatus;
pub(crate) use miniz_oxide::inflate::core::DecompressorOxide;
use miniz_oxide::inflate::core::decompress;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_COMPUTE_ADLER32, TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_PARSE_ZLIB_HEADER,
    TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};

use super::sink::Sink;
use picollo_core::seam::{allocate_zeroed, free};
use picollo_core::{Error, Result};

/// How much is inflated before the memory grows, after the header with the length.
const FIRST: usize = 1 << 16;

/// A stream that is inflated into the beginning of some memory.
pub(crate) struct Inflate<'s> {
    state: &'s mut DecompressorOxide,
    memory: &'s mut Vec<u8>,
    length: usize,
    done: bool,
}

impl<'s> Inflate<'s> {
    /// The state, [`DecompressorOxide::new`], has tables of 11 kB. The caller owns it, so only one is on the stack.
    pub(crate) fn new(state: &'s mut DecompressorOxide, memory: &'s mut Vec<u8>) -> Self {
        Inflate { state, memory, length: 0, done: false }
    }

    /// The bytes inflated so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[..self.length]
    }

    /// Whether the stream has ended with a correct checksum.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Inflates until there are `limit` bytes, the stream ends, or the input ends; then it can continue in the next
    /// piece. Unused input stays in `input`.
    pub(crate) fn push(&mut self, input: &mut &[u8], limit: usize) -> Result<()> {
        let flags = TINFL_FLAG_PARSE_ZLIB_HEADER
            | TINFL_FLAG_COMPUTE_ADLER32
            | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF
            | TINFL_FLAG_HAS_MORE_INPUT;
        // Memory grows with the actual data, not with the length that a header claims.
        let mut room = limit.min(FIRST.max(self.length));
        while !self.done {
            if room > self.memory.len() {
                let more = room - self.memory.len();
                self.memory.try_reserve_exact(more).map_err(|_| Error::OutOfMemory)?;
                self.memory.resize(room, 0);
            }
            let out = &mut self.memory[..room];
            let (status, read, written) = decompress(self.state, input, out, self.length, flags);
            *input = &input[read.min(input.len())..];
            self.length += written;
            match status {
                TINFLStatus::Done => self.done = true,
                TINFLStatus::HasMoreOutput if room < limit => room = limit.min(2 * room),
                TINFLStatus::HasMoreOutput => return Ok(()),
                TINFLStatus::NeedsMoreInput => return Ok(()),
                _ => return Err(Error::Corrupt),
            }
        }
        Ok(())
    }

    /// Ends a stream without its checksum, after all of it was pushed: HdrHistogram.NET leaves the checksum out.
    /// Returns [`Error::Corrupt`] if anything else is missing, or a part of the checksum is there.
    pub(crate) fn end_without_checksum(&mut self, limit: usize) -> Result<()> {
        let checksum = self.state.adler32().ok_or(Error::Corrupt)?.to_be_bytes();
        let mut rest = &checksum[..];
        self.push(&mut rest, limit)?;
        // A stream that was done earlier had part of the checksum; one that is not done took it for data.
        if self.done && rest.is_empty() { Ok(()) } else { Err(Error::Corrupt) }
    }
}

/// Zlib's default, which the other implementations write.
const LEVEL: i32 = 6;
/// An upper bound of the bytes that the compressor allocates.
const COMPRESSOR_BYTES: usize = 1 << 19;
const PIECE: usize = 4096;

/// A compressor on the heap, where its tables of 64 KiB are created too: they are too large for threads' stacks.
struct Compressor(NonNull<CompressorOxide>);

impl Compressor {
    #[inline(never)]
    fn new() -> Result<Compressor> {
        // Its further allocations abort if there is no memory. So ask first, in a way that is not optimized away.
        let mut room = Vec::<u8>::new();
        room.try_reserve_exact(COMPRESSOR_BYTES).map_err(|_| Error::OutOfMemory)?;
        drop(core::hint::black_box(room));
        let block = allocate_zeroed(size_of::<CompressorOxide>(), align_of::<CompressorOxide>())?;
        let state = block.cast::<CompressorOxide>();
        let flags = create_comp_flags_from_zip_params(LEVEL, 1, 0);
        // SAFETY: the block is ours, and of this size and alignment.
        unsafe { state.write(CompressorOxide::new(flags)) };
        Ok(Compressor(state))
    }
}

impl Deref for Compressor {
    type Target = CompressorOxide;

    fn deref(&self) -> &CompressorOxide {
        // SAFETY: the pointer is ours, and `new` made it.
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for Compressor {
    fn deref_mut(&mut self) -> &mut CompressorOxide {
        // SAFETY: as above.
        unsafe { self.0.as_mut() }
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: `new` made it with this size and alignment, and nobody uses it any more.
        unsafe {
            self.0.drop_in_place();
            let (size, align) = (size_of::<CompressorOxide>(), align_of::<CompressorOxide>());
            free(self.0.cast(), size, align);
        }
    }
}

/// Deflates what is written to it, into another sink.
pub(crate) struct Deflate<'a, S> {
    state: Compressor,
    sink: &'a mut S,
    piece: Vec<u8>,
}

impl<'a, S: Sink> Deflate<'a, S> {
    pub(crate) fn new(sink: &'a mut S) -> Result<Self> {
        let mut piece = Vec::new();
        piece.try_reserve_exact(PIECE).map_err(|_| Error::OutOfMemory)?;
        Ok(Deflate { state: Compressor::new()?, sink, piece })
    }

    fn flush(&mut self, flush: TDEFLFlush) -> Result<()> {
        let mut failed = Ok(());
        let (status, read) = compress_to_output(&mut self.state, &self.piece, flush, |out| {
            failed = self.sink.write(out);
            failed.is_ok()
        });
        failed?;
        let expected = if flush == TDEFLFlush::Finish { TDEFLStatus::Done } else { TDEFLStatus::Okay };
        if status != expected || read != self.piece.len() {
            return Err(Error::Unsupported);
        }
        self.piece.clear();
        Ok(())
    }

    /// Writes the rest, and the checksum.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush(TDEFLFlush::Finish)
    }
}

impl<S: Sink> Sink for Deflate<'_, S> {
    fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (head, rest) = bytes.split_at(bytes.len().min(PIECE - self.piece.len()));
            self.piece.extend_from_slice(head);
            bytes = rest;
            if self.piece.len() == PIECE {
                self.flush(TDEFLFlush::None)?;
            }
        }
        Ok(())
    }
}
