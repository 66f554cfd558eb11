/* Text and constants: whatever the numbers and titles, the lengths are true and nothing goes beyond the buffer. */
#include "buffers.h"

int any_summary(struct world *world, picollo_summary *summary)
{
    const size_t slot = pick(world);
    if (rarely(world, 4)) {
        /* Numbers that no histogram has. */
        uint64_t *const words = (uint64_t *)summary;
        for (size_t i = 0; i < sizeof *summary / sizeof *words; i++) words[i] = rarely(world, 2) ? choose(world, 0) : choose(world, 4);
        return 1;
    }
    if (world->snapshots[slot].handle == NULL) return 0;
    EXPECT(PICOLLO_OK, picollo_snapshot_summary(world->snapshots[slot].handle, (uint32_t)choose(world, 3), summary));
    return 1;
}

static void op_summary_format(struct world *world)
{
    picollo_summary a, b;
    const char *const title = any_title(world), *const name = any_title(world);
    const uint32_t format = (uint32_t)choose(world, 4);
    size_t length = 0;
    if (!any_summary(world, &a) || !any_summary(world, &b)) return;
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_summary_format(&a, title, 4 + (uint32_t)choose(world, 99), NULL, 0, &length));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_summary_format(&a, NO_TEXT, format, NULL, 0, &length));
#define FORMAT(buffer, capacity, length) picollo_summary_format(&a, title, format, buffer, capacity, length)
    FORMATS(FORMAT);
#define FORMAT_DIFF(buffer, capacity, length) \
    picollo_summary_format_diff(&a, &b, title, name, title, format, buffer, capacity, length)
    FORMATS(FORMAT_DIFF);
}

static void op_percentile_format(struct world *world)
{
    picollo_summary summary;
    const picollo_percentile *percentile;
    if (!any_summary(world, &summary)) return;
    percentile = &summary.percentiles[choose(world, PICOLLO_SUMMARY_PERCENTILES)];
#define FORMAT_PERCENTILE(buffer, capacity, length) picollo_percentile_format(percentile, buffer, capacity, length)
    FORMATS(FORMAT_PERCENTILE);
}

static void op_format_buckets(struct world *world)
{
    const picollo_snapshot *const snapshot = world->snapshots[pick(world)].handle;
    const uint32_t selection = (uint32_t)choose(world, 3);
    size_t length = 0;
    if (snapshot == NULL) return;
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_format_buckets(snapshot, 2, selection, NULL, 0, &length));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_format_buckets(snapshot, 1, 3 + selection, NULL, 0, &length));
#define FORMAT_BUCKETS(buffer, capacity, length) picollo_snapshot_format_buckets(snapshot, 1, selection, buffer, capacity, length)
    FORMATS(FORMAT_BUCKETS);
}

static void op_constants(struct world *world)
{
    SAME(PICOLLO_ABI_VERSION, picollo_abi_version());
    REQUIRE(picollo_version()[0] == '0');
    REQUIRE(picollo_status_str((picollo_status)choose(world, 0))[0] != 0);
    REQUIRE(picollo_status_str(-(picollo_status)choose(world, 20))[0] != 0);
    picollo_work_add_chain_256(choose(world, 3));
}

const struct operation text_operations[] = {
    {"summary_format", op_summary_format, 3},
    {"percentile_format", op_percentile_format, 2},
    {"snapshot_format_buckets", op_format_buckets, 2},
    {"constants", op_constants, 1},
    {NULL, NULL, 0},
};
