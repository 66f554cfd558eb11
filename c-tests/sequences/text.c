/* Other text, and constants: whatever the numbers and titles, the lengths are true and nothing goes beyond the buffer. */
#include "buffers.h"

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
    size_t length = 0, buckets = 0, lines = 0;
    char *text;
    if (snapshot == NULL) return;
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_format_buckets(snapshot, 2, selection, NULL, 0, &length));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_format_buckets(snapshot, 1, 3 + selection, NULL, 0, &length));
#define FORMAT_BUCKETS(buffer, capacity, length) picollo_snapshot_format_buckets(snapshot, 1, selection, buffer, capacity, length)
    FORMATS_INTO(text, FORMAT_BUCKETS);
    /* A line for each. */
    const picollo_status asked = picollo_snapshot_buckets(snapshot, 1, NULL, 0, &buckets);
    EXPECT(buckets == 0 ? PICOLLO_OK : PICOLLO_ERR_BUFFER_TOO_SMALL, asked);
    for (const char *at = text; *at != 0; at++) lines += *at == '\n';
    SAME(buckets, lines);
    free(text);
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
    {"percentile_format", op_percentile_format, 2},
    {"snapshot_format_buckets", op_format_buckets, 2},
    {"constants", op_constants, 1},
    {NULL, NULL, 0},
};
