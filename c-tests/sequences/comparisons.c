/* Comparisons: every pair counted, every distance looked at, every interval's coverage added up. */
#include "buffers.h"

/* Of so many thousandths. */
static const double quantiles[] = {0.5, 0.25, 0.9, 0.99, 0.001}, confidences[] = {0, 0.95, 0.8, 0.999}, no_shares[] = {-0.5, 1, 2, NAN, INFINITY};

static int is_near(double expected, double actual, double error)
{
    return fabs(expected - actual) <= error * (1 + fabs(expected)) || (isnan(expected) && isnan(actual)) || expected == actual;
}

/* The bucket of an observation, counted from 1. */
static uint64_t lower_of(const struct snapshot *snapshot, uint64_t number)
{
    size_t at = 0;
    for (uint64_t sum = snapshot->now.list[0].count; sum < number; sum += snapshot->now.list[++at].count) {}
    return snapshot->now.list[at].lower;
}

/* How probable it is that of so many observations at least `first` and at most `last` are below a quantile. */
static double probability(uint64_t total, double quantile, uint64_t first, uint64_t last)
{
    double sum = 0;
    for (uint64_t k = first; k <= last; k++) {
        sum += exp(lgamma((double)total + 1) - lgamma((double)k + 1) - lgamma((double)(total - k) + 1) + (double)k * log(quantile) +
                   (double)(total - k) * log1p(-quantile));
    }
    return sum;
}

static void check_interval(struct world *world, const struct snapshot *snapshot, double quantile, double confidence, const picollo_quantile_interval *interval)
{
    const struct rule *const rule = &snapshot->source->rule;
    const uint64_t total = total_of(&snapshot->now);
    const uint64_t lower = interval->lower_count == 0 ? 0 : lower_of(snapshot, interval->lower_count);
    const uint64_t upper = interval->upper_count == 0 ? 0 : lower_of(snapshot, interval->upper_count), value = lower_of(snapshot, interval->target_count);
    REQUIRE(interval->quantile == quantile && interval->confidence == (confidence == 0 ? 0.95 : confidence));
    SAME(total, interval->total_count);
    const uint64_t thousandths = (uint64_t)(quantile * 1000 + 0.5), target = (uint64_t)(((unsigned __int128)thousandths * total + 999) / 1000);
    SAME(target == 0 ? 1 : target, interval->target_count);
    REQUIRE(interval->lower_count <= interval->target_count && (interval->upper_count == 0 || interval->upper_count >= interval->target_count));
    SAME(value + bucket_step(rule, value) / 2, interval->value);
    SAME(lower, interval->lower);
    SAME(interval->upper_count == 0 ? UINT64_MAX : bucket_upper(rule, upper), interval->upper);
    if (interval->lower_count > 0 && interval->upper_count > 0) {
        REQUIRE(interval->coverage >= interval->confidence - 1e-9 && interval->coverage <= 1 + 1e-9);
        if (total < 2000) REQUIRE(is_near(probability(total, quantile, interval->lower_count, interval->upper_count - 1), interval->coverage, 1e-8));
    }
}

static void op_quantile_interval(struct world *world)
{
    const struct snapshot *const snapshot = exact_snapshot(world);
    const double quantile = quantiles[choose(world, 5)], confidence = confidences[choose(world, 4)], bad = no_shares[choose(world, 5)];
    picollo_quantile_interval interval;
    if (snapshot == NULL) return;
    if (total_of(&snapshot->now) == 0) {
        REFUSED(PICOLLO_ERR_EMPTY, interval, picollo_snapshot_quantile_interval(snapshot->handle, quantile, confidence, &interval));
        return;
    }
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, interval, picollo_snapshot_quantile_interval(snapshot->handle, bad, confidence, &interval));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, interval, picollo_snapshot_quantile_interval(snapshot->handle, 0, confidence, &interval));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, interval, picollo_snapshot_quantile_interval(snapshot->handle, quantile, bad, &interval));
    EXPECT(PICOLLO_OK, picollo_snapshot_quantile_interval(snapshot->handle, quantile, confidence, &interval));
    check_interval(world, snapshot, quantile, confidence, &interval);
}

