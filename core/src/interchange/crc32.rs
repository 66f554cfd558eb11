//! The CRC-32 of zlib, PNG and Ethernet (reflected polynomial `0xedb88320`), eight bytes at a time.

/// `TABLES[n][b]`: what byte `b` becomes after `n` more bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut later = 1;
    while later < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[later - 1][byte];
            tables[later][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        later += 1;
    }
    tables
}

/// A checksum in the making.
#[derive(Clone, Copy)]
pub(crate) struct Crc32(u32);

impl Crc32 {
    pub(crate) const fn new() -> Crc32 {
        Crc32(!0)
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        let mut crc = self.0;
        let (eights, rest) = bytes.as_chunks::<8>();
        for eight in eights {
            let word = u64::from_le_bytes(*eight) ^ crc as u64;
            crc = 0;
            for (at, table) in TABLES.iter().rev().enumerate() {
                crc ^= table[(word >> (8 * at)) as usize & 0xff];
            }
        }
        for &byte in rest {
            crc = (crc >> 8) ^ TABLES[0][((crc ^ byte as u32) & 0xff) as usize];
        }
        self.0 = crc;
    }

    pub(crate) const fn value(&self) -> u32 {
        !self.0
    }
}

/// The checksum of some bytes.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc32::new();
    crc.update(bytes);
    crc.value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn the_check_value() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    proptest! {
        #[test]
        fn bit_by_bit(bytes in any::<Vec<u8>>(), cut in any::<proptest::sample::Index>()) {
            let mut naive = !0u32;
            for &byte in &bytes {
                naive ^= byte as u32;
                for _ in 0..8 {
                    naive = if naive & 1 == 1 { (naive >> 1) ^ 0xedb8_8320 } else { naive >> 1 };
                }
            }
            let mut crc = Crc32::new();
            let cut = if bytes.is_empty() { 0 } else { cut.index(bytes.len()) };
            crc.update(&bytes[..cut]);
            crc.update(&bytes[cut..]);
            prop_assert_eq!(crc.value(), !naive);
        }
    }
}
