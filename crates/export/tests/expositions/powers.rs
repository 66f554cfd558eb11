//! Powers of two, compared exactly. The unit test of the roots includes this file, too.

/// Whether `value <= 2^(number / 2^schema)`, for schemas 0 to 8, decided in integers: `value^(2^schema) <= 2^number`.
pub fn is_at_most(value: f64, number: i64, schema: u32) -> bool {
    let bits = value.to_bits();
    let (exponent, mantissa) = ((bits >> 52) as i64 - 1075, (bits & ((1 << 52) - 1)) | 1 << 52);
    let mut power = vec![mantissa as u32, (mantissa >> 32) as u32];
    for _ in 0..schema {
        let mut square = vec![0u32; 2 * power.len()];
        for (i, &a) in power.iter().enumerate() {
            let mut carry = 0u64;
            for (j, &b) in power.iter().enumerate() {
                carry += u64::from(square[i + j]) + u64::from(a) * u64::from(b);
                square[i + j] = carry as u32;
                carry >>= 32;
            }
            square[i + power.len()] = carry as u32;
        }
        power = square;
    }
    let last = power.iter().rposition(|&limb| limb != 0).unwrap();
    let logarithm = 32 * last as i64 + i64::from(power[last].ilog2());
    let is_power_of_two = power.iter().map(|limb| limb.count_ones()).sum::<u32>() == 1;
    let needed = number - (exponent << schema);
    logarithm < needed || (logarithm == needed && is_power_of_two)
}