struct naive {
    long double greater, less, distance;
};

/* The fewest buckets in a block, and the largest unit. */
static struct rule coarser_of(const struct rule *a, const struct rule *b)
{
    struct rule rule = *a;
    if (b->block < rule.block) rule.block = b->block;
    if (b->unit > rule.unit) rule.unit = b->unit;
    return rule;
}

/* All pairs, by the buckets of the coarser. */
static struct naive compare_pairs(const struct snapshot *a, const struct snapshot *b)
{
    const struct rule of_both = coarser_of(&a->source->rule, &b->source->rule), *const coarser = &of_both;
    const long double total_a = total_of(&a->now), total_b = total_of(&b->now);
    struct naive naive = {0, 0, 0};
    for (int of_b = 0; of_b < 2; of_b++) {
        const struct counts *const ends = of_b ? &b->now : &a->now;
        for (size_t i = 0; i < ends->length; i++) {
            const uint64_t key = bucket_lower(coarser, ends->list[i].lower);
            long double below_a = 0, below_b = 0, same_a = 0;
            for (size_t j = 0; j < a->now.length; j++) {
                const uint64_t other = bucket_lower(coarser, a->now.list[j].lower);
                if (other <= key) below_a += a->now.list[j].count;
                if (other == key) same_a += a->now.list[j].count;
            }
            for (size_t j = 0; j < b->now.length; j++) {
                if (bucket_lower(coarser, b->now.list[j].lower) <= key) below_b += b->now.list[j].count;
            }
            naive.distance = fmaxl(naive.distance, fabsl(below_a / total_a - below_b / total_b));
            if (of_b) {
                naive.greater += (below_a - same_a) * ends->list[i].count;
                naive.less += (total_a - below_a) * ends->list[i].count;
            }
        }
    }
    return naive;
}

static void moments(const struct snapshot *snapshot, long double *mean, long double *squares)
{
    const long double total = total_of(&snapshot->now);
    *mean = *squares = 0;
    for (int second = 0; second < 2; second++) {
        for (size_t i = 0; i < snapshot->now.length; i++) {
            const uint64_t lower = snapshot->now.list[i].lower;
            const long double middle = lower + bucket_step(&snapshot->source->rule, lower) / 2, count = snapshot->now.list[i].count;
            if (second) *squares += count * (middle - *mean) * (middle - *mean);
            else *mean += middle / total * count;
        }
    }
}

static void check_verdict(struct world *world, double lower, double upper, double margin, uint32_t verdict, uint32_t flags)
{
    SAME(lower > margin ? PICOLLO_VERDICT_SLOWER : upper < -margin ? PICOLLO_VERDICT_FASTER : PICOLLO_VERDICT_NO_EVIDENCE, verdict);
    SAME(-margin <= lower && upper <= margin, (flags & PICOLLO_COMPARISON_WITHIN_MARGIN) != 0);
}

