/* Registries: a scrape reads what an update found in histograms, counters and gauges, whoever still owns them; and
 * which objects keep which alive. Core tests the rest of the text. */
#include "buffers.h"

#define ENTRIES 9

struct registered {
    picollo_registry *registry;
    /* Of this registry, or of an earlier one, which it keeps alive. */
    picollo_server *server;
    uint64_t next;
    struct entry {
        /* 0: the entry is empty. */
        uint64_t number;
        /* 0 after its removal from the registry. */
        uint64_t id;
        /* Exactly one of these is set. */
        const struct model *model;
        picollo_metric_counter *counter;
        picollo_metric_gauge *gauge;
        int since_reset, is_known;
        uint64_t count, taken_count;
        double value, taken_value;
    } entries[ENTRIES];
};

static struct registered *registered_of(struct world *world)
{
    if (world->registered == NULL) world->registered = (struct registered *)calloc(1, sizeof *world->registered);
    if (world->registered == NULL) abort();
    if (world->registered->registry == NULL) EXPECT(PICOLLO_OK, picollo_registry_create(&world->registered->registry));
    return world->registered;
}

static struct entry *any_entry(struct world *world)
{
    return &registered_of(world)->entries[choose(world, ENTRIES)];
}

/* The value of an entry in a text, or NULL. */
static const char *sample_of(const char *text, const struct entry *entry)
{
    char beginning[48];
    snprintf(beginning, sizeof beginning, "\nm_%" PRIu64 "%s{", entry->number, entry->model != NULL ? "_count" : entry->counter != NULL ? "_total" : "");
    const char *const line = strstr(text, beginning);
    return line == NULL ? NULL : strstr(line, "} ") + 2;
}

static void op_write(struct world *world)
{
    const struct registered *const registered = registered_of(world);
    char *const text = text_of_registry(world, registered->registry, (uint32_t)choose(world, 2));
    for (size_t i = 0; i < ENTRIES; i++) {
        const struct entry *const entry = &registered->entries[i];
        if (entry->number == 0) continue;
        const char *const sample = sample_of(text, entry);
        REQUIRE((sample != NULL) == (entry->id != 0));
        if (sample == NULL) continue;
        if (entry->gauge != NULL) REQUIRE(strtod(sample, NULL) == entry->taken_value);
        else if (entry->is_known) SAME(entry->taken_count, strtoull(sample, NULL, 10));
    }
    free(text);
}

static void op_update(struct world *world)
{
    struct registered *const registered = registered_of(world);
    EXPECT(PICOLLO_OK, picollo_registry_update(registered->registry));
    for (size_t i = 0; i < ENTRIES; i++) {
        struct entry *const entry = &registered->entries[i];
        entry->taken_count = entry->count;
        entry->taken_value = entry->value;
        if (entry->model != NULL) {
            entry->taken_count = everything(&entry->model->raw) - (entry->since_reset ? everything(&entry->model->base) : 0);
            /* Values above 2^63 - 1 are not written exactly. */
            entry->is_known = entry->model->exact && entry->taken_count <= INT64_MAX;
        }
        if (PLANTED(2)) entry->taken_count++;
    }
    op_write(world);
}

/* A refused call changes nothing: the next text would show it. */
static void refuse(struct world *world, picollo_registry *registry, picollo_histogram *histogram, picollo_metric_options metric)
{
    static const picollo_label latin = {"a", NO_TEXT};
    static const uint64_t descending[] = {5, 4};
    picollo_status expected = PICOLLO_ERR_INVALID_ARGUMENT;
    size_t bounds = 0;
    uint64_t id;
    switch (choose(world, 5)) {
    case 0: metric.flags = 32u << choose(world, 27); expected = PICOLLO_ERR_UNSUPPORTED; break;
    case 1: metric.name = rarely(world, 2) ? NULL : "9x"; break;
    case 2: metric.labels = &latin; break;
    case 3: metric.divisor = NAN; break;
    default: bounds = 2; break;
    }
    REFUSED(expected, id, picollo_registry_add(registry, histogram, &metric, descending, bounds, &id, NULL));
}

