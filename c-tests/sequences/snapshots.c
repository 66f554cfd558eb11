/* Snapshots: taken, updated, merged, asked. */
#include "buffers.h"

static void take_counts(struct snapshot *snapshot, int deltas)
{
    const struct counts raw = snapshot->source->raw;
    subtract_counts(&snapshot->now, &raw, deltas ? &snapshot->previous : &snapshot->source->base);
    copy_counts(&snapshot->previous, &raw);
    snapshot->exact = snapshot->source->exact;
}

void forget_snapshot(struct snapshot *snapshot)
{
    forget_counts(&snapshot->now);
    forget_counts(&snapshot->previous);
    memset(snapshot, 0, sizeof *snapshot);
}

void check_snapshot(struct world *world, struct snapshot *snapshot)
{
    const struct rule *const rule = &snapshot->source->rule;
    picollo_counts counts;
    picollo_bucket *buckets;
    size_t length = 0, at = 0;
    EXPECT(PICOLLO_OK, picollo_snapshot_counts(snapshot->handle, &counts));
    if (!snapshot->source->conserved) return;
    if (getenv("PICOLLO_TRACE") != NULL) {
        fprintf(stderr, "  mode %u storage %u bits %u limited %d exact %d: total %" PRIu64 " %" PRIu64 " below %" PRIu64 " %" PRIu64
                " above %" PRIu64 " %" PRIu64 " lost %" PRIu64 " %" PRIu64 "\n", snapshot->source->mode, snapshot->source->storage,
                snapshot->source->bits, snapshot->source->limited, snapshot->exact, total_of(&snapshot->now), counts.total,
                snapshot->now.below, counts.underflow, snapshot->now.above, counts.overflow, snapshot->now.lost, counts.lost);
    }
    SAME(everything(&snapshot->now), counts.total + counts.underflow + counts.overflow + counts.lost);
    if (!snapshot->exact) return;
    SAME(total_of(&snapshot->now), counts.total);
    SAME(snapshot->now.below, counts.underflow);
    SAME(snapshot->now.above, counts.overflow);
    SAME(snapshot->now.lost, counts.lost);
    {
        const picollo_status asked = picollo_snapshot_buckets(snapshot->handle, 1, NULL, 0, &length);
        EXPECT(length == 0 ? PICOLLO_OK : PICOLLO_ERR_BUFFER_TOO_SMALL, asked);
    }
    buckets = (picollo_bucket *)malloc((length + 1) * sizeof *buckets);
    if (buckets == NULL) abort();
    if (length > 0) EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_buckets(snapshot->handle, 1, buckets, length - 1, &length));
    EXPECT(PICOLLO_OK, picollo_snapshot_buckets(snapshot->handle, 1, buckets, length, &length));
    for (size_t i = 0; i < snapshot->now.length; i++) {
        const struct count *const expected = &snapshot->now.list[i];
        if (expected->count == 0) continue;
        REQUIRE(at < length);
        SAME(expected->lower, buckets[at].lower);
        SAME(expected->count, buckets[at].count);
        SAME(bucket_upper(rule, expected->lower), buckets[at].upper);
        SAME(bucket_step(rule, expected->lower), buckets[at].step);
        at++;
    }
    SAME(at, length);
    free(buckets);
}

/* An empty slot, or one that is emptied. */
static struct snapshot *make_room(struct world *world)
{
    struct snapshot *const snapshot = &world->snapshots[pick(world)];
    picollo_snapshot_free(snapshot->handle);
    forget_snapshot(snapshot);
    return snapshot;
}

/* The first from a slot on, of those whose counts are foretold if that is asked for. */
static struct snapshot *snapshot_from(struct world *world, size_t slot, int exact)
{
    for (size_t i = 0; i < SLOTS; i++) {
        struct snapshot *const snapshot = &world->snapshots[(slot + i) % SLOTS];
        if (snapshot->handle != NULL && (snapshot->exact || !exact)) return snapshot;
    }
    return NULL;
}

struct snapshot *any_snapshot(struct world *world)
{
    return snapshot_from(world, pick(world), 0);
}

struct snapshot *exact_snapshot(struct world *world)
{
    return snapshot_from(world, pick(world), 1);
}

struct snapshot *another_snapshot(struct world *world, const struct snapshot *first)
{
    const size_t slot = pick(world);
    if (first == NULL || rarely(world, 8)) return exact_snapshot(world);
    for (size_t i = 0; i < SLOTS; i++) {
        struct snapshot *const snapshot = &world->snapshots[(slot + i) % SLOTS];
        if (snapshot != first && snapshot->handle != NULL && snapshot->exact) return snapshot;
    }
    return NULL;
}

