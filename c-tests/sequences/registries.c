/* Registries: what a scrape reads is what an update found in the histograms, whoever still has them. */
#include "doubles.h"

#define ENTRIES 6
#define BOUNDS 8

struct taken {
    uint64_t counts[BOUNDS], total, not_finite;
    long double sum;
    int exact, negative;
};

struct registered {
    picollo_registry *registry;
    picollo_otlp_export *delta;
    /* Whether there is a request that was not accepted yet. */
    int is_sent;
    uint64_t next;
    struct entry {
        uint64_t id, label;
        const struct name *name;
        const struct model *model;
        const struct double_model *double_model;
        uint64_t bounds[BOUNDS];
        double double_bounds[BOUNDS], divisor;
        int since_reset;
        size_t length;
        struct taken taken;
    } entries[ENTRIES];
};

static const struct name {
    const char *name, *help, *unit;
} names[] = {{"alpha_seconds", "How \\ \"long\"\nreally", "seconds"}, {"beta", NULL, NULL}, {"gamma:ray", "", ""}};

static struct registered *registered_of(struct world *world)
{
    if (world->registered == NULL) {
        world->registered = (struct registered *)calloc(1, sizeof *world->registered);
        if (world->registered == NULL) abort();
    }
    if (world->registered->registry == NULL) {
        EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_registry_create(NULL));
        EXPECT(PICOLLO_OK, picollo_registry_create(&world->registered->registry));
    }
    return world->registered;
}

/* Observations of this value. */
static void take(struct entry *entry, long double value, uint64_t count)
{
    entry->taken.total += count;
    entry->taken.sum += value * count;
    if (value < 0 && count > 0) entry->taken.negative = 1;
    for (size_t i = 0; i < entry->length; i++) {
        const long double bound = entry->model != NULL ? (long double)entry->bounds[i] : (long double)entry->double_bounds[i];
        if (value <= bound) entry->taken.counts[i] += count;
    }
}

static void update_entry(struct entry *entry)
{
    memset(&entry->taken, 0, sizeof entry->taken);
    if (entry->model != NULL) {
        const struct rule *const rule = &entry->model->rule;
        struct counts now = {0};
        entry->taken.exact = entry->model->exact;
        if (!entry->taken.exact) return;
        static const struct counts none = {0};
        subtract_counts(&now, &entry->model->raw, entry->since_reset ? &entry->model->base : &none);
        for (size_t i = 0; i < now.length; i++) take(entry, now.list[i].lower + bucket_step(rule, now.list[i].lower) / 2, now.list[i].count);
        take(entry, rule->lowest > 0 ? rule->lowest - 1 : 0, now.below);
        /* How far above, nobody knows: at +Inf only. */
        entry->taken.total += now.above;
        entry->taken.sum += (rule->highest == UINT64_MAX ? (long double)rule->highest : (long double)rule->highest + 1) * now.above;
        /* More than 2^63 - 1 are not told whole. */
        entry->taken.exact = now.lost == 0 && entry->taken.total <= INT64_MAX;
        forget_counts(&now);
    } else {
        const struct observations *const now = &entry->double_model->now;
        entry->taken.exact = !entry->double_model->limited;
        entry->taken.not_finite = now->not_finite;
        for (size_t i = 0; i < now->length; i++) take(entry, double_bucket_of(now->list[i].value, entry->double_model->bits).midpoint, now->list[i].count);
        if (now->exact) entry->taken.sum = rounded_sum(&now->sum, 1);
    }
}

/* The line that begins so, or NULL. */
static const char *line_of(const char *text, const char *beginning)
{
    while (text != NULL && strncmp(text, beginning, strlen(beginning)) != 0) {
        text = strchr(text, '\n');
        if (text != NULL) text++;
    }
    return text;
}

static const char *sample_of(const char *text, const struct entry *entry, const char *suffix)
{
    char beginning[80];
    snprintf(beginning, sizeof beginning, "%s_%s{id=\"%" PRIu64 "\",", entry->name->name, suffix, entry->label);
    return line_of(text, beginning);
}

/* What stands at the end of a line. */
static uint64_t count_of_line(struct world *world, const char *line)
{
    const char *end;
    REQUIRE(line != NULL);
    end = strchr(line, '\n');
    while (end[-1] != ' ') end--;
    return strtoull(end, NULL, 10);
}

static double sum_of_line(const char *line)
{
    const char *end = strchr(line, '\n');
    while (end[-1] != ' ') end--;
    return strtod(end, NULL);
}

