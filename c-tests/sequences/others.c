/* Encodings, copies, differences, arrays, doubles and counters. */
#include "world.h"

static struct snapshot *any_snapshot(struct world *world)
{
    struct snapshot *const snapshot = &world->snapshots[pick(world)];
    return snapshot->handle == NULL ? NULL : snapshot;
}

/* A snapshot without a histogram behind it, with the counts of another. */
static void keep_detached(struct world *world, picollo_snapshot *handle, const struct snapshot *like)
{
    const struct snapshot copied = *like;
    struct snapshot *slot = &world->snapshots[pick(world)];
    if (slot == like) {
        picollo_snapshot_free(handle);
        return;
    }
    picollo_snapshot_free(slot->handle);
    forget_snapshot(slot);
    slot->handle = handle;
    slot->source = copied.source;
    slot->exact = copied.exact;
    slot->detached = 1;
    copy_counts(&slot->now, &copied.now);
    if (slot->exact) check_snapshot(world, slot);
}

static void op_copy(struct world *world)
{
    const struct snapshot *const snapshot = any_snapshot(world);
    picollo_snapshot *copy = NULL;
    if (snapshot == NULL) return;
    EXPECT(PICOLLO_OK, picollo_snapshot_copy(snapshot->handle, &copy));
    keep_detached(world, copy, snapshot);
}

static void op_encode(struct world *world)
{
    const struct snapshot *const snapshot = any_snapshot(world);
    const uint32_t encoding = (uint32_t)choose(world, 3), native = PICOLLO_ENCODING_NATIVE;
    const int as_text = rarely(world, 4);
    picollo_snapshot *decoded = NULL;
    picollo_status status;
    size_t length = 0, again = 0;
    uint8_t *bytes;
    if (snapshot == NULL) return;
    if (as_text) {
        status = picollo_snapshot_encode_base64(snapshot->handle, encoding, NULL, 0, &length);
    } else {
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_encode(snapshot->handle, 3 + encoding, NULL, 0, &length));
        status = picollo_snapshot_encode(snapshot->handle, encoding, NULL, 0, &length);
    }
    REQUIRE(status == PICOLLO_ERR_BUFFER_TOO_SMALL || (status == PICOLLO_ERR_INCOMPATIBLE && encoding != native));
    if (status == PICOLLO_ERR_INCOMPATIBLE) return;
    bytes = (uint8_t *)malloc(length + 1);
    if (bytes == NULL) abort();
    if (as_text) {
        EXPECT(PICOLLO_OK, picollo_snapshot_encode_base64(snapshot->handle, encoding, (char *)bytes, length + 1, &again));
    } else {
        EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_encode(snapshot->handle, encoding, bytes, length - 1, &again));
        EXPECT(PICOLLO_OK, picollo_snapshot_encode(snapshot->handle, encoding, bytes, length, &again));
    }
    SAME(length, again);
    if (rarely(world, 3)) {
        /* Broken on the way: anything but a crash; a checksum catches it where there is one. */
        uint8_t *const cut = (uint8_t *)malloc(length);
        const size_t left = (size_t)choose(world, length + 1);
        if (cut == NULL) abort();
        memcpy(cut, bytes, left);
        for (uint64_t changes = choose(world, 4); left > 0 && changes > 0; changes--) cut[choose(world, left)] ^= (uint8_t)(1 + choose(world, 255));
        status = picollo_snapshot_decode(cut, left, choose(world, 100000), &decoded);
        REQUIRE(status == PICOLLO_OK ? decoded != NULL : decoded == NULL && status != PICOLLO_ERR_PANIC);
        picollo_snapshot_free(decoded);
        free(cut);
    } else {
        EXPECT(PICOLLO_OK, picollo_snapshot_decode(bytes, length, 0, &decoded));
        if (encoding == native) {
            keep_detached(world, decoded, snapshot);
        } else {
            /* What is out of range has no place there. */
            picollo_counts counts, theirs;
            EXPECT(PICOLLO_OK, picollo_snapshot_counts(snapshot->handle, &counts));
            EXPECT(PICOLLO_OK, picollo_snapshot_counts(decoded, &theirs));
            SAME(counts.total, theirs.total);
            picollo_snapshot_free(decoded);
        }
    }
    free(bytes);
}

static void op_decode_nonsense(struct world *world)
{
    uint8_t bytes[64];
    picollo_snapshot *decoded = NULL;
    const size_t length = (size_t)choose(world, sizeof bytes);
    for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)choose(world, 256);
    REQUIRE(picollo_snapshot_decode(bytes, length, 0, &decoded) != PICOLLO_ERR_PANIC);
    picollo_snapshot_free(decoded);
}

/* What was merged is taken away again. */
static void op_subtract(struct world *world)
{
    struct snapshot *const from = any_snapshot(world), *const other = any_snapshot(world);
    const uint32_t spread = (uint32_t)choose(world, 2);
    picollo_merged merged;
    if (from == NULL || other == NULL || from == other || !from->exact || !other->exact) return;
    if (spread) {
        /* Nothing vanishes; where it went is the library's to know. */
        EXPECT(PICOLLO_OK, picollo_snapshot_merge_reported(from->handle, other->handle, 1, &merged));
        merge_counts(&from->now, &from->source->rule, &other->now, &other->source->rule);
        from->exact = 0;
        {
            picollo_counts counts;
            EXPECT(PICOLLO_OK, picollo_snapshot_counts(from->handle, &counts));
            SAME(total_of(&from->now) + from->now.below + from->now.above + from->now.lost,
                 counts.total + counts.underflow + counts.overflow + counts.lost);
        }
        return;
    }
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_merge_reported(from->handle, other->handle, 2, &merged));
    EXPECT(PICOLLO_OK, picollo_snapshot_merge_reported(from->handle, other->handle, 0, rarely(world, 2) ? NULL : &merged));
    EXPECT(PICOLLO_OK, picollo_snapshot_subtract(from->handle, other->handle, &merged));
    check_snapshot(world, from);
}