static void op_create(struct world *world)
{
    const size_t slot = pick(world);
    struct snapshot *snapshot;
    if (world->histograms[slot] == NULL) return;
    snapshot = make_room(world);
    if (rarely(world, 4)) {
        size_t size = 0, align = 0;
        void *memory;
        EXPECT(PICOLLO_OK, picollo_snapshot_required_size(world->histograms[slot], &size, &align));
        memory = keep_memory(world, size, align);
        if (memory == NULL) return;
        EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL,
               picollo_snapshot_init_in(memory, choose(world, size), world->histograms[slot], &snapshot->handle));
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT,
               picollo_snapshot_init_in((char *)memory + 1, size - 1, world->histograms[slot], &snapshot->handle));
        REQUIRE(snapshot->handle == NULL);
        EXPECT(PICOLLO_OK, picollo_snapshot_init_in(memory, size, world->histograms[slot], &snapshot->handle));
    } else {
        EXPECT(PICOLLO_OK, picollo_snapshot_create(world->histograms[slot], &snapshot->handle));
    }
    snapshot->source = world->histogram_models[slot];
    take_counts(snapshot, 0);
    check_snapshot(world, snapshot);
}

static void op_update(struct world *world)
{
    struct snapshot *const snapshot = any_snapshot(world);
    const uint32_t deltas = (uint32_t)choose(world, 2);
    if (snapshot == NULL) return;
    if (rarely(world, 16)) {
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_update(snapshot->handle, 2 + (uint32_t)choose(world, 99)));
        return;
    }
    if (snapshot->detached) {
        EXPECT(PICOLLO_ERR_UNSUPPORTED, picollo_snapshot_update(snapshot->handle, deltas));
        if (snapshot->exact) check_snapshot(world, snapshot);
        return;
    }
    EXPECT(PICOLLO_OK, picollo_snapshot_update(snapshot->handle, deltas));
    take_counts(snapshot, (int)deltas);
    check_snapshot(world, snapshot);
}

static void op_free(struct world *world)
{
    struct snapshot *const snapshot = any_snapshot(world);
    if (snapshot == NULL) return;
    picollo_snapshot_free(snapshot->handle);
    forget_snapshot(snapshot);
}

static void op_merge(struct world *world)
{
    struct snapshot *const into = any_snapshot(world), *const other = any_snapshot(world);
    if (into == NULL || other == NULL) return;
    if (into == other) {
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_merge(into->handle, other->handle, 0, NULL));
        return;
    }
    EXPECT(PICOLLO_OK, picollo_snapshot_merge(into->handle, other->handle, 0, NULL));
    merge_counts(&into->now, &into->source->rule, &other->now, &other->source->rule, 0);
    if (!other->exact) into->exact = 0;
    /* What is in another's wrapped or limited cells is known in sum only, and that only to its own model. */
    if (into->exact) check_snapshot(world, into);
}

static uint64_t value_of(const struct rule *rule, uint64_t lower, uint32_t selection)
{
    switch (selection) {
    case PICOLLO_VALUE_LOWER: return lower;
    case PICOLLO_VALUE_UPPER: return bucket_upper(rule, lower);
    default: return lower + bucket_step(rule, lower) / 2;
    }
}

static void op_percentiles(struct world *world)
{
    struct snapshot *const snapshot = any_snapshot(world);
    const size_t length = (size_t)choose(world, 80);
    const uint32_t selection = (uint32_t)choose(world, 3);
    double *ranks;
    uint64_t *values, *eighths, total;
    picollo_percentile *percentiles;
    picollo_status expected = PICOLLO_OK;
    if (snapshot == NULL) return;
    total = total_of(&snapshot->now);
    if (snapshot->exact && total == 0) expected = PICOLLO_ERR_EMPTY;
    /* Blocks of exactly their size. */
    ranks = (double *)malloc(length * sizeof *ranks + 1);
    values = (uint64_t *)malloc(length * sizeof *values + 1);
    eighths = (uint64_t *)malloc(length * sizeof *eighths + 1);
    percentiles = (picollo_percentile *)malloc(length * sizeof *percentiles + 1);
    if (ranks == NULL || values == NULL || eighths == NULL || percentiles == NULL) abort();
    for (size_t i = 0; i < length; i++) ranks[i] = (double)(eighths[i] = choose(world, 801)) / 8;
    if (length > 0 && rarely(world, 8)) {
        static const double bad[] = {-0.001, 100.001, NAN, INFINITY, -INFINITY};
        ranks[choose(world, length)] = bad[choose(world, 5)];
        REQUIRE(picollo_snapshot_percentile_values(snapshot->handle, ranks, length, selection, values) != PICOLLO_OK);
        REQUIRE(picollo_snapshot_percentiles(snapshot->handle, ranks, length, selection, percentiles) != PICOLLO_OK);
    } else {
        REQUIRE(picollo_snapshot_percentiles(snapshot->handle, ranks, length, 3 + selection, percentiles) != PICOLLO_OK);
        const picollo_status status = picollo_snapshot_percentile_values(snapshot->handle, ranks, length, selection, values);
        EXPECT(status, picollo_snapshot_percentiles(snapshot->handle, ranks, length, selection, percentiles));
        if (snapshot->exact && length > 0) EXPECT(expected, status);
        for (size_t i = 0; status == PICOLLO_OK && snapshot->exact && i < length; i++) {
            uint64_t target = (uint64_t)(((unsigned __int128)eighths[i] * total + 799) / 800), sum = 0;
            size_t at = 0;
            if (target == 0) target = 1;
            while (sum + snapshot->now.list[at].count < target) sum += snapshot->now.list[at++].count;
            SAME(value_of(&snapshot->source->rule, snapshot->now.list[at].lower, selection), values[i]);
            SAME(values[i], percentiles[i].value);
            SAME(target, percentiles[i].target_count);
            SAME(snapshot->now.list[at].count, percentiles[i].bucket.count);
        }
    }
    free(ranks);
    free(values);
    free(eighths);
    free(percentiles);
}