static void check_comparison(struct world *world, const struct snapshot *a, const struct snapshot *b, const picollo_comparison *compared)
{
    const struct naive naive = compare_pairs(a, b);
    const long double pairs = (long double)total_of(&a->now) * total_of(&b->now);
    const int partial = a->now.below + a->now.above + a->now.lost + b->now.below + b->now.above + b->now.lost > 0;
    long double mean_a, mean_b, squares_a, squares_b;
    REQUIRE(is_near((double)((naive.greater - naive.less) / pairs), compared->cliffs_delta, 1e-12));
    REQUIRE(is_near((double)(0.5L + (naive.greater - naive.less) / pairs / 2), compared->common_language, 1e-12));
    /* Where nearly all pairs are the other way round, what is left of half of them has the error of all. */
    const long double u = pairs / 2 + (naive.greater - naive.less) / 2;
    REQUIRE(is_near((double)u, compared->mann_whitney_u, 1e-12) || fabsl(u - compared->mann_whitney_u) < pairs * 1e-18L);
    REQUIRE(is_near((double)naive.distance, compared->ks_distance, 1e-12));
    REQUIRE(compared->mann_whitney_p >= 0 && compared->mann_whitney_p <= 1 && compared->ks_p >= 0 && compared->ks_p <= 1);
    REQUIRE(compared->mann_whitney_z == 0 || (compared->mann_whitney_z > 0) == (naive.greater > naive.less));
    REQUIRE(compared->difference == (double)compared->b.value - (double)compared->a.value);
    REQUIRE(compared->difference_lower <= compared->difference && compared->difference <= compared->difference_upper);
    REQUIRE(compared->margin >= compared->bucket_width && !(compared->smallest_detectable < compared->margin));
    check_verdict(world, compared->difference_lower, compared->difference_upper, compared->margin, compared->verdict, compared->flags);
    SAME(partial, (compared->flags & PICOLLO_COMPARISON_OUT_OF_RANGE) != 0);
    SAME(a->source->rule.block != b->source->rule.block || a->source->rule.unit != b->source->rule.unit, (compared->flags & PICOLLO_COMPARISON_LAYOUTS_DIFFER) != 0);
    moments(a, &mean_a, &squares_a);
    moments(b, &mean_b, &squares_b);
    if (squares_a + squares_b > 0) {
        const long double deviation = sqrtl((squares_a + squares_b) / ((long double)total_of(&a->now) + total_of(&b->now)));
        /* Means of large values that hardly differ have few digits left. */
        if (deviation > 1e-6L * (mean_a + mean_b)) REQUIRE(is_near((double)((mean_b - mean_a) / deviation), compared->cohens_d, 1e-7));
    }
}

static picollo_compare_options any_options(struct world *world)
{
    static const double thresholds[] = {0, 0.01, 0.5, -1, 3};
    picollo_compare_options options = {.struct_size = sizeof options};
    options.quantile = rarely(world, 2) ? 0 : quantiles[choose(world, 5)];
    options.confidence = confidences[choose(world, 4)];
    options.relative_threshold = thresholds[choose(world, 5)];
    options.absolute_threshold = rarely(world, 2) ? 0 : (double)any_value(world);
    options.power = rarely(world, 2) ? 0 : quantiles[choose(world, 5)];
    return options;
}

static picollo_status spoil(struct world *world, picollo_compare_options *options)
{
    switch (choose(world, 6)) {
    case 0: options->struct_size = (uint32_t)choose(world, 48); break;
    case 1: options->flags = 1 + (uint32_t)choose(world, UINT32_MAX); return PICOLLO_ERR_UNSUPPORTED;
    case 2: options->confidence = no_shares[choose(world, 5)]; break;
    case 3: options->power = no_shares[choose(world, 5)]; break;
    case 4: options->relative_threshold = NAN; break;
    default: options->absolute_threshold = NAN; break;
    }
    return PICOLLO_ERR_INVALID_ARGUMENT;
}

static void check_texts(struct world *world, const struct snapshot *a, const struct snapshot *b, const picollo_comparison *compared)
{
    picollo_summary of_a, of_b;
    const uint32_t format = (uint32_t)choose(world, 6);
    const char *const title = any_title(world), *const name = any_title(world);
    char *text;
    size_t length;
    EXPECT(PICOLLO_OK, picollo_snapshot_summary(a->handle, 0, &of_a));
    EXPECT(PICOLLO_OK, picollo_snapshot_summary(b->handle, 0, &of_b));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_comparison_format(compared, &of_a, &of_b, title, NO_TEXT, name, format, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_comparison_format(compared, &of_a, &of_b, title, name, name, 6 + format, NULL, 0, &length));
#define FORMAT(buffer, capacity, length) picollo_comparison_format(compared, &of_a, &of_b, title, name, title, format, buffer, capacity, length)
    FORMATS_INTO(text, FORMAT);
    check_form(world, format, text);
    free(text);
}