static void op_corrected(struct world *world)
{
    const struct snapshot *const snapshot = any_snapshot(world);
    picollo_snapshot *corrected = NULL;
    picollo_counts counts, theirs;
    picollo_status status;
    if (snapshot == NULL) return;
    status = picollo_snapshot_corrected(snapshot->handle, any_value(world), &corrected);
    REQUIRE(status == PICOLLO_OK || status == PICOLLO_ERR_INVALID_ARGUMENT);
    if (status != PICOLLO_OK) return;
    EXPECT(PICOLLO_OK, picollo_snapshot_counts(snapshot->handle, &counts));
    EXPECT(PICOLLO_OK, picollo_snapshot_counts(corrected, &theirs));
    REQUIRE(theirs.total >= counts.total);
    picollo_snapshot_free(corrected);
}

static void op_array(struct world *world)
{
    const picollo_histogram_options options = {.struct_size = sizeof options, .relative_error = 0.1, .max_trackable = 1000};
    const size_t length = 1 + (size_t)choose(world, 5), at = (size_t)choose(world, length);
    const struct rule rule = rule_of(0.1, 0, 0, 1000);
    picollo_histogram_array *array = NULL;
    picollo_histogram *histogram = NULL;
    size_t bytes = 0;
    struct model *model;
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_array_create(&options, 0, &array));
    REQUIRE(picollo_histogram_array_create(&options, SIZE_MAX >> choose(world, 8), &array) == PICOLLO_ERR_OUT_OF_MEMORY && array == NULL);
    EXPECT(PICOLLO_OK, picollo_histogram_array_create(&options, length, &array));
    SAME(length, picollo_histogram_array_length(array));
    EXPECT(PICOLLO_OK, picollo_histogram_array_footprint(array, &bytes));
    REQUIRE(picollo_histogram_array_get(array, length + at) == NULL);
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_array_at(array, length, &histogram));
    EXPECT(PICOLLO_OK, picollo_histogram_array_at(array, at, &histogram));
    model = new_model(world, &rule);
    for (uint64_t number = choose(world, 30); number > 0; number--) {
        const uint64_t value = any_value(world);
        const size_t index = (size_t)choose(world, length + 1);
        picollo_histogram_array_record(array, index, value);
        if (index == at) count_value(&model->raw, &rule, value, 1);
    }
    /* The histogram keeps the array. */
    picollo_histogram_array_free(array);
    keep_histogram(world, pick(world), histogram, model);
}

static void op_doubles(struct world *world)
{
    picollo_double_options options = {.struct_size = sizeof options, .relative_error = 0.05};
    picollo_double_histogram *histogram = NULL;
    picollo_double_statistics statistics;
    uint64_t finite = 0, others = 0;
    double middle = 0.5, value = 0, values[16];
    size_t bytes = 0;
    options.flags = (uint32_t)choose(world, 4);
    EXPECT(PICOLLO_OK, picollo_double_histogram_create(&options, &histogram));
    for (uint64_t rounds = 1 + choose(world, 3); rounds > 0; rounds--) {
        finite = others = 0;
        for (size_t i = 0; i < 16; i++) {
            const uint64_t bits = choose(world, 0);
            if (rarely(world, 3)) memcpy(&values[i], &bits, sizeof bits);
            else values[i] = (double)(int64_t)any_value(world) / 7;
            if (isfinite(values[i])) finite++;
            else others++;
        }
        picollo_double_histogram_record_batch(histogram, values, 16);
        EXPECT(PICOLLO_OK, picollo_double_histogram_footprint(histogram, &bytes));
        EXPECT(PICOLLO_OK, picollo_double_histogram_collect(histogram, &middle, 1, &value, &statistics));
        SAME(finite, statistics.count);
        SAME(others, statistics.not_finite);
        SAME(0, statistics.lost);
        REQUIRE(finite == 0 || (statistics.min <= value && value <= statistics.max));
    }
    picollo_double_histogram_free(histogram);
}

static void op_counters(struct world *world)
{
    picollo_striped_counter *counter = NULL;
    uint64_t sum = 0, read = 0, word = 0;
    uint32_t small = 0;
    EXPECT(PICOLLO_OK, picollo_striped_counter_create(&counter));
    for (uint64_t number = choose(world, 50); number > 0; number--) {
        const uint64_t count = choose(world, 0);
        picollo_striped_counter_add(counter, count);
        picollo_scalable_counter_add32(&small, 0);
        picollo_scalable_counter_add64(&word, 0);
        sum += count;
        /* Exact below their threshold. */
        SAME(word, small);
    }
    EXPECT(PICOLLO_OK, picollo_striped_counter_read(counter, &read));
    SAME(sum, read);
    SAME(word, picollo_counter_read64(&word));
    picollo_striped_counter_free(counter);
}

const struct operation other_operations[] = {
    {"snapshot_copy", op_copy, 6},
    {"snapshot_encode", op_encode, 12},
    {"snapshot_decode", op_decode_nonsense, 3},
    {"snapshot_subtract", op_subtract, 8},
    {"snapshot_corrected", op_corrected, 3},
    {"histogram_array", op_array, 4},
    {"double_histogram", op_doubles, 3},
    {"counters", op_counters, 2},
    {NULL, NULL, 0},
};
