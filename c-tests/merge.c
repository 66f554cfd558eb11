/* Merging and subtracting snapshots of unlike layouts, and the reports of what could not be placed exactly. */
#include "interchange.h"

static picollo_merged no_report(void)
{
    picollo_merged merged;
    memset(&merged, 0x5a, sizeof merged);
    return merged;
}

static int is_report(picollo_merged merged, uint64_t refined, uint64_t underflow, uint64_t overflow, uint64_t lost)
{
    return merged.refined == refined && merged.underflow == underflow && merged.overflow == overflow && merged.lost == lost;
}

static void fill(picollo_histogram *histogram, uint64_t seed)
{
    for (int i = 0; i < 5000; i++) picollo_histogram_record(histogram, next_random(&seed) >> (next_random(&seed) % 40 + 24));
}

static picollo_snapshot *filled(uint32_t digits, uint64_t min, uint64_t max, uint64_t seed)
{
    picollo_histogram *histogram = digits_histogram(digits, min, max);
    fill(histogram, seed);
    return only_snapshot(histogram);
}

/* Into coarser buckets: what recording there would have given. */
static void finer_into_coarser_is_exact(void)
{
    for (uint32_t from = 2; from <= 4; from++) {
        for (uint32_t to = 1; to <= from; to++) {
            picollo_snapshot *fine = filled(from, 0, 0, 5), *coarse = filled(to, 0, 0, 5);
            picollo_snapshot *sum = only_snapshot(digits_histogram(to, 0, 0));
            picollo_merged merged = no_report();
            CHECK_OK(picollo_snapshot_merge(sum, fine, 0, &merged));
            CHECK(is_report(merged, 0, 0, 0, 0));
            CHECK(same_buckets(sum, coarse) && same_counts(sum, coarse));
            CHECK_OK(picollo_snapshot_subtract(sum, fine, &merged));
            CHECK_U64(0, total_of(sum));
            picollo_snapshot_free(fine);
            picollo_snapshot_free(coarse);
            picollo_snapshot_free(sum);
        }
    }
}

static void coarser_into_finer_is_told(void)
{
    picollo_snapshot *coarse = filled(1, 0, 0, 5), *same = only_snapshot(digits_histogram(1, 0, 0));
    for (uint32_t placement = 0; placement < 3; placement++) {
        picollo_snapshot *fine = only_snapshot(digits_histogram(4, 0, 0));
        picollo_merged merged = no_report();
        picollo_snapshot *back = only_snapshot(digits_histogram(1, 0, 0));
        CHECK_OK(picollo_snapshot_merge(fine, coarse, placement, &merged));
        CHECK(merged.refined > 1000 && merged.refined < 5000);
        CHECK(is_report(merged, merged.refined, 0, 0, 0));
        CHECK_U64(5000, total_of(fine));
        /* Within the bucket they came from. */
        CHECK_OK(picollo_snapshot_merge(back, fine, 0, NULL));
        CHECK(same_buckets(back, coarse));
        picollo_snapshot_free(back);
        picollo_snapshot_free(fine);
    }
    CHECK_OK(picollo_snapshot_merge(same, coarse, 1, NULL));
    CHECK(same_buckets(same, coarse));
    picollo_snapshot_free(coarse);
    picollo_snapshot_free(same);
}

static void out_of_range_is_told(void)
{
    picollo_snapshot *wide = filled(3, 0, 0, 5), *narrow = only_snapshot(digits_histogram(3, 1000, 100000));
    picollo_merged merged = no_report(), subtracted = no_report();
    picollo_counts counts;
    uint64_t below = 0, inside = 0;
    CHECK_OK(picollo_snapshot_count_between(wide, 0, 999, &below));
    CHECK_OK(picollo_snapshot_count_between(wide, 1000, 100000, &inside));
    CHECK_OK(picollo_snapshot_merge(narrow, wide, 0, &merged));
    CHECK(is_report(merged, 0, below, 5000 - below - inside, 0) && below > 0 && inside > 0 && below + inside < 5000);
    CHECK_OK(picollo_snapshot_counts(narrow, &counts));
    CHECK(counts.total == inside && counts.underflow == below && counts.overflow == 5000 - below - inside);
    CHECK_OK(picollo_snapshot_subtract(narrow, wide, &subtracted));
    CHECK(memcmp(&merged, &subtracted, sizeof merged) == 0);
    CHECK_OK(picollo_snapshot_counts(narrow, &counts));
    CHECK(counts.total == 0 && counts.underflow == 0 && counts.overflow == 0);
    picollo_snapshot_free(wide);
    picollo_snapshot_free(narrow);
}