static void op_compare(struct world *world)
{
    const struct snapshot *const a = exact_snapshot(world), *const b = another_snapshot(world, a);
    picollo_compare_options options = any_options(world), bad = options;
    const picollo_status refused = spoil(world, &bad);
    picollo_comparison compared, other;
    const double quantile = options.quantile == 0 ? 0.5 : options.quantile;
    if (a == NULL || b == NULL || a->now.length + b->now.length > 600) return;
    if (total_of(&a->now) == 0 || total_of(&b->now) == 0) {
        REFUSED(PICOLLO_ERR_EMPTY, compared, picollo_compare(a->handle, b->handle, &options, &compared));
        return;
    }
    REFUSED(refused, compared, picollo_compare(a->handle, b->handle, &bad, &compared));
    EXPECT(PICOLLO_OK, picollo_compare(a->handle, b->handle, &options, &compared));
    if (PLANTED(7)) compared.mann_whitney_u += 0.5;
    check_interval(world, a, quantile, options.confidence, &compared.a);
    check_interval(world, b, quantile, options.confidence, &compared.b);
    check_comparison(world, a, b, &compared);
    /* The other way around it is the same with the other sign. */
    EXPECT(PICOLLO_OK, picollo_compare(b->handle, a->handle, &options, &other));
    REQUIRE(is_near(compared.mann_whitney_z, -other.mann_whitney_z, 1e-12) && is_near(compared.mann_whitney_p, other.mann_whitney_p, 1e-12));
    REQUIRE(is_near(compared.cohens_d, -other.cohens_d, 1e-12) && is_near(compared.ks_p, other.ks_p, 1e-12));
    REQUIRE(is_near(compared.difference_lower, -other.difference_upper, 1e-9));
    EXPECT(PICOLLO_OK, picollo_compare(a->handle, b->handle, NULL, &compared));
    check_comparison(world, a, b, &compared);
    if (rarely(world, 4)) check_texts(world, a, b, &compared);
}

static int by_value(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double median_of(const double *values, size_t length)
{
    double sorted[64];
    memcpy(sorted, values, length * sizeof *sorted);
    qsort(sorted, length, sizeof *sorted, by_value);
    return length % 2 == 1 ? sorted[length / 2] : sorted[length / 2 - 1] / 2 + sorted[length / 2] / 2;
}

static void op_compare_blocks(struct world *world)
{
    double a[64], b[64], differences[64], sorted[64], mean = 0, squares = 0, next = 0;
    const size_t length = 1 + (size_t)choose(world, 63);
    picollo_compare_options options = any_options(world), bad = options;
    const picollo_status refused = spoil(world, &bad);
    picollo_block_comparison compared;
    const double scale = ldexp(1, rarely(world, 8) ? 1013 : (int)choose(world, 40));
    for (size_t i = 0; i < length; i++) {
        a[i] = (double)choose(world, 1000) * scale;
        b[i] = (double)choose(world, rarely(world, 2) ? 1000 : 2000) * scale;
        sorted[i] = differences[i] = b[i] - a[i];
        mean += differences[i] / (double)length;
    }
    REFUSED(PICOLLO_ERR_EMPTY, compared, picollo_compare_blocks(a, b, 0, &options, &compared));
    REFUSED(PICOLLO_ERR_NULL_POINTER, compared, picollo_compare_blocks(a, NULL, length, &options, &compared));
    REFUSED(refused, compared, picollo_compare_blocks(a, b, length, &bad, &compared));
    EXPECT(PICOLLO_OK, picollo_compare_blocks(a, b, length, &options, &compared));
    SAME(length, compared.block_count);
    REQUIRE(is_near(median_of(a, length), compared.median_a, 1e-12) && is_near(median_of(b, length), compared.median_b, 1e-12));
    REQUIRE(is_near(median_of(differences, length), compared.difference, 1e-12));
    REQUIRE(compared.difference_lower <= compared.difference && compared.difference <= compared.difference_upper);
    check_verdict(world, compared.difference_lower, compared.difference_upper, compared.margin, compared.verdict, compared.flags);
    const int depends = (compared.flags & PICOLLO_COMPARISON_AUTOCORRELATED) != 0;
    qsort(sorted, length, sizeof *sorted, by_value);
    if (isfinite(compared.difference_lower) && isfinite(compared.difference_upper)) {
        size_t lower = 0, upper = length;
        double most, least;
        while (lower < length && sorted[lower] < compared.difference_lower) lower++;
        while (upper > 0 && sorted[upper - 1] > compared.difference_upper) upper--;
        REQUIRE(lower < length && upper > 0 && sorted[lower] == compared.difference_lower && sorted[upper - 1] == compared.difference_upper);
        REQUIRE(compared.coverage >= compared.confidence - 1e-9 || depends);
        /* Of equal differences any may be the end. Where they depend on each other, the interval is wider than its coverage says. */
        most = probability(length, 0.5, lower + 1, upper - 1);
        while (lower + 1 < length && sorted[lower + 1] == sorted[lower]) lower++;
        while (upper > 1 && sorted[upper - 2] == sorted[upper - 1]) upper--;
        least = lower + 1 > upper - 1 ? 0 : probability(length, 0.5, lower + 1, upper - 1);
        REQUIRE(compared.coverage <= most + 1e-9 && (compared.coverage >= least - 1e-9 || depends));
    } else {
        REQUIRE((compared.flags & PICOLLO_COMPARISON_TOO_FEW) != 0 && length < 20);
    }
    for (size_t i = 0; i < length; i++) {
        squares += (differences[i] - mean) * (differences[i] - mean);
        if (i > 0) next += (differences[i] - mean) * (differences[i - 1] - mean);
    }
    if (length >= 4 && isfinite(squares) && squares > 1e-9 * mean * mean) REQUIRE(is_near(next / squares, compared.lag1, 1e-9));
    REQUIRE(compared.inflation >= 1);
    (rarely(world, 2) ? a : b)[choose(world, length)] = rarely(world, 2) ? NAN : INFINITY;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, compared, picollo_compare_blocks(a, b, length, &options, &compared));
}