static void op_rank_of_value(struct world *world)
{
    struct snapshot *const snapshot = any_snapshot(world);
    const uint64_t value = any_value(world);
    const uint32_t interpolate = (uint32_t)choose(world, 2);
    uint64_t total;
    long double sum = 0;
    picollo_status status;
    double rank = -1;
    if (snapshot == NULL) return;
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_rank_of_value(snapshot->handle, value, 2 + interpolate, &rank));
    status = picollo_snapshot_rank_of_value(snapshot->handle, value, interpolate, &rank);
    REQUIRE(status == PICOLLO_OK ? rank >= 0 && rank <= 100 : status == PICOLLO_ERR_EMPTY && rank == -1);
    if (!snapshot->exact) return;
    total = total_of(&snapshot->now);
    EXPECT(total == 0 ? PICOLLO_ERR_EMPTY : PICOLLO_OK, status);
    if (total == 0) return;
    if (value < snapshot->source->rule.lowest) {
        REQUIRE(rank == 0);
        return;
    }
    for (size_t i = 0; i < snapshot->now.length && snapshot->now.list[i].lower <= value; i++) {
        const uint64_t lower = snapshot->now.list[i].lower, upper = bucket_upper(&snapshot->source->rule, lower);
        long double share = 1;
        if (interpolate && value < upper) share = ((long double)(value - lower) + 1) / bucket_step(&snapshot->source->rule, lower);
        sum += share * snapshot->now.list[i].count;
    }
    REQUIRE(fabsl(rank - sum / total * 100) < 1e-9L);
}

/* All buckets, those without counts too, lie next to each other. */
static void op_buckets(struct world *world)
{
    const struct snapshot *const snapshot = any_snapshot(world);
    picollo_bucket *buckets;
    picollo_layout layout;
    picollo_counts counts;
    size_t length = 0;
    uint64_t sum = 0;
    if (snapshot == NULL) return;
    EXPECT(PICOLLO_OK, picollo_snapshot_layout(snapshot->handle, &layout));
    EXPECT(PICOLLO_OK, picollo_snapshot_counts(snapshot->handle, &counts));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_buckets(snapshot->handle, 2, NULL, 0, &length));
    if (layout.length > 4000) return;
#define BUCKETS(out, capacity, length) picollo_snapshot_buckets(snapshot->handle, 0, out, capacity, length)
    LISTS(buckets, length, BUCKETS);
    SAME(layout.length, length);
    for (size_t i = 0; i < length; i++) {
        SAME(i, buckets[i].storage_index);
        SAME(i == 0 ? snapshot->source->rule.lowest : buckets[i - 1].upper + 1, buckets[i].lower);
        SAME(bucket_upper(&snapshot->source->rule, buckets[i].lower), buckets[i].upper);
        sum += buckets[i].count;
    }
    SAME(snapshot->source->rule.highest, buckets[length - 1].upper);
    if (counts.total != UINT64_MAX) SAME(counts.total, sum);
    free(buckets);
}

static void op_bucket_of(struct world *world)
{
    struct snapshot *const snapshot = any_snapshot(world);
    const uint64_t value = any_value(world);
    const struct rule *rule;
    picollo_bucket bucket;
    if (snapshot == NULL) return;
    rule = &snapshot->source->rule;
    if (value < rule->lowest || value > rule->highest) {
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_bucket_of(snapshot->handle, value, &bucket));
        return;
    }
    EXPECT(PICOLLO_OK, picollo_snapshot_bucket_of(snapshot->handle, value, &bucket));
    SAME(bucket_lower(rule, value), bucket.lower);
    SAME(bucket_upper(rule, value), bucket.upper);
    SAME(bucket_step(rule, value), bucket.step);
    if (snapshot->exact) {
        uint64_t count = 0;
        for (size_t i = 0; i < snapshot->now.length; i++) {
            if (snapshot->now.list[i].lower == bucket.lower) count = snapshot->now.list[i].count;
        }
        SAME(count, bucket.count);
    }
}

const struct operation snapshot_operations[] = {
    {"snapshot_create", op_create, 30},
    {"snapshot_update", op_update, 36},
    {"snapshot_free", op_free, 6},
    {"snapshot_merge", op_merge, 10},
    {"snapshot_percentiles", op_percentiles, 8},
    {"snapshot_rank_of_value", op_rank_of_value, 6},
    {"snapshot_buckets", op_buckets, 3},
    {"snapshot_bucket_of", op_bucket_of, 6},
    {NULL, NULL, 0},
};