static void in_any_order(void)
{
    picollo_snapshot *parts[4];
    picollo_snapshot *forwards = only_snapshot(digits_histogram(2, 0, 0)), *backwards = only_snapshot(digits_histogram(2, 0, 0));
    for (uint32_t i = 0; i < 4; i++) parts[i] = filled(2 + i % 3, 0, i == 1 ? 1000000 : 0, 30 + i);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(picollo_snapshot_merge(forwards, parts[i], 0, NULL));
        CHECK_OK(picollo_snapshot_merge(backwards, parts[3 - i], 0, NULL));
    }
    CHECK(same_buckets(forwards, backwards) && same_counts(forwards, backwards));
    /* ((a + b) + c) and (a + (b + c)), into snapshots that were decoded. */
    {
        size_t length;
        uint8_t *bytes = encoded(forwards, PICOLLO_ENCODING_NATIVE, &length);
        picollo_snapshot *left = decoded(bytes, length), *right = decoded(bytes, length), *rest = NULL;
        CHECK_OK(picollo_snapshot_merge(left, parts[0], 0, NULL));
        CHECK_OK(picollo_snapshot_merge(left, parts[2], 0, NULL));
        CHECK_OK(picollo_snapshot_copy(parts[2], &rest));
        CHECK_OK(picollo_snapshot_merge(rest, parts[0], 0, NULL));
        CHECK_OK(picollo_snapshot_merge(right, rest, 0, NULL));
        CHECK_U64(total_of(left), total_of(right));
        picollo_snapshot_free(left);
        picollo_snapshot_free(right);
        picollo_snapshot_free(rest);
        free(bytes);
    }
    for (int i = 0; i < 4; i++) picollo_snapshot_free(parts[i]);
    picollo_snapshot_free(forwards);
    picollo_snapshot_free(backwards);
}

static void more_than_there_is(void)
{
    picollo_snapshot *a = filled(3, 0, 0, 5), *b = filled(3, 0, 0, 6), *before = NULL;
    picollo_merged merged = no_report();
    CHECK_OK(picollo_snapshot_copy(a, &before));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_subtract(a, b, &merged));
    CHECK(same_buckets(a, before) && same_counts(a, before));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_subtract(a, a, &merged));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_merge(a, a, 0, &merged));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_merge(a, b, 3, &merged));
    CHECK(same_buckets(a, before) && merged.refined == UINT64_C(0x5a5a5a5a5a5a5a5a));
    picollo_snapshot_free(a);
    picollo_snapshot_free(b);
    picollo_snapshot_free(before);
}

static void no_room_is_lost(void)
{
    picollo_histogram *histogram = digits_histogram(3, 0, 1000);
    picollo_snapshot *a, *b = NULL;
    picollo_merged merged = no_report();
    picollo_counts counts;
    picollo_histogram_record_n(histogram, 5, UINT64_MAX - 3);
    a = only_snapshot(histogram);
    CHECK_OK(picollo_snapshot_copy(a, &b));
    CHECK_OK(picollo_snapshot_merge(a, b, 0, &merged));
    CHECK(is_report(merged, 0, 0, 0, UINT64_MAX - 6));
    CHECK_OK(picollo_snapshot_counts(a, &counts));
    CHECK(counts.total == UINT64_MAX && counts.lost == UINT64_MAX - 6);
    picollo_snapshot_free(a);
    picollo_snapshot_free(b);
}

static void into_histograms(void)
{
    picollo_snapshot *wide = filled(3, 0, 0, 5);
    for (uint32_t placement = 0; placement < 3; placement++) {
        picollo_histogram *histogram = digits_histogram(5, 1000, 100000);
        picollo_snapshot *other = only_snapshot(digits_histogram(5, 1000, 100000)), *snapshot;
        picollo_merged merged = no_report(), expected = no_report();
        CHECK_OK(picollo_snapshot_merge(other, wide, placement, &expected));
        CHECK_OK(picollo_histogram_add(histogram, wide, placement, &merged));
        CHECK(memcmp(&merged, &expected, sizeof merged) == 0 && merged.refined > 0);
        CHECK_OK(picollo_histogram_add(histogram, wide, placement, NULL));
        CHECK_OK(picollo_snapshot_merge(other, wide, placement, NULL));
        snapshot = only_snapshot(histogram);
        CHECK(same_buckets(snapshot, other) && same_counts(snapshot, other));
        picollo_snapshot_free(snapshot);
        picollo_snapshot_free(other);
    }
    {
        picollo_histogram *histogram = digits_histogram(3, 0, 0);
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_add(histogram, wide, 3, NULL));
        picollo_histogram_free(histogram);
    }
    picollo_snapshot_free(wide);
}