static int is_near(long double expected, long double actual, long double error)
{
    return expected == actual || fabsl(expected - actual) <= error * fabsl(expected) + 1e-300L;
}

static void check_entry(struct world *world, const char *text, const struct entry *entry)
{
    const struct taken *const taken = &entry->taken;
    const char *line = sample_of(text, entry, "bucket"), *sum;
    uint64_t total;
    int negative_bounds = 0;
    if (!taken->exact) return;
    for (size_t i = 0; i < entry->length; i++) {
        const long double bound = entry->model != NULL ? (long double)entry->bounds[i] : (long double)entry->double_bounds[i];
        REQUIRE(line != NULL && strstr(line, "le=\"") != NULL);
        REQUIRE(is_near(bound / entry->divisor, strtod(strstr(line, "le=\"") + 4, NULL), 1e-14L));
        SAME(taken->counts[i], count_of_line(world, line));
        line = strchr(line, '\n') + 1;
        negative_bounds |= bound < 0;
    }
    /* Without bounds of the caller's there are the library's, which count upwards to all of them. */
    for (total = 0; strstr(line, "le=\"+Inf\"") != strstr(line, "le=\""); line = strchr(line, '\n') + 1) {
        REQUIRE(entry->length == 0 && count_of_line(world, line) >= total);
        total = count_of_line(world, line);
    }
    SAME(taken->total, count_of_line(world, line));
    REQUIRE(taken->total >= total);
    sum = sample_of(text, entry, "sum");
    if (negative_bounds || taken->negative) {
        REQUIRE(sum == NULL && sample_of(text, entry, "count") == NULL);
    } else {
        /* Infinite beyond the largest double. */
        REQUIRE(sum != NULL && is_near((long double)(double)taken->sum / entry->divisor, sum_of_line(sum), 1e-12L));
        SAME(taken->total, count_of_line(world, sample_of(text, entry, "count")));
    }
    if (taken->not_finite > 0) SAME(taken->not_finite, count_of_line(world, sample_of(text, entry, "not_finite_total")));
}

static void op_write(struct world *world)
{
    struct registered *const registered = registered_of(world);
    char *text;
    size_t entries = 0, samples = 0, length = 0;
#define FORMAT(buffer, capacity, length) picollo_registry_encode(registered->registry, PICOLLO_EXPOSITION_OPENMETRICS, buffer, capacity, length)
    LISTS(text, length, FORMAT);
    /* There is none at the end. */
    text[length] = 0;
    SAME(length, strlen(text));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_encode(registered->registry, 4 + (uint32_t)choose(world, 100), NULL, 0, &length));
    for (size_t i = 0; i < ENTRIES; i++) {
        if (registered->entries[i].name == NULL) continue;
        check_entry(world, text, &registered->entries[i]);
        entries++;
    }
    for (const char *at = text; (at = strstr(at, "le=\"+Inf\"")) != NULL; at++) samples++;
    SAME(entries, samples);
    REQUIRE(strlen(text) >= 6 && strcmp(text + strlen(text) - 6, "# EOF\n") == 0);
    free(text);
}

static void op_update(struct world *world)
{
    struct registered *const registered = registered_of(world);
    EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_registry_update(NULL));
    EXPECT(PICOLLO_OK, picollo_registry_update(registered->registry));
    for (size_t i = 0; i < ENTRIES; i++) {
        if (registered->entries[i].name == NULL) continue;
        update_entry(&registered->entries[i]);
        if (PLANTED(4)) registered->entries[i].taken.total++;
    }
    op_write(world);
}

