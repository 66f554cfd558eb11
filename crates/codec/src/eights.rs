//! Eight neighboring counts at a time, as V2 writes them: twice the count, in one byte or in two.
//!
//! Where counts are dense, neighbors have similar sizes, so usually all eight take the same number of bytes. This uses
//! SSE2, which every x86-64 has. On other processors, and for all other counts, they are written one by one.

/// Eight counts, classified by how they are written.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) enum Neighbours {
    /// All are zero.
    Zeros,
    /// No count is zero, and each takes at most two bytes.
    Short(Eight),
    /// Mixed, or not examined.
    Mixed,
}

/// The eight words for eight counts; no count is zero, and each takes at most two bytes.
#[derive(Clone, Copy)]
pub(crate) struct Eight {
    #[cfg(target_arch = "x86_64")]
    words: core::arch::x86_64::__m128i,
    /// Two bits for each word: whether it takes one byte.
    #[cfg(target_arch = "x86_64")]
    short: u32,
    #[cfg(not(target_arch = "x86_64"))]
    never: core::convert::Infallible,
}

/// Counts from here on take more than two bytes: twice the count has more than fourteen bits.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
const LONG: u64 = 1 << 13;

#[cfg(target_arch = "x86_64")]
impl Eight {
    #[inline(always)]
    pub(crate) fn classify(counts: &[u64; 8]) -> Neighbours {
        // SAFETY: every x86-64 has SSE2.
        unsafe { sse2::neighbours(counts) }
    }

    /// The total number of bytes.
    #[inline(always)]
    pub(crate) fn length(&self) -> usize {
        16 - self.short.count_ones() as usize / 2
    }

    /// All bytes and their number, if each word takes one byte, or each takes two.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> Option<([u8; 16], usize)> {
        // SAFETY: every x86-64 has SSE2.
        unsafe {
            match self.short {
                0 => Some((sse2::two_bytes_each(self.words), 16)),
                0xffff => Some((sse2::one_byte_each(self.words), 8)),
                _ => None,
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use core::arch::x86_64::*;

    use super::{Eight, LONG, Neighbours};

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn neighbours(counts: &[u64; 8]) -> Neighbours {
        let [a, b, c, d] = [0, 2, 4, 6].map(|at| {
            // SAFETY: two of the counts, at any alignment.
            unsafe { _mm_loadu_si128(counts.as_ptr().add(at).cast()) }
        });
        let union = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));
        let union = _mm_or_si128(union, _mm_unpackhi_epi64(union, union));
        match _mm_cvtsi128_si64(union) as u64 {
            0 => return Neighbours::Zeros,
            LONG.. => return Neighbours::Mixed,
            _ => {}
        }
        // The lower half of each, and then the lower half of that: no count has more bits.
        let counts = _mm_packs_epi32(lower_halves(a, b), lower_halves(c, d));
        if _mm_movemask_epi8(_mm_cmpeq_epi16(counts, _mm_setzero_si128())) != 0 {
            return Neighbours::Mixed;
        }
        let short = _mm_movemask_epi8(_mm_cmplt_epi16(counts, _mm_set1_epi16(64)));
        Neighbours::Short(Eight { words: _mm_slli_epi16::<1>(counts), short: short as u32 })
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn lower_halves(a: __m128i, b: __m128i) -> __m128i {
        _mm_castps_si128(_mm_shuffle_ps::<0x88>(_mm_castsi128_ps(a), _mm_castsi128_ps(b)))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn two_bytes_each(words: __m128i) -> [u8; 16] {
        // Seven bits below a top bit, which means that more follow, and above them the other seven.
        let low = _mm_or_si128(_mm_and_si128(words, _mm_set1_epi16(0x7f)), _mm_set1_epi16(0x80));
        let high = _mm_and_si128(_mm_slli_epi16::<1>(words), _mm_set1_epi16(0x7f00));
        in_memory(_mm_or_si128(low, high))
    }

    /// The result is in the first half.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn one_byte_each(words: __m128i) -> [u8; 16] {
        in_memory(_mm_packus_epi16(words, words))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn in_memory(vector: __m128i) -> [u8; 16] {
        let mut bytes = [0; 16];
        // SAFETY: there is room for the whole vector.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), vector) };
        bytes
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Eight {
    #[inline(always)]
    pub(crate) fn classify(_counts: &[u64; 8]) -> Neighbours {
        Neighbours::Mixed
    }

    #[inline(always)]
    pub(crate) fn length(&self) -> usize {
        match self.never {}
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> Option<([u8; 16], usize)> {
        match self.never {}
    }
}