static void copies_stay(void)
{
    picollo_histogram *histogram = example(0);
    picollo_snapshot *live = snapshot_of(histogram), *copy = NULL, *delta = NULL;
    picollo_summary a, b;
    CHECK_OK(picollo_snapshot_copy(live, &copy));
    CHECK_OK(picollo_snapshot_summary(live, PICOLLO_VALUE_MIDPOINT, &a));
    picollo_histogram_record_n(histogram, 3000, 7);
    CHECK_OK(picollo_snapshot_update(live, 1));
    /* A delta, whose counts are differences. */
    CHECK_OK(picollo_snapshot_copy(live, &delta));
    CHECK_U64(7, total_of(delta));
    CHECK(same_buckets(live, delta) && same_counts(live, delta));
    CHECK_OK(picollo_snapshot_summary(copy, PICOLLO_VALUE_MIDPOINT, &b));
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_snapshot_update(copy, 0));
    picollo_snapshot_free(live);
    picollo_snapshot_free(copy);
    picollo_snapshot_free(delta);
    picollo_histogram_free(histogram);
}

/* A sum of snapshots that were decoded, over a range that all of them are in. */
static void into_a_layout(void)
{
    picollo_snapshot *part = filled(2, 0, 1000000, 5), *other = filled(2, 0, 0, 6), *sum = NULL;
    picollo_layout layout, same;
    picollo_merged merged = no_report();
    picollo_bucket *buckets;
    size_t length;
    CHECK_OK(picollo_snapshot_layout(part, &layout));
    CHECK_OK(picollo_layout_with_range(&layout, 0, UINT64_MAX, &layout));
    CHECK_OK(picollo_snapshot_create_from_layout(&layout, &sum));
    CHECK_OK(picollo_snapshot_layout(sum, &same));
    CHECK(memcmp(&layout, &same, sizeof same) == 0 && total_of(sum) == 0);
    CHECK_OK(picollo_snapshot_merge(sum, part, PICOLLO_PLACEMENT_LOW_ENDS, &merged));
    CHECK(is_report(merged, 0, 0, 0, 0));
    CHECK_OK(picollo_snapshot_merge(sum, other, PICOLLO_PLACEMENT_LOW_ENDS, &merged));
    CHECK(is_report(merged, 0, 0, 0, 0) && total_of(sum) == total_of(part) + total_of(other));
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_snapshot_update(sum, PICOLLO_SINCE_RESET));
    picollo_snapshot_free(sum);
    /* Coarse into fine: each count at the low end of where it was. */
    CHECK_OK(picollo_layout_of_options(NULL, &layout));
    layout.block_scale = 0;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_create_from_layout(&layout, &sum));
    {
        picollo_histogram *fine = digits_histogram(4, 0, 0);
        picollo_snapshot *coarse = filled(1, 0, 0, 7);
        picollo_bucket *from = buckets_of(coarse, &length);
        size_t again;
        CHECK_OK(picollo_histogram_add(fine, coarse, PICOLLO_PLACEMENT_LOW_ENDS, &merged));
        CHECK(merged.refined > 1000);
        picollo_snapshot_free(coarse);
        coarse = only_snapshot(fine);
        buckets = buckets_of(coarse, &again);
        CHECK_U64(length, again);
        for (size_t i = 0; i < length && i < again; i++) CHECK(buckets[i].lower == from[i].lower && buckets[i].count == from[i].count);
        free(buckets);
        free(from);
        picollo_snapshot_free(coarse);
    }
    picollo_snapshot_free(part);
    picollo_snapshot_free(other);
}

int main(void)
{
    RUN(finer_into_coarser_is_exact);
    RUN(coarser_into_finer_is_told);
    RUN(out_of_range_is_told);
    RUN(in_any_order);
    RUN(more_than_there_is);
    RUN(no_room_is_lost);
    RUN(into_histograms);
    RUN(copies_stay);
    RUN(into_a_layout);
    return report();
}
