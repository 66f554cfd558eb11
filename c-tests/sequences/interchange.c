/* Encodings, copies and differences of snapshots. */
#include "buffers.h"

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

/* By HdrHistogram's encodings: the same buckets with the same counts, and nothing of what is out of range. */
static void check_decoded(struct world *world, const struct snapshot *snapshot, const picollo_snapshot *decoded)
{
    picollo_counts counts, theirs;
    picollo_bucket *before, *after;
    size_t length, again;
    EXPECT(PICOLLO_OK, picollo_snapshot_counts(snapshot->handle, &counts));
    EXPECT(PICOLLO_OK, picollo_snapshot_counts(decoded, &theirs));
    SAME(counts.total, theirs.total);
    SAME(0, theirs.underflow + theirs.overflow + theirs.lost);
#define BEFORE(out, capacity, length) picollo_snapshot_buckets(snapshot->handle, 1, out, capacity, length)
    LISTS(before, length, BEFORE);
#define AFTER(out, capacity, length) picollo_snapshot_buckets(decoded, 1, out, capacity, length)
    LISTS(after, again, AFTER);
    SAME(length, again);
    for (size_t i = 0; i < length; i++) {
        SAME(before[i].lower, after[i].lower);
        SAME(before[i].upper, after[i].upper);
        SAME(before[i].count, after[i].count);
    }
    free(before);
    free(after);
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
            check_decoded(world, snapshot, decoded);
            picollo_snapshot_free(decoded);
        }
    }
    free(bytes);
}

/* Two of any encodings, one after the other, and what follows them. */
static void op_decode_first(struct world *world)
{
    const struct snapshot *const snapshots[2] = {any_snapshot(world), any_snapshot(world)};
    static uint8_t bytes[1 << 18];
    size_t length = 0, ends[2], at = 0;
    for (int i = 0; i < 2; i++) {
        const uint32_t encoding = (uint32_t)choose(world, 3);
        const int as_text = rarely(world, 3);
        size_t one = 0;
        picollo_status status;
        if (snapshots[i] == NULL) return;
        if (as_text) status = picollo_snapshot_encode_base64(snapshots[i]->handle, encoding, (char *)bytes + length, sizeof bytes - length - 8, &one);
        else status = picollo_snapshot_encode(snapshots[i]->handle, encoding, bytes + length, sizeof bytes - length - 8, &one);
        REQUIRE(status == PICOLLO_OK || status == PICOLLO_ERR_INCOMPATIBLE || status == PICOLLO_ERR_BUFFER_TOO_SMALL);
        if (status != PICOLLO_OK) return;
        length += one;
        if (as_text) bytes[length++] = ' ';
        ends[i] = length;
    }
    for (int i = 0; i < 2; i++) {
        picollo_snapshot *decoded = NULL;
        picollo_counts counts, theirs;
        size_t taken = 77;
        EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_snapshot_decode_first(bytes + at, length - at, 0, &decoded, NULL));
        EXPECT(PICOLLO_OK, picollo_snapshot_decode_first(bytes + at, length - at, 0, &decoded, &taken));
        at += taken;
        SAME(ends[i], at);
        EXPECT(PICOLLO_OK, picollo_snapshot_counts(snapshots[i]->handle, &counts));
        EXPECT(PICOLLO_OK, picollo_snapshot_counts(decoded, &theirs));
        SAME(counts.total, theirs.total);
        picollo_snapshot_free(decoded);
    }
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
    struct snapshot *const from = exact_snapshot(world), *const other = another_snapshot(world, from);
    const uint32_t spread = (uint32_t)choose(world, 3);
    picollo_merged merged;
    if (from == NULL || other == NULL) return;
    if (from == other) {
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, merged, picollo_snapshot_merge(from->handle, other->handle, spread, &merged));
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, merged, picollo_snapshot_subtract(from->handle, other->handle, &merged));
        return;
    }
    if (spread == PICOLLO_PLACEMENT_LOW_ENDS) {
        EXPECT(PICOLLO_OK, picollo_snapshot_merge(from->handle, other->handle, spread, &merged));
        check_merged(world, &from->source->rule, other, 1, &merged);
        merge_counts(&from->now, &from->source->rule, &other->now, &other->source->rule, 1);
        check_snapshot(world, from);
        return;
    }
    if (spread) {
        /* Nothing vanishes; where it went is the library's to know. */
        picollo_counts counts;
        EXPECT(PICOLLO_OK, picollo_snapshot_merge(from->handle, other->handle, spread, &merged));
        merge_counts(&from->now, &from->source->rule, &other->now, &other->source->rule, 0);
        from->exact = 0;
        EXPECT(PICOLLO_OK, picollo_snapshot_counts(from->handle, &counts));
        SAME(everything(&from->now), counts.total + counts.underflow + counts.overflow + counts.lost);
        return;
    }
    if (everything(&other->now) > everything(&from->now)) {
        /* There is less than is to be taken away. */
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, merged, picollo_snapshot_subtract(from->handle, other->handle, &merged));
        check_snapshot(world, from);
    }
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, merged, picollo_snapshot_merge(from->handle, other->handle, 3, &merged));
    memset(&merged, UNTOUCHED, sizeof merged);
    EXPECT(PICOLLO_OK, picollo_snapshot_merge(from->handle, other->handle, 0, rarely(world, 2) ? NULL : &merged));
    if (!is_untouched(&merged, 0, sizeof merged)) check_merged(world, &from->source->rule, other, 0, &merged);
    EXPECT(PICOLLO_OK, picollo_snapshot_subtract(from->handle, other->handle, &merged));
    check_merged(world, &from->source->rule, other, 0, &merged);
    check_snapshot(world, from);
}