/* A figure is the formula of the sums; scopes in which an event was not counted are in none of them. */
static void op_figure(struct world *world)
{
    double values[2 * 32], instructions = 0, cycles = 0;
    const size_t scopes = 2 + (size_t)choose(world, 30), missing = (size_t)choose(world, 2 * scopes);
    picollo_figure_estimate figure;
    picollo_error error;
    char text[64];
    size_t length;
    for (size_t i = 0; i < scopes; i++) {
        values[2 * i] = (double)choose(world, 1000);
        values[2 * i + 1] = 1 + (double)choose(world, 1000);
        instructions += values[2 * i];
        cycles += values[2 * i + 1];
    }
    EXPECT(PICOLLO_OK, picollo_figure_compute("ipc", "instructions cycles", values, scopes, 0, &figure, &error));
    REQUIRE(is_near(instructions / cycles, figure.value, 1e-12) && figure.scopes == scopes && figure.flags == 0 && figure.confidence == 0.95);
    REQUIRE(figure.lower <= figure.value && figure.value <= figure.upper);
    {
        /* The last one is the slowest, and alone: what is left of it is the rest. */
        const double slow[2] = {values[2 * scopes - 2], values[2 * scopes - 1]};
        double durations[32];
        picollo_figure_estimate tail, rest;
        for (size_t i = 0; i < scopes; i++) durations[i] = (double)i;
        EXPECT(PICOLLO_OK, picollo_figure_compute_tail("ipc", "instructions cycles", values, durations, scopes, 0, 0, &tail, &rest, &error));
        REQUIRE(is_near(slow[0] / slow[1], tail.value, 1e-12) && tail.scopes == 1 && tail.flags == PICOLLO_FIGURE_FEW_SCOPES);
        REQUIRE(is_near((instructions - slow[0]) / (cycles - slow[1]), rest.value, 1e-12) && rest.scopes == scopes - 1);
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, tail, picollo_figure_compute_tail("ipc", "instructions cycles", values, durations, scopes, 1, 0, &tail, &rest, NULL));
        durations[choose(world, scopes)] = -1;
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, tail, picollo_figure_compute_tail("ipc", "instructions cycles", values, durations, scopes, 0.5, 0, &tail, &rest, NULL));
        for (size_t i = 0; i < scopes; i++) durations[i] = 7;
        REFUSED(PICOLLO_ERR_EMPTY, rest, picollo_figure_compute_tail("ipc", "instructions cycles", values, durations, scopes, 0.5, 0, &tail, &rest, NULL));
        REFUSED(PICOLLO_ERR_NULL_POINTER, rest, picollo_figure_compute_tail("ipc", "instructions cycles", values, NULL, scopes, 0.5, 0, &tail, &rest, NULL));
    }
    instructions -= values[missing / 2 * 2];
    cycles -= values[missing / 2 * 2 + 1];
    values[missing] = NAN;
    EXPECT(PICOLLO_OK, picollo_figure_compute("min(1, a - a + a / b) + max(0, a / b - 1)", "a b", values, scopes, 0.5, &figure, NULL));
    REQUIRE(figure.scopes == scopes - 1 && (figure.flags & PICOLLO_FIGURE_PARTIAL) != 0);
    if (PLANTED(14)) figure.value += 0.5;
    REQUIRE(is_near(instructions / cycles + 1, figure.value + 1, 1e-9));
    for (size_t i = 0; i < scopes; i++) values[2 * i + 1] = NAN;
    REFUSED(PICOLLO_ERR_NOT_COUNTED, figure, picollo_figure_compute("ipc", "instructions cycles", values, scopes, 0, &figure, &error));
    REQUIRE(error.event_index == 1);
    REFUSED(PICOLLO_ERR_EMPTY, figure, picollo_figure_compute("1 / (2 - 2)", "a b", values, scopes, 0, &figure, &error));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, figure, picollo_figure_compute("1 +", "a", values, scopes, 0, &figure, &error));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, figure, picollo_figure_compute("ipc", "cycles", values, scopes, 0, &figure, &error));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, figure, picollo_figure_compute("ipc", " ", values, scopes, 0, &figure, NULL));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, figure, picollo_figure_compute("a", "a", values, scopes, 1, &figure, NULL));
    REFUSED(PICOLLO_ERR_NULL_POINTER, figure, picollo_figure_compute("a", "a", NULL, scopes, 0, &figure, NULL));
    EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_figures_format(text, sizeof text, &length));
    REQUIRE(length > 1000 && text[0] == 0);
}

