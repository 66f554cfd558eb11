//! Loads of 16 bytes, in assembly, because the compiler does not vectorize relaxed atomic loads.
//!
//! Intel and AMD document that aligned 16-byte `MOVDQA` loads on processors with AVX are atomic, all 16 bytes. So each
//! cell is read whole. For the compiler, the assembly acts like a relaxed load of each cell: it reads the cells,
//! untorn, at some moment, and orders nothing else.

use core::arch::asm;
use core::arch::x86_64::{
    __m128i, _mm_setzero_si128, _mm_storeu_si128, _mm_unpackhi_epi32, _mm_unpacklo_epi32,
};

use crate::platform::atomics::{AtomicU32, AtomicU64};

/// Returns whether aligned 16-byte loads are atomic here.
#[inline]
fn are_atomic() -> bool {
    #[cfg(feature = "std")]
    return std::is_x86_feature_detected!("avx");
    #[cfg(not(feature = "std"))]
    return cfg!(target_feature = "avx");
}

/// Loads 64 bytes of cells.
///
/// # Safety
/// `cells` must be aligned to 16 and point to 64 bytes of atomic cells; aligned 16-byte loads must be atomic.
#[inline(always)]
unsafe fn line(cells: *const u8) -> [__m128i; 4] {
    let (a, b, c, d);
    // SAFETY: this reads memory that the caller guarantees. Others may write it at the same time through atomics; see
    // above.
    unsafe {
        asm!(
            "movdqa {a}, xmmword ptr [{cells}]",
            "movdqa {b}, xmmword ptr [{cells} + 16]",
            "movdqa {c}, xmmword ptr [{cells} + 32]",
            "movdqa {d}, xmmword ptr [{cells} + 48]",
            cells = in(reg) cells,
            a = out(xmm_reg) a, b = out(xmm_reg) b, c = out(xmm_reg) c, d = out(xmm_reg) d,
            options(readonly, nostack, preserves_flags)
        );
    }
    [a, b, c, d]
}

/// Loads as many cells as make whole lines. Returns the rest.
#[inline(always)]
pub(crate) fn load_64<'a>(cells: &'a [AtomicU64], out: &'a mut [u64]) -> (&'a [AtomicU64], &'a mut [u64]) {
    if !cells.as_ptr().addr().is_multiple_of(16) || !are_atomic() {
        return (cells, out);
    }
    let whole = cells.len().min(out.len()) / 8 * 8;
    let ((lines, rest), (out_lines, out_rest)) = (cells.split_at(whole), out.split_at_mut(whole));
    for (cells, out) in lines.as_chunks::<8>().0.iter().zip(out_lines.as_chunks_mut::<8>().0) {
        // SAFETY: there are eight aligned cells, and room for eight counts.
        unsafe {
            let out = out.as_mut_ptr().cast::<__m128i>();
            for (at, vector) in line(cells.as_ptr().cast()).into_iter().enumerate() {
                _mm_storeu_si128(out.add(at), vector);
            }
        }
    }
    (rest, out_rest)
}

/// Does the same for 32-bit cells.
#[inline(always)]
pub(crate) fn load_32<'a>(cells: &'a [AtomicU32], out: &'a mut [u64]) -> (&'a [AtomicU32], &'a mut [u64]) {
    if !cells.as_ptr().addr().is_multiple_of(16) || !are_atomic() {
        return (cells, out);
    }
    let whole = cells.len().min(out.len()) / 16 * 16;
    let ((lines, rest), (out_lines, out_rest)) = (cells.split_at(whole), out.split_at_mut(whole));
    for (cells, out) in lines.as_chunks::<16>().0.iter().zip(out_lines.as_chunks_mut::<16>().0) {
        // SAFETY: there are sixteen aligned cells, and room for sixteen counts.
        unsafe {
            let out = out.as_mut_ptr().cast::<__m128i>();
            let zero = _mm_setzero_si128();
            for (at, vector) in line(cells.as_ptr().cast()).into_iter().enumerate() {
                _mm_storeu_si128(out.add(2 * at), _mm_unpacklo_epi32(vector, zero));
                _mm_storeu_si128(out.add(2 * at + 1), _mm_unpackhi_epi32(vector, zero));
            }
        }
    }
    (rest, out_rest)
}