static void op_corrected(struct world *world)
{
    const struct snapshot *const snapshot = any_snapshot(world);
    const uint64_t interval = any_value(world);
    struct snapshot expected;
    picollo_snapshot *corrected = NULL;
    picollo_counts counts, theirs;
    picollo_status status;
    int added = 1;
    if (snapshot == NULL) return;
    status = picollo_snapshot_corrected(snapshot->handle, interval, &corrected);
    REQUIRE(status == PICOLLO_OK || status == PICOLLO_ERR_UNSUPPORTED);
    if (status != PICOLLO_OK) return;
    EXPECT(PICOLLO_OK, picollo_snapshot_counts(snapshot->handle, &counts));
    EXPECT(PICOLLO_OK, picollo_snapshot_counts(corrected, &theirs));
    REQUIRE(theirs.total >= counts.total);
    /* Buckets stand for their upper ends. */
    memset(&expected, 0, sizeof expected);
    for (size_t i = 0; i < snapshot->now.length && snapshot->exact && added; i++) {
        const struct count *const count = &snapshot->now.list[i];
        added = count->count == 0 || count_corrected(&expected.now, &snapshot->source->rule, bucket_upper(&snapshot->source->rule, count->lower), count->count, interval);
    }
    if (snapshot->exact && added) {
        expected.handle = corrected;
        expected.source = snapshot->source;
        expected.exact = 1;
        expected.now.below += snapshot->now.below;
        expected.now.above += snapshot->now.above;
        expected.now.lost += snapshot->now.lost;
        check_snapshot(world, &expected);
    }
    forget_counts(&expected.now);
    picollo_snapshot_free(corrected);
}

const struct operation interchange_operations[] = {
    {"snapshot_copy", op_copy, 6},
    {"snapshot_encode", op_encode, 12},
    {"snapshot_decode_first", op_decode_first, 4},
    {"snapshot_decode", op_decode_nonsense, 3},
    {"snapshot_subtract", op_subtract, 8},
    {"snapshot_corrected", op_corrected, 3},
    {NULL, NULL, 0},
};
