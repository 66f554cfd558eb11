/* Summaries, of which every number is worked out, and their text. */
#include "buffers.h"

static const unsigned thousandths[] = {0, 1000, 5000, 10000, 25000, 50000, 75000, 90000, 92500, 95000, 97500, 99000, 99900, 99990, 99999, 100000};

static int is_near(long double expected, double actual, long double error)
{
    return fabsl(expected - actual) <= error;
}

/* A value of which a bucket tells one. */
static uint64_t value_of(const struct rule *rule, uint64_t lower, uint32_t selection)
{
    switch (selection) {
    case PICOLLO_VALUE_LOWER: return lower;
    case PICOLLO_VALUE_UPPER: return bucket_upper(rule, lower);
    default: return lower + bucket_step(rule, lower) / 2;
    }
}

static void check_percentiles(struct world *world, const struct rule *rule, const struct counts *counts, const picollo_summary *summary)
{
    const uint64_t total = total_of(counts);
    for (size_t i = 0; i < PICOLLO_SUMMARY_PERCENTILES; i++) {
        const picollo_percentile *const percentile = &summary->percentiles[i];
        uint64_t target = (uint64_t)(((unsigned __int128)thousandths[i] * total + 99999) / 100000), sum = 0;
        size_t at = 0;
        REQUIRE(is_near(thousandths[i] / 1000.0L, percentile->rank, 1e-12L));
        if (target == 0) target = total == 0 ? 0 : 1;
        SAME(target, percentile->target_count);
        if (total == 0) continue;
        while (sum + counts->list[at].count < target) sum += counts->list[at++].count;
        SAME(value_of(rule, counts->list[at].lower, summary->value_selection), percentile->value);
        SAME(counts->list[at].lower, percentile->bucket.lower);
        SAME(counts->list[at].count, percentile->bucket.count);
    }
}

static void check_summary(struct world *world, const struct rule *rule, const struct counts *counts, uint32_t selection, const picollo_summary *summary)
{
    const uint64_t total = total_of(counts);
    long double mean = 0, squares = 0;
    SAME(total, summary->total_count);
    SAME(counts->below, summary->underflow_count);
    SAME(counts->above, summary->overflow_count);
    SAME(counts->lost, summary->lost_count);
    SAME(selection, summary->value_selection);
    REQUIRE(summary->relative_error == 0.5 / (double)rule->block);
    SAME(rule->lowest, bucket_lower(rule, summary->min_trackable));
    SAME(rule->highest, bucket_upper(rule, summary->max_trackable));
    check_percentiles(world, rule, counts, summary);
    if (total == 0) {
        REQUIRE(isnan(summary->mean) && isnan(summary->stddev));
        return;
    }
    for (size_t i = 0; i < counts->length; i++) mean += (long double)value_of(rule, counts->list[i].lower, 0) / total * counts->list[i].count;
    for (size_t i = 0; i < counts->length; i++) {
        const long double distance = value_of(rule, counts->list[i].lower, 0) - mean;
        squares += distance * distance / total * counts->list[i].count;
    }
    REQUIRE(is_near(mean, summary->mean, 1e-12L * mean));
    REQUIRE(is_near(sqrtl(squares), summary->stddev, 1e-9L * sqrtl(squares) + 1e-12L * mean));
}

static void op_histogram_summary(struct world *world)
{
    const size_t slot = pick(world);
    const struct model *const model = world->histogram_models[slot];
    const uint32_t selection = (uint32_t)choose(world, 3);
    picollo_summary summary;
    struct counts now = {0};
    if (world->histograms[slot] == NULL) return;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, summary, picollo_histogram_summary(world->histograms[slot], 3 + (uint32_t)choose(world, 99), &summary));
    EXPECT(PICOLLO_OK, picollo_histogram_summary(world->histograms[slot], selection, &summary));
    SAME(model->mode == PICOLLO_MODE_SCALABLE, (summary.flags & PICOLLO_SUMMARY_APPROXIMATE) != 0);
    if (!model->exact) return;
    subtract_counts(&now, &model->raw, &model->base);
    check_summary(world, &model->rule, &now, selection, &summary);
    forget_counts(&now);
}

static void op_snapshot_summary(struct world *world)
{
    const struct snapshot *const snapshot = exact_snapshot(world);
    const uint32_t selection = (uint32_t)choose(world, 3);
    picollo_summary summary;
    if (snapshot == NULL) return;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, summary, picollo_snapshot_summary(snapshot->handle, 3 + selection, &summary));
    REFUSED(PICOLLO_ERR_NULL_POINTER, summary, picollo_snapshot_summary(NULL, selection, &summary));
    EXPECT(PICOLLO_OK, picollo_snapshot_summary(snapshot->handle, selection, &summary));
    check_summary(world, &snapshot->source->rule, &snapshot->now, selection, &summary);
}

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
    const uint32_t format = (uint32_t)choose(world, 6);
    char *text, total[40];
    size_t length;
    if (!any_summary(world, &a) || !any_summary(world, &b)) return;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_summary_format(&a, title, 6 + (uint32_t)choose(world, 99), NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_summary_format(&a, NO_TEXT, format, NULL, 0, &length));
#define FORMAT(buffer, capacity, length) picollo_summary_format(&a, title, format, buffer, capacity, length)
    FORMATS_INTO(text, FORMAT);
    check_form(world, format, text);
    snprintf(total, sizeof total, "\"total_count\":%" PRIu64 ",", a.total_count);
    REQUIRE(format != PICOLLO_TEXT_JSON || strstr(text, total) != NULL);
    free(text);
#define FORMAT_DIFF(buffer, capacity, length) \
    picollo_summary_format_diff(&a, &b, title, name, title, format, buffer, capacity, length)
    FORMATS_INTO(text, FORMAT_DIFF);
    check_form(world, format, text);
    free(text);
}

const struct operation summary_operations[] = {
    {"histogram_summary", op_histogram_summary, 6},
    {"snapshot_summary", op_snapshot_summary, 6},
    {"summary_format", op_summary_format, 4},
    {NULL, NULL, 0},
};
