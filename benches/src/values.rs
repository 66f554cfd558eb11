//! The values that benchmarks record.

/// The generator of all test values: Knuth's 64-bit linear congruential generator, whose high bits are good.
pub struct Lcg(pub u64);

impl Lcg {
    /// The next value of the sequence.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }
}

/// Values up to `max`, skewed as latencies are: all bit lengths are equally frequent.
pub fn skewed(number: usize, max: u64) -> Vec<u64> {
    let mut lcg = Lcg(1);
    (0..number)
        .map(|_| {
            let shift = (lcg.next_u64() >> 32) % u64::from(64 - max.leading_zeros());
            below(&mut lcg, max) >> shift
        })
        .collect()
}

/// Uniformly distributed values up to `max`.
pub fn uniform(number: usize, max: u64) -> Vec<u64> {
    let mut lcg = Lcg(1);
    (0..number).map(|_| below(&mut lcg, max)).collect()
}

/// One value repeatedly: every record waits for the previous one.
pub fn equal(number: usize, max: u64) -> Vec<u64> {
    vec![max / 3; number]
}

fn below(lcg: &mut Lcg, max: u64) -> u64 {
    ((u128::from(lcg.next_u64()) * u128::from(max)) >> 64) as u64
}