static int by_bound(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* What is refused changes nothing: the next text would show it. */
static void refuse(struct world *world, picollo_registry *registry, picollo_histogram *histogram, picollo_double_histogram *doubles,
                   picollo_metric_options metric)
{
    static const uint64_t descending[] = {5, 4}, same[] = {4, 4};
    static const double infinite[] = {1, INFINITY}, nan[] = {NAN}, down[] = {1, -1};
    static const picollo_label le[] = {{"le", "1"}}, latin[] = {{"a", NO_TEXT}}, twice[] = {{"a", "1"}, {"a", "2"}};
    static const picollo_label *const labels[] = {le, latin, twice};
    const size_t which = (size_t)choose(world, 3);
    picollo_status expected = PICOLLO_ERR_INVALID_ARGUMENT;
    uint64_t id;
    switch (choose(world, 9)) {
    /* Below that of the first version. */
    case 0: metric.struct_size = (uint32_t)choose(world, offsetof(picollo_metric_options, max_buckets)); break;
    case 1: metric.flags = 16u << choose(world, 28); expected = PICOLLO_ERR_UNSUPPORTED; break;
    case 2: metric.name = which == 0 ? "" : which == 1 ? "9x" : NO_TEXT; metric.unit = NULL; break;
    case 3: metric.labels = labels[which]; metric.labels_length = which == 2 ? 2 : 1; break;
    case 4: metric.labels = NULL; expected = PICOLLO_ERR_NULL_POINTER; break;
    case 5: metric.unit = "bytes"; break;
    case 6: metric.divisor = which == 0 ? -1 : which == 1 ? NAN : INFINITY; break;
    case 7: metric.name = NULL; break;
    default:
        if (histogram != NULL) REFUSED(expected, id, picollo_registry_add(registry, histogram, &metric, which ? descending : same, 2, &id));
        if (doubles != NULL) REFUSED(expected, id, picollo_registry_add_double(registry, doubles, &metric, which ? infinite : down, 2, &id));
        if (doubles != NULL) REFUSED(expected, id, picollo_registry_add_double(registry, doubles, &metric, nan, 1, &id));
        return;
    }
    if (histogram != NULL) REFUSED(expected, id, picollo_registry_add(registry, histogram, &metric, NULL, 0, &id));
    if (doubles != NULL) REFUSED(expected, id, picollo_registry_add_double(registry, doubles, &metric, NULL, 0, &id));
}

static void op_add(struct world *world)
{
    static const double divisors[] = {0, 1, 1000, 1e9};
    struct registered *const registered = registered_of(world);
    struct entry *const entry = &registered->entries[choose(world, ENTRIES)];
    const size_t slot = pick(world), of_doubles = (size_t)choose(world, DOUBLES);
    const int is_double = rarely(world, 3);
    picollo_histogram *const histogram = is_double ? NULL : world->histograms[slot];
    picollo_double_histogram *const doubles = is_double ? doubles_of(world)->histograms[of_doubles] : NULL;
    uint64_t id;
    char number[24];
    picollo_label labels[2] = {{"zone", any_title(world)}, {"id", number}};
    picollo_metric_options metric = {.struct_size = sizeof metric, .labels = labels, .labels_length = 2};
    struct entry added;
    if ((histogram == NULL && doubles == NULL) || entry->name != NULL) return;
    memset(&added, 0, sizeof added);
    added.name = &names[choose(world, 3)];
    added.label = ++registered->next;
    snprintf(number, sizeof number, "%" PRIu64, added.label);
    metric.name = added.name->name;
    metric.help = added.name->help;
    metric.unit = added.name->unit;
    metric.flags = (uint32_t)choose(world, 8);
    metric.max_buckets = (uint32_t)choose(world, 400);
    added.since_reset = (metric.flags & PICOLLO_METRIC_SINCE_RESET) != 0;
    metric.divisor = divisors[choose(world, 4)];
    metric.created_unix_nanos = choose(world, 0);
    added.divisor = metric.divisor == 0 ? 1 : metric.divisor;
    for (uint64_t number_of_bounds = choose(world, BOUNDS + 1); added.length < number_of_bounds; added.length++) {
        added.double_bounds[added.length] = floor(ldexp((double)choose(world, 1000) + 1, (int)choose(world, 40)));
        if (is_double && rarely(world, 16)) added.double_bounds[added.length] *= -1;
    }
    qsort(added.double_bounds, added.length, sizeof *added.double_bounds, by_bound);
    for (size_t i = 0; i < added.length; i++) {
        added.bounds[i] = (uint64_t)fabs(added.double_bounds[i]);
        if (i > 0 && added.double_bounds[i] == added.double_bounds[i - 1]) added.length = i;
    }
    if (rarely(world, 2)) refuse(world, registered->registry, histogram, doubles, metric);
    if (is_double) {
        added.double_model = doubles_of(world)->models[of_doubles];
        EXPECT(PICOLLO_OK, picollo_registry_add_double(registered->registry, doubles, &metric, added.double_bounds, added.length, &added.id));
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, id, picollo_registry_add_double(registered->registry, doubles, &metric, NULL, 0, &id));
    } else {
        added.model = world->histogram_models[slot];
        EXPECT(PICOLLO_OK, picollo_registry_add(registered->registry, histogram, &metric, added.bounds, added.length, &added.id));
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add(registered->registry, histogram, &metric, NULL, 0, NULL));
    }
    REQUIRE(added.id != 0);
    /* Nothing, until the next update. */
    added.taken.exact = 1;
    *entry = added;
    op_write(world);
}