static void op_compare_runs(struct world *world)
{
    double earlier[64], sum = 0;
    const size_t length = 1 + (size_t)choose(world, 63);
    picollo_compare_options options = any_options(world), bad = options;
    const picollo_status refused = spoil(world, &bad);
    picollo_run_comparison compared;
    const double scale = ldexp(1, rarely(world, 8) ? 1008 : (int)choose(world, 40)), value = (double)choose(world, 2000) * scale;
    double lowest = INFINITY, highest = 0;
    for (size_t i = 0; i < length; i++) {
        earlier[i] = (double)choose(world, 1000) * scale;
        sum += earlier[i];
        lowest = earlier[i] < lowest ? earlier[i] : lowest;
        highest = earlier[i] > highest ? earlier[i] : highest;
    }
    REFUSED(PICOLLO_ERR_EMPTY, compared, picollo_compare_runs(earlier, 0, value, &options, &compared));
    REFUSED(PICOLLO_ERR_NULL_POINTER, compared, picollo_compare_runs(NULL, length, value, &options, &compared));
    REFUSED(refused, compared, picollo_compare_runs(earlier, length, value, &bad, &compared));
    EXPECT(PICOLLO_OK, picollo_compare_runs(earlier, length, value, &options, &compared));
    SAME(length, compared.run_count);
    REQUIRE(compared.lowest == lowest && compared.highest == highest && compared.value == value);
    REQUIRE(is_near(sum / (double)length, compared.mean, 1e-9));
    /* Never finer than the spread. */
    REQUIRE(compared.difference_lower <= value - highest && compared.difference_upper >= value - lowest);
    REQUIRE(compared.difference_lower <= compared.difference && compared.difference <= compared.difference_upper);
    REQUIRE((length < 5) == ((compared.flags & PICOLLO_COMPARISON_TOO_FEW) != 0));
    check_verdict(world, compared.difference_lower, compared.difference_upper, compared.margin, compared.verdict, compared.flags);
    earlier[choose(world, length)] = rarely(world, 2) ? NAN : INFINITY;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, compared, picollo_compare_runs(earlier, length, value, &options, &compared));
}

const struct operation comparison_operations[] = {
    {"figure", op_figure, 2},
    {"quantile_interval", op_quantile_interval, 4},
    {"compare", op_compare, 5},
    {"compare_blocks", op_compare_blocks, 4},
    {"compare_runs", op_compare_runs, 2},
    {NULL, NULL, 0},
};
