//! Where the buckets of exponential histograms end inside a power of two.

/// The mantissas of `2^(i / 256)`, rounded down. Only the first root is a double, so a mantissa is at most the root if
/// it is at most this. They are `floor(2^(52 + i / 256)) - 2^52`, computed in integers, as in the test.
#[rustfmt::skip]
pub(super) static ROOTS: [u64; 256] = [
    0x0000000000000, 0x00b1afa5abcbe, 0x0163da9fb3335, 0x02168143b0280, 0x02c9a3e778060, 0x037d42e11bbcc,
    0x04315e86e7f84, 0x04e5f72f654b1, 0x059b0d3158574, 0x0650a0e3c1f88, 0x0706b29ddf6dd, 0x07bd42b72a836,
    0x0874518759bc8, 0x092bdf66607df, 0x09e3ecac6f383, 0x0a9c79b1f3919, 0x0b5586cf9890f, 0x0c0f145e46c85,
    0x0cc922b7247f7, 0x0d83b23395deb, 0x0e3ec32d3d1a2, 0x0efa55fdfa9c4, 0x0fb66affed31a, 0x1073028d7233e,
    0x11301d0125b50, 0x11edbab5e2ab5, 0x12abdc06c31cb, 0x136a814f204aa, 0x1429aaea92ddf, 0x14e95934f312d,
    0x15a98c8a58e51, 0x166a45471c3c2, 0x172b83c7d517a, 0x17ed48695bbc0, 0x18af9388c8de9, 0x1972658375d2f,
    0x1a35beb6fcb75, 0x1af99f8138a1c, 0x1bbe084045cd3, 0x1c82f95281c6b, 0x1d4873168b9aa, 0x1e0e75eb44026,
    0x1ed5022fcd91c, 0x1f9c18438ce4c, 0x2063b88628cd6, 0x212be3578a819, 0x21f49917ddc96, 0x22bdda27912d1,
    0x2387a6e756238, 0x2451ffb82140a, 0x251ce4fb2a63f, 0x25e85711ece75, 0x26b4565e27cdd, 0x2780e341ddf29,
    0x284dfe1f56380, 0x291ba7591bb6f, 0x29e9df51fdee1, 0x2ab8a66d10f12, 0x2b87fd0dad98f, 0x2c57e39771b2e,
    0x2d285a6e4030b, 0x2df961f641589, 0x2ecafa93e2f56, 0x2f9d24abd886a, 0x306fe0a31b715, 0x31432edeeb2fd,
    0x32170fc4cd831, 0x32eb83ba8ea31, 0x33c08b26416ff, 0x3496266e3fa2c, 0x356c55f929ff0, 0x36431a2de883a,
    0x371a7373aa9ca, 0x37f26231e7549, 0x38cae6d05d865, 0x39a401b7140ee, 0x3a7db34e59ff6, 0x3b57fbfec6cf4,
    0x3c32dc313a8e4, 0x3d0e544ede173, 0x3dea64c123422, 0x3ec70df1c5174, 0x3fa4504ac801b, 0x40822c367a024,
    0x4160a21f72e29, 0x423fb27094689, 0x431f5d950a896, 0x43ffa3f84b9d4, 0x44e086061892d, 0x45c2042a7d231,
    0x46a41ed1d0057, 0x4786d668b3236, 0x486a2b5c13cd0, 0x494e1e192aed1, 0x4a32af0d7d3de, 0x4b17dea6db7d6,
    0x4bfdad5362a27, 0x4ce41b817c114, 0x4dcb299fddd0d, 0x4eb2d81d8abfe, 0x4f9b2769d2ca6, 0x508417f4531ee,
    0x516daa2cf6641, 0x5257de83f4eee, 0x5342b569d4f81, 0x542e2f4f6ad27, 0x551a4ca5d920e, 0x56070dde910d1,
    0x56f4736b527da, 0x57e27dbe2c4ce, 0x58d12d497c7fd, 0x59c0827ff07cb, 0x5ab07dd485429, 0x5ba11fba87a02,
    0x5c9268a5946b7, 0x5d84590998b92, 0x5e76f15ad2148, 0x5f6a320dceb70, 0x605e1b976dc08, 0x6152ae6cdf6f4,
    0x6247eb03a5584, 0x633dd1d1929fd, 0x6434634ccc31f, 0x652b9febc8fb6, 0x6623882552224, 0x671c1c70833f5,
    0x68155d44ca973, 0x690f4b19e9538, 0x6a09e667f3bcc, 0x6b052fa75173e, 0x6c012750bdabe, 0x6cfdcddd47645,
    0x6dfb23c651a2e, 0x6ef9298593ae4, 0x6ff7df9519483, 0x70f7466f42e87, 0x71f75e8ec5f73, 0x72f8286ead089,
    0x73f9a48a58173, 0x74fbd35d7cbfd, 0x75feb564267c8, 0x77024b1ab6e09, 0x780694fde5d3f, 0x790b938ac1cf6,
    0x7a11473eb0186, 0x7b17b0976cfda, 0x7c1ed0130c132, 0x7d26a62ff86f0, 0x7e2f336cf4e62, 0x7f3878491c490,
    0x80427543e1a11, 0x814d2add106d9, 0x82589994cce12, 0x8364c1eb941f7, 0x8471a4623c7ac, 0x857f4179f5b20,
    0x868d99b4492ec, 0x879cad931a436, 0x88ac7d98a6699, 0x89bd0a478580f, 0x8ace5422aa0db, 0x8be05bad61778,
    0x8cf3216b5448b, 0x8e06a5e0866d8, 0x8f1ae99157736, 0x902fed0282c8a, 0x9145b0b91ffc5, 0x925c353aa2fe1,
    0x93737b0cdc5e4, 0x948b82b5f98e4, 0x95a44cbc8520e, 0x96bdd9a7670b2, 0x97d829fde4e4f, 0x98f33e47a22a2,
    0x9a0f170ca07b9, 0x9b2bb4d53fe0c, 0x9c49182a3f090, 0x9d674194bb8d4, 0x9e86319e32323, 0x9fa5e8d07f29d,
    0xa0c667b5de564, 0xa1e7aed8eb8bb, 0xa309bec4a2d33, 0xa42c980460ad7, 0xa5503b23e255c, 0xa674a8af46052,
    0xa799e1330b358, 0xa8bfe53c12e58, 0xa9e6b5579fdbf, 0xab0e521356eba, 0xac36bbfd3f379, 0xad5ff3a3c2774,
    0xae89f995ad3ad, 0xafb4ce622f2fe, 0xb0e07298db665, 0xb20ce6c9a8952, 0xb33a2b84f15fa, 0xb468415b749b0,
    0xb59728de55939, 0xb6c6e29f1c52a, 0xb7f76f2fb5e46, 0xb928cf22749e3, 0xba5b030a10649, 0xbb8e0b79a6f1e,
    0xbcc1e904bc1d2, 0xbdf69c3f3a206, 0xbf2c25bd71e08, 0xc06286141b33c, 0xc199bdd85529c, 0xc2d1cd9fa652b,
    0xc40ab5fffd07a, 0xc544778fafb22, 0xc67f12e57d14b, 0xc7ba88988c932, 0xc8f6d9406e7b5, 0xca3405751c4da,
    0xcb720dcef9069, 0xccb0f2e6d1674, 0xcdf0b555dc3f9, 0xcf3155b5bab73, 0xd072d4a07897b, 0xd1b532b08c968,
    0xd2f87080d89f1, 0xd43c8eacaa1d6, 0xd5818dcfba487, 0xd6c76e862e6d3, 0xd80e316c98397, 0xd955d71ff6075,
    0xda9e603db3285, 0xdbe7cd63a8314, 0xdd321f301b460, 0xde7d5641c0657, 0xdfc97337b9b5e, 0xe11676b197d16,
    0xe264614f5a128, 0xe3b333b16ee11, 0xe502ee78b3ff6, 0xe653924676d75, 0xe7a51fbc74c83, 0xe8f7977cdb73f,
    0xea4afa2a490d9, 0xeb9f4867cca6e, 0xecf482d8e67f0, 0xee4aaa2188510, 0xefa1bee615a27, 0xf0f9c1cb64129,
    0xf252b376bba97, 0xf3ac948dd7273, 0xf50765b6e4540, 0xf6632798844f8, 0xf7bfdad9cbe13, 0xf91d802243c88,
    0xfa7c1819e90d8, 0xfbdba3692d513, 0xfd3c22b8f71f1, 0xfe9d96b2a23d9,
];

#[cfg(all(test, not(loom)))]
#[path = "../tests/expositions/powers.rs"]
mod powers;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{ROOTS, powers};

    #[test]
    fn roots_are_exact() {
        assert_eq!(ROOTS[0], 0);
        for (number, mantissa) in (0..).zip(ROOTS).skip(1) {
            let root = f64::from_bits(1.0f64.to_bits() | mantissa);
            // root < 2^(number / 256) < root + 2^-52
            assert!(powers::is_at_most(root, number, 8), "{number}");
            assert!(!powers::is_at_most(root.next_up(), number, 8), "{number}");
        }
    }
}
