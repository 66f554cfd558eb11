/* Encodings, copies and differences of snapshots. */
#include "buffers.h"

/* A snapshot without a histogram, with the counts of another. */
static void keep_detached(struct world *world, picollo_snapshot *handle, const struct snapshot *like)
{
    const struct snapshot copied = *like;
    struct snapshot *slot = &world->snapshots[pick(world)];
    if (slot == like) {
        picollo_snapshot_free(handle);
        return;
    }
    picollo_snapshot_free(slot->handle);
    memset(slot, 0, sizeof *slot);
    slot->handle = handle;
    slot->source = copied.source;
    slot->exact = copied.exact;
    slot->detached = 1;
    slot->now = copied.now;
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

static picollo_status encode(const struct snapshot *snapshot, uint32_t encoding, int as_text, uint8_t *bytes, size_t capacity, size_t *length)
{
    if (as_text) return picollo_snapshot_encode_base64(snapshot->handle, encoding, (char *)bytes, capacity, length);
    return picollo_snapshot_encode(snapshot->handle, encoding, bytes, capacity, length);
}

static void op_encode(struct world *world)
{
    const struct snapshot *const snapshot = any_snapshot(world);
    const uint32_t encoding = (uint32_t)choose(world, 3), native = PICOLLO_ENCODING_NATIVE;
    const int as_text = rarely(world, 4);
    picollo_snapshot *decoded = NULL;
    picollo_status status;
    size_t length = 0, again = 0;
    if (snapshot == NULL) return;
    status = encode(snapshot, encoding, as_text, NULL, 0, &length);
    REQUIRE(status == PICOLLO_ERR_BUFFER_TOO_SMALL || (status == PICOLLO_ERR_INCOMPATIBLE && encoding != native));
    if (status == PICOLLO_ERR_INCOMPATIBLE) return;
    const size_t capacity = length + (size_t)as_text;
    uint8_t *const bytes = (uint8_t *)guarded(capacity);
    EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, encode(snapshot, encoding, as_text, bytes, capacity - 1, &again));
    EXPECT(PICOLLO_OK, encode(snapshot, encoding, as_text, bytes, capacity, &again));
    SAME(length, again);
    CHECK_GUARD(bytes, capacity);
    if (rarely(world, 3)) {
        /* Damaged data: anything except a crash. */
        const size_t left = (size_t)choose(world, length + 1);
        for (uint64_t changes = choose(world, 4); left > 0 && changes > 0; changes--) bytes[choose(world, left)] ^= (uint8_t)(1 + choose(world, 255));
        status = picollo_snapshot_decode(bytes, left, choose(world, 100000), &decoded);
        REQUIRE(status == PICOLLO_OK ? decoded != NULL : decoded == NULL && status != PICOLLO_ERR_PANIC);
        picollo_snapshot_free(decoded);
    } else if (encoding == native) {
        EXPECT(PICOLLO_OK, picollo_snapshot_decode(bytes, length, 0, &decoded));
        keep_detached(world, decoded, snapshot);
    } else {
        picollo_counts counts, theirs;
        EXPECT(PICOLLO_OK, picollo_snapshot_decode_first(bytes, length, 0, &decoded, &again));
        SAME(length, again);
        EXPECT(PICOLLO_OK, picollo_snapshot_counts(snapshot->handle, &counts));
        EXPECT(PICOLLO_OK, picollo_snapshot_counts(decoded, &theirs));
        SAME(counts.total, theirs.total);
        picollo_snapshot_free(decoded);
    }
    free(bytes);
}

/* Merged counts are subtracted again. */
static void op_subtract(struct world *world)
{
    struct snapshot *const from = exact_snapshot(world), *const other = another_snapshot(world, from);
    picollo_merged merged;
    if (from == NULL || other == NULL) return;
    if (from == other) {
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, merged, picollo_snapshot_merge(from->handle, other->handle, (uint32_t)choose(world, 3), &merged));
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, merged, picollo_snapshot_subtract(from->handle, other->handle, &merged));
        return;
    }
    if (everything(&other->now) > everything(&from->now)) {
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, merged, picollo_snapshot_subtract(from->handle, other->handle, &merged));
        check_snapshot(world, from);
    }
    EXPECT(PICOLLO_OK, picollo_snapshot_merge(from->handle, other->handle, 0, rarely(world, 2) ? NULL : &merged));
    EXPECT(PICOLLO_OK, picollo_snapshot_subtract(from->handle, other->handle, &merged));
    check_snapshot(world, from);
}

const struct operation interchange_operations[] = {
    {"snapshot_copy", op_copy, 6},
    {"snapshot_encode", op_encode, 12},
    {"snapshot_subtract", op_subtract, 8},
    {NULL, NULL, 0},
};