static void op_add(struct world *world)
{
    static const uint64_t bounds[] = {10, 1000, 1000000};
    struct registered *const registered = registered_of(world);
    struct entry *const entry = any_entry(world);
    const size_t slot = pick(world);
    picollo_histogram *const histogram = world->histograms[slot];
    const picollo_label label = {"zone", any_title(world)};
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    struct entry added = {.is_known = 1};
    char name[24];
    if (entry->number != 0) return;
    added.number = ++registered->next;
    snprintf(name, sizeof name, "m_%" PRIu64, added.number);
    metric.name = name;
    metric.labels = &label;
    metric.labels_length = 1;
    switch (choose(world, 4)) {
    case 0:
        EXPECT(PICOLLO_OK, picollo_registry_add_counter(registered->registry, &metric, &added.counter, &added.id, NULL));
        break;
    case 1:
        EXPECT(PICOLLO_OK, picollo_registry_add_gauge(registered->registry, &metric, &added.gauge, &added.id, NULL));
        break;
    default:
        if (histogram == NULL) return;
        refuse(world, registered->registry, histogram, metric);
        metric.flags = (uint32_t)choose(world, 8);
        metric.max_buckets = (uint32_t)choose(world, 400);
        added.since_reset = (metric.flags & PICOLLO_METRIC_SINCE_RESET) != 0;
        added.model = world->histogram_models[slot];
        EXPECT(PICOLLO_OK, picollo_registry_add(registered->registry, histogram, &metric, bounds, (size_t)choose(world, 4), &added.id, NULL));
    }
    /* Its name is taken, for every kind of metric. */
    picollo_metric_counter *counter;
    picollo_metric_gauge *gauge;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, counter, picollo_registry_add_counter(registered->registry, &metric, &counter, NULL, NULL));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, gauge, picollo_registry_add_gauge(registered->registry, &metric, &gauge, NULL, NULL));
    REQUIRE(added.id != 0);
    /* It is not written until the next update. */
    *entry = added;
    op_write(world);
}

static void op_count(struct world *world)
{
    struct entry *const entry = any_entry(world);
    if (entry->counter != NULL) {
        const uint64_t count = any_value(world);
        uint64_t read = 0;
        picollo_metric_counter_add(entry->counter, count);
        entry->count += count;
        EXPECT(PICOLLO_OK, picollo_metric_counter_read(entry->counter, &read));
        SAME(entry->count, read);
    } else if (entry->gauge != NULL) {
        /* Values have few bits, so that sums are exact. */
        const double value = ((double)choose(world, 2000) - 1000) / 4;
        double read = 0;
        if (rarely(world, 2)) {
            picollo_metric_gauge_set(entry->gauge, value);
            entry->value = value;
        } else {
            picollo_metric_gauge_add(entry->gauge, value);
            entry->value += value;
        }
        EXPECT(PICOLLO_OK, picollo_metric_gauge_read(entry->gauge, &read));
        REQUIRE(read == entry->value);
    }
}

static void op_remove(struct world *world)
{
    struct registered *const registered = registered_of(world);
    struct entry *const entry = any_entry(world);
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_remove(registered->registry, UINT64_MAX - choose(world, 1000)));
    if (entry->id == 0) return;
    EXPECT(PICOLLO_OK, picollo_registry_remove(registered->registry, entry->id));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_remove(registered->registry, entry->id));
    entry->id = 0;
    if (entry->model != NULL) memset(entry, 0, sizeof *entry);
    op_write(world);
}

/* Each owner of a handle may count, with or without the registry. */
static void op_give_back(struct world *world)
{
    struct entry *const entry = any_entry(world);
    if (entry->id != 0) return;
    picollo_metric_counter_free(entry->counter);
    picollo_metric_gauge_free(entry->gauge);
    memset(entry, 0, sizeof *entry);
}

static void op_serve(struct world *world)
{
    struct registered *const registered = registered_of(world);
    picollo_server *server;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, server, picollo_server_start(registered->registry, "nowhere", NULL, &server, NULL));
    if (registered->server == NULL) EXPECT(PICOLLO_OK, picollo_server_start(registered->registry, "0", NULL, &registered->server, NULL));
    char address[32];
    size_t length;
    EXPECT(PICOLLO_OK, picollo_server_address(registered->server, address, sizeof address, &length));
    REQUIRE(strncmp(address, "127.0.0.1:", 10) == 0 && length == strlen(address));
}

static void op_stop(struct world *world)
{
    struct registered *const registered = registered_of(world);
    picollo_server_stop(registered->server);
    registered->server = NULL;
}

static void op_free(struct world *world)
{
    struct registered *const registered = registered_of(world);
    picollo_registry_free(registered->registry);
    registered->registry = NULL;
    for (size_t i = 0; i < ENTRIES; i++) {
        registered->entries[i].id = 0;
        if (registered->entries[i].model != NULL) memset(&registered->entries[i], 0, sizeof registered->entries[i]);
    }
}

void end_registry(struct world *world)
{
    if (world->registered == NULL) return;
    picollo_registry_free(world->registered->registry);
    picollo_server_stop(world->registered->server);
    for (size_t i = 0; i < ENTRIES; i++) {
        picollo_metric_counter_free(world->registered->entries[i].counter);
        picollo_metric_gauge_free(world->registered->entries[i].gauge);
    }
    free(world->registered);
}

const struct operation registry_operations[] = {
    {"registry_add", op_add, 9},
    {"registry_update", op_update, 9},
    {"counter_add or gauge_add", op_count, 6},
    {"registry_remove", op_remove, 3},
    {"counter_free or gauge_free", op_give_back, 2},
    {"registry_free", op_free, 1},
    {"server_start", op_serve, 1},
    {"server_stop", op_stop, 1},
    {NULL, NULL, 0},
};
