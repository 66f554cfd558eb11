/* Sums of doubles that are never rounded: a number as wide as all doubles, for each sign. */
#ifndef EXACT_SUM_H
#define EXACT_SUM_H

#include <math.h>
#include <stdint.h>

/* Magnitudes of up to 2^1100 in units of 2^-1074. */
#define WORDS 70

struct exact_sum {
    uint32_t plus[WORDS], minus[WORDS];
};

static inline void add_words(uint32_t *words, uint64_t mantissa, uint32_t count, unsigned shift)
{
    unsigned __int128 number = (unsigned __int128)mantissa * count << shift % 32;
    for (size_t at = shift / 32; number != 0; at++) {
        number += words[at];
        words[at] = (uint32_t)number;
        number >>= 32;
    }
}

static inline void add_exactly(struct exact_sum *sum, double value, uint64_t count)
{
    int exponent;
    const double fraction = frexp(fabs(value), &exponent);
    uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
    int shift = exponent - 53 + 1074;
    uint32_t *const words = value < 0 ? sum->minus : sum->plus;
    if (shift < 0) {
        mantissa >>= -shift;
        shift = 0;
    }
    add_words(words, mantissa, (uint32_t)count, (unsigned)shift);
    add_words(words, mantissa, (uint32_t)(count >> 32), (unsigned)shift + 32);
}

static inline void add_sums(struct exact_sum *to, const struct exact_sum *other)
{
    for (unsigned i = 0; i < WORDS; i++) {
        add_words(to->plus, other->plus[i], 1, 32 * i);
        add_words(to->minus, other->minus[i], 1, 32 * i);
    }
}

/* The sum with the digits of a double, rounded once, or with those of a long double and its range, cut off. */
static inline long double rounded_sum(const struct exact_sum *sum, int as_double)
{
    const uint32_t *larger = sum->plus, *smaller = sum->minus;
    uint32_t words[WORDS];
    uint64_t top = 0;
    int64_t borrow = 0;
    int digits = as_double ? 53 : 64, highest = -1, rest = 0, half = 0;
    for (int i = WORDS - 1; i >= 0; i--) {
        if (sum->plus[i] == sum->minus[i]) continue;
        if (sum->plus[i] < sum->minus[i]) larger = sum->minus, smaller = sum->plus;
        break;
    }
    for (int i = 0; i < WORDS; i++) {
        const int64_t difference = (int64_t)larger[i] - smaller[i] + borrow;
        words[i] = (uint32_t)difference;
        borrow = difference >> 32;
    }
#define BIT(at) (words[(at) / 32] >> (at) % 32 & 1)
    for (int at = 32 * WORDS - 1; at >= 0 && highest < 0; at--) {
        if (BIT(at)) highest = at;
    }
    if (highest < 0) return 0;
    const int lowest = highest < digits ? 0 : highest - digits + 1;
    for (int at = highest; at >= lowest; at--) top = top << 1 | BIT(at);
    if (lowest > 0) half = BIT(lowest - 1);
    for (int at = 0; at < lowest - 1; at++) rest |= BIT(at);
#undef BIT
    long double result = ldexpl((long double)top, lowest - 1074);
    if (as_double) {
        if (half && (rest || top % 2 == 1)) top++;
        result = ldexp((double)top, lowest - 1074);
    }
    return larger == sum->plus ? result : -result;
}

#endif /* EXACT_SUM_H */
