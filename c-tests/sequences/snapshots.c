/* Snapshots: taken, updated, merged. Their counts match the model; core tests the computed results. */
#include "buffers.h"

static void take_counts(struct snapshot *snapshot, int deltas)
{
    const struct counts raw = snapshot->source->raw, before = deltas ? snapshot->previous : snapshot->source->base;
    snapshot->now = (struct counts){raw.in - before.in, raw.below - before.below, raw.above - before.above};
    snapshot->previous = raw;
    snapshot->exact = snapshot->source->exact;
}

int merge_counts(struct counts *to, const struct model *model, const struct snapshot *from)
{
    to->in += from->now.in;
    to->below += from->now.below;
    to->above += from->now.above;
    return from->exact && memcmp(&model->layout, &from->source->layout, sizeof model->layout) == 0;
}

void check_snapshot(struct world *world, struct snapshot *snapshot)
{
    picollo_counts counts;
    size_t length = 0;
    uint64_t total = 0;
    EXPECT(PICOLLO_OK, picollo_snapshot_counts(snapshot->handle, &counts));
    if (!snapshot->source->conserved) return;
    SAME(everything(&snapshot->now), counts.total + counts.underflow + counts.overflow + counts.lost);
    if (!snapshot->exact) return;
    SAME(snapshot->now.in, counts.total);
    SAME(snapshot->now.below, counts.underflow);
    SAME(snapshot->now.above, counts.overflow);
    SAME(0, counts.lost);
    const picollo_status asked = picollo_snapshot_buckets(snapshot->handle, 1, NULL, 0, &length);
    EXPECT(length == 0 ? PICOLLO_OK : PICOLLO_ERR_BUFFER_TOO_SMALL, asked);
    picollo_bucket *const buckets = (picollo_bucket *)guarded(length * sizeof *buckets);
    if (length > 0) EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_buckets(snapshot->handle, 1, buckets, length - 1, &length));
    EXPECT(PICOLLO_OK, picollo_snapshot_buckets(snapshot->handle, 1, buckets, length, &length));
    for (size_t i = 0; i < length; i++) {
        REQUIRE(buckets[i].count > 0 && buckets[i].lower >= snapshot->source->lowest && buckets[i].upper <= snapshot->source->highest);
        REQUIRE(i == 0 || buckets[i].lower > buckets[i - 1].upper);
        total += buckets[i].count;
    }
    SAME(counts.total, total);
    CHECK_GUARD(buckets, length * sizeof *buckets);
    free(buckets);
}

/* An empty slot, or one that this empties. */
static struct snapshot *make_room(struct world *world)
{
    struct snapshot *const snapshot = &world->snapshots[pick(world)];
    picollo_snapshot_free(snapshot->handle);
    memset(snapshot, 0, sizeof *snapshot);
    return snapshot;
}

/* The first from a slot on; if `exact`, only those with predictable counts. */
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
    memset(snapshot, 0, sizeof *snapshot);
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
    /* Wrapped or limited cells of another snapshot are known only as a sum, and only to its own model. */
    if (!merge_counts(&into->now, into->source, other)) into->exact = 0;
    if (into->exact) check_snapshot(world, into);
}

const struct operation snapshot_operations[] = {
    {"snapshot_create", op_create, 30},
    {"snapshot_update", op_update, 36},
    {"snapshot_free", op_free, 6},
    {"snapshot_merge", op_merge, 10},
    {NULL, NULL, 0},
};