static void op_remove(struct world *world)
{
    struct registered *const registered = registered_of(world);
    struct entry *const entry = &registered->entries[choose(world, ENTRIES)];
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_remove(registered->registry, UINT64_MAX - choose(world, 1000)));
    if (entry->name == NULL) return;
    EXPECT(PICOLLO_OK, picollo_registry_remove(registered->registry, entry->id));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_remove(registered->registry, entry->id));
    memset(entry, 0, sizeof *entry);
    op_write(world);
}

/* Exemplars are written once each, and gone when they are taken away. */
static void op_exemplars(struct world *world)
{
    struct registered *const registered = registered_of(world);
    const struct entry *const entry = &registered->entries[choose(world, ENTRIES)];
    const picollo_label label = {"where", "here"};
    picollo_metric_exemplar exemplar = {.value = (double)choose(world, 1000000), .unix_nanos = choose(world, 0)};
    char *text;
    size_t length = 0;
    if (entry->name == NULL) return;
    exemplar.trace_id[choose(world, 16)] = (uint8_t)(1 + choose(world, 255));
    exemplar.labels = &label;
    exemplar.labels_length = (size_t)choose(world, 2);
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_set_exemplars(registered->registry, UINT64_MAX, &exemplar, 1));
    EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_registry_set_exemplars(registered->registry, entry->id, NULL, 1));
    EXPECT(PICOLLO_OK, picollo_registry_set_exemplars(registered->registry, entry->id, &exemplar, 1));
    LISTS(text, length, FORMAT);
    text[length] = 0;
    {
        const char *const found = strstr(text, " # {trace_id=\"");
        REQUIRE(found != NULL && strstr(found + 1, " # {") == NULL && (strstr(found, "where") != NULL) == (exemplar.labels_length == 1));
    }
    free(text);
    EXPECT(PICOLLO_OK, picollo_registry_set_exemplars(registered->registry, entry->id, NULL, 0));
    op_write(world);
}

/* Requests, accepted now and then. */
static void op_push(struct world *world)
{
    static const picollo_label resource[] = {{"service.name", "a"}};
    struct registered *const registered = registered_of(world);
    picollo_otlp_options options = PICOLLO_OTLP_OPTIONS_INIT;
    unsigned char *bytes;
    size_t length = 0;
    if (registered->delta == NULL) {
        options.temporality = (uint32_t)choose(world, 2);
        options.resource = resource;
        options.resource_length = (size_t)choose(world, 2);
        EXPECT(PICOLLO_OK, picollo_otlp_export_create(&options, &registered->delta));
        registered->is_sent = 0;
    }
    if (rarely(world, 2)) {
        EXPECT(PICOLLO_OK, picollo_otlp_export_update(registered->delta, registered->registry));
        registered->is_sent = 1;
        for (size_t i = 0; i < ENTRIES; i++) {
            if (registered->entries[i].name != NULL) update_entry(&registered->entries[i]);
        }
    }
#define REQUEST(buffer, capacity, length) picollo_otlp_export_request(registered->delta, buffer, capacity, length)
    LISTS(bytes, length, REQUEST);
    free(bytes);
    REQUIRE((length != 0) == registered->is_sent);
    if (rarely(world, 2)) {
        EXPECT(registered->is_sent ? PICOLLO_OK : PICOLLO_ERR_EMPTY, picollo_otlp_export_accept(registered->delta));
        registered->is_sent = 0;
    }
    op_write(world);
}

static void op_free(struct world *world)
{
    struct registered *const registered = registered_of(world);
    picollo_registry_free(registered->registry);
    picollo_registry_free(NULL);
    picollo_otlp_export_free(registered->delta);
    picollo_otlp_export_free(NULL);
    memset(registered, 0, sizeof *registered);
}

void end_registry(struct world *world)
{
    if (world->registered == NULL) return;
    picollo_registry_free(world->registered->registry);
    picollo_otlp_export_free(world->registered->delta);
    free(world->registered);
}

const struct operation registry_operations[] = {
    {"registry_add", op_add, 5},
    {"registry_update", op_update, 5},
    {"registry_remove", op_remove, 2},
    {"registry_set_exemplars", op_exemplars, 2},
    {"otlp_export_update", op_push, 3},
    {"registry_free", op_free, 1},
    {NULL, NULL, 0},
};
