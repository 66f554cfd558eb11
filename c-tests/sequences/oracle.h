/* The expected counts, computed naively: a sorted list of buckets for each set of counts, found by trying steps. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The rule of the layout: blocks of `block` buckets, none narrower than `unit`, in a range that includes the whole
 * buckets at its ends. */
struct rule {
    uint64_t block, lowest, highest, unit;
};

/* The digits of an HdrHistogram with blocks of one bucket; 0 means a relative error. */
#define NO_DIGITS 255

static inline uint64_t bucket_step(const struct rule *rule, uint64_t value)
{
    uint64_t step = rule->unit;
    while (value / step >= 2 * rule->block) step *= 2;
    return step;
}

static inline uint64_t bucket_lower(const struct rule *rule, uint64_t value)
{
    const uint64_t step = bucket_step(rule, value);
    return value / step * step;
}

static inline uint64_t bucket_upper(const struct rule *rule, uint64_t value)
{
    return bucket_lower(rule, value) + (bucket_step(rule, value) - 1);
}

static inline struct rule rule_of(double relative_error, uint32_t digits, uint64_t min, uint64_t max)
{
    struct rule rule = {1, 0, 0, 1};
    if (digits == NO_DIGITS) {
        rule.block = 1;
    } else if (digits > 0) {
        uint64_t power = 1, sub_buckets = 1;
        for (uint32_t i = 0; i < digits; i++) power *= 10;
        while (sub_buckets < 2 * power) sub_buckets *= 2;
        rule.block = sub_buckets / 2;
    } else {
        if (!(relative_error > 0)) relative_error = 0.001;
        if (relative_error > 0.1) relative_error = 0.1;
        while ((double)rule.block < 0.5 / relative_error) rule.block *= 2;
    }
    rule.lowest = bucket_lower(&rule, min);
    rule.highest = bucket_upper(&rule, max == 0 ? UINT64_MAX : max);
    return rule;
}

/* The same in units of the largest power of two in `unit`, optionally up to the end of an HdrHistogram's array. */
static inline struct rule in_units(struct rule rule, uint64_t unit, uint64_t min, uint64_t max, int whole_array)
{
    while (unit / 2 >= rule.unit) rule.unit *= 2;
    if (max == 0) max = UINT64_MAX;
    if (whole_array) {
        uint64_t last = 2 * rule.block * rule.unit - 1;
        while (last < max) last = 2 * last + 1;
        max = last;
    }
    rule.lowest = bucket_lower(&rule, min);
    rule.highest = bucket_upper(&rule, max);
    return rule;
}

/* Observations, by the lower ends of their buckets. */
struct counts {
    struct count {
        uint64_t lower, count;
    } *list;
    size_t length, room;
    uint64_t below, above;
};

static inline uint64_t *count_at(struct counts *counts, uint64_t lower)
{
    size_t at = counts->length;
    while (at > 0 && counts->list[at - 1].lower > lower) at--;
    if (at > 0 && counts->list[at - 1].lower == lower) return &counts->list[at - 1].count;
    if (counts->length == counts->room) {
        counts->room = counts->room == 0 ? 16 : 2 * counts->room;
        counts->list = (struct count *)realloc(counts->list, counts->room * sizeof *counts->list);
        if (counts->list == NULL) abort();
    }
    memmove(&counts->list[at + 1], &counts->list[at], (counts->length - at) * sizeof *counts->list);
    counts->length++;
    counts->list[at].lower = lower;
    counts->list[at].count = 0;
    return &counts->list[at].count;
}

static inline void count_value(struct counts *counts, const struct rule *rule, uint64_t value, uint64_t number)
{
    if (value < rule->lowest) {
        counts->below += number;
    } else if (value > rule->highest) {
        counts->above += number;
    } else if (number > 0) {
        *count_at(counts, bucket_lower(rule, value)) += number;
    }
}

static inline void forget_counts(struct counts *counts)
{
    free(counts->list);
    memset(counts, 0, sizeof *counts);
}

static inline void copy_counts(struct counts *to, const struct counts *from)
{
    const struct counts copied = *from;
    forget_counts(to);
    *to = copied;
    to->list = NULL;
    to->room = to->length = 0;
    for (size_t i = 0; i < copied.length; i++) *count_at(to, copied.list[i].lower) = copied.list[i].count;
}

/* to = of - what. */
static inline void subtract_counts(struct counts *to, const struct counts *of, const struct counts *what)
{
    copy_counts(to, of);
    for (size_t i = 0; i < what->length; i++) *count_at(to, what->list[i].lower) -= what->list[i].count;
    to->below -= what->below;
    to->above -= what->above;
}

/* Adds counts with any buckets: each count goes to the bucket of its midpoint, or of its low end. */
static inline void merge_counts(struct counts *to, const struct rule *rule, const struct counts *what, const struct rule *theirs, int low_ends)
{
    for (size_t i = 0; i < what->length; i++) {
        const uint64_t lower = what->list[i].lower;
        count_value(to, rule, low_ends ? lower : lower + bucket_step(theirs, lower) / 2, what->list[i].count);
    }
    to->below += what->below;
    to->above += what->above;
}

static inline uint64_t total_of(const struct counts *counts)
{
    uint64_t total = 0;
    for (size_t i = 0; i < counts->length; i++) total += counts->list[i].count;
    return total;
}

/* All counts, including those out of range. */
static inline uint64_t everything(const struct counts *counts)
{
    return total_of(counts) + counts->below + counts->above;
}

/* The largest count of a cell. */
static inline uint64_t largest_of(const struct counts *counts)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < counts->length; i++) {
        if (counts->list[i].count > largest) largest = counts->list[i].count;
    }
    return largest;
}

#endif /* ORACLE_H */
