//! Loads of 16 bytes, in assembly, because the compiler does not vectorize relaxed atomic loads.
//!
//! Intel and AMD document that aligned 16-byte `MOVDQA` loads on processors with AVX are atomic, all 16 bytes. So each
//! cell is read whole. For the compiler, the assembly acts like a relaxed load of each cell: it reads the cells,
//! untorn, at some moment, and orders nothing else.

use core::arch::asm;
use core::arch::x86_64::{
    __m128i, _mm_setzero_si128, _mm_storeu_si128, _mm_unpackhi_epi32, _mm_unpacklo_epi32,
};

use crate::cells::cell::Counter;

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
pub(crate) fn load<'a, C: Counter>(cells: &'a [C], out: &'a mut [u64]) -> (&'a [C], &'a mut [u64]) {
    if !cells.as_ptr().addr().is_multiple_of(16) || !are_atomic() {
        return (cells, out);
    }
    let in_line = 512 / C::BITS as usize;
    let whole = cells.len().min(out.len()) / in_line * in_line;
    let ((lines, rest), (out_lines, out_rest)) = (cells.split_at(whole), out.split_at_mut(whole));
    for (cells, out) in lines.chunks_exact(in_line).zip(out_lines.chunks_exact_mut(in_line)) {
        // SAFETY: there is a line of aligned cells, and room for as many counts.
        unsafe {
            let out = out.as_mut_ptr().cast::<__m128i>();
            for (at, vector) in line(cells.as_ptr().cast()).into_iter().enumerate() {
                if C::BITS == 64 {
                    _mm_storeu_si128(out.add(at), vector);
                } else {
                    let zero = _mm_setzero_si128();
                    _mm_storeu_si128(out.add(2 * at), _mm_unpacklo_epi32(vector, zero));
                    _mm_storeu_si128(out.add(2 * at + 1), _mm_unpackhi_epi32(vector, zero));
                }
            }
        }
    }
    (rest, out_rest)
}
