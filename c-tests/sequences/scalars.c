/* Counters and gauges of a registry: counted by whoever has a handle, written while the registry has them, and alive while anybody does. */
#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "world.h"

#define SCALARS 6

struct scalars {
    picollo_registry *registry;
    uint64_t next;
    struct scalar {
        /* Which of the two it is; none of an empty place. */
        picollo_metric_counter *counter;
        picollo_metric_gauge *gauge;
        /* 0 once the registry has it no more. */
        uint64_t id;
        uint64_t number, count, taken_count;
        double value, taken_value;
    } all[SCALARS];
};

static struct scalars *scalars_of(struct world *world)
{
    if (world->scalars == NULL) {
        world->scalars = (struct scalars *)calloc(1, sizeof *world->scalars);
        if (world->scalars == NULL) abort();
    }
    if (world->scalars->registry == NULL) EXPECT(PICOLLO_OK, picollo_registry_create(&world->scalars->registry));
    return world->scalars;
}

static struct scalar *any_scalar(struct world *world)
{
    return &scalars_of(world)->all[choose(world, SCALARS)];
}

static void op_add(struct world *world)
{
    struct scalars *const scalars = scalars_of(world);
    struct scalar *const scalar = any_scalar(world);
    picollo_metric_counter *counter = NULL;
    picollo_metric_gauge *gauge = NULL;
    struct scalar made;
    uint64_t id = 77;
    char name[32];
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    const int is_counter = (int)choose(world, 2);
    if (scalar->counter != NULL || scalar->gauge != NULL) return;
    memset(&made, 0, sizeof made);
    made.number = ++scalars->next;
    /* Names of OpenTelemetry, too, which are written with underscores here. */
    snprintf(name, sizeof name, rarely(world, 3) ? "m.x-%" PRIu64 : "m_x_%" PRIu64, made.number);
    metric.name = name;
    if (is_counter) {
        EXPECT(PICOLLO_OK, picollo_registry_add_counter(scalars->registry, &metric, &made.counter, &made.id));
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_counter(scalars->registry, &metric, &counter, &id));
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_gauge(scalars->registry, &metric, &gauge, NULL));
    } else {
        EXPECT(PICOLLO_OK, picollo_registry_add_gauge(scalars->registry, &metric, &made.gauge, &made.id));
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_gauge(scalars->registry, &metric, &gauge, &id));
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_counter(scalars->registry, &metric, &counter, NULL));
    }
    metric.name = "9";
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add_counter(scalars->registry, &metric, &counter, &id));
    REQUIRE(counter == NULL && gauge == NULL && made.id != 0);
    *scalar = made;
}

static void op_count(struct world *world)
{
    struct scalar *const scalar = any_scalar(world);
    if (scalar->counter != NULL) {
        const uint64_t count = any_value(world);
        uint64_t read = 0;
        picollo_metric_counter_add(scalar->counter, count);
        scalar->count += count;
        EXPECT(PICOLLO_OK, picollo_metric_counter_read(scalar->counter, &read));
        EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_metric_counter_read(scalar->counter, NULL));
        SAME(scalar->count, read);
    } else if (scalar->gauge != NULL) {
        /* Of few bits, so that sums are exact. */
        const double value = ((double)choose(world, 2000) - 1000) / 4;
        double read = 0;
        if (rarely(world, 2)) {
            picollo_metric_gauge_set(scalar->gauge, value);
            scalar->value = value;
        } else {
            picollo_metric_gauge_add(scalar->gauge, value);
            scalar->value += value;
        }
        EXPECT(PICOLLO_OK, picollo_metric_gauge_read(scalar->gauge, &read));
        EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_metric_gauge_read(scalar->gauge, NULL));
        REQUIRE(read == scalar->value);
    }
}

/* The number behind a name at the beginning of a line, or NULL. */
static const char *sample_of(const char *text, const struct scalar *scalar)
{
    char start[48];
    const char *found;
    snprintf(start, sizeof start, "\nm_x_%" PRIu64 "%s ", scalar->number, scalar->counter != NULL ? "_total" : "");
    found = strstr(text, start);
    return found == NULL ? NULL : found + strlen(start);
}

static void op_scrape(struct world *world)
{
    struct scalars *const scalars = scalars_of(world);
    char *text;
    size_t length = 0;
    if (rarely(world, 2)) {
        EXPECT(PICOLLO_OK, picollo_registry_update(scalars->registry));
        for (size_t i = 0; i < SCALARS; i++) {
            scalars->all[i].taken_count = scalars->all[i].count + (PLANTED(12) ? 1 : 0);
            scalars->all[i].taken_value = scalars->all[i].value;
        }
    }
#define FORMAT(buffer, capacity, length) \
    picollo_registry_encode(scalars->registry, PICOLLO_EXPOSITION_PROMETHEUS_TEXT, buffer, capacity, length)
    LISTS(text, length, FORMAT);
    text[length] = 0;
    for (size_t i = 0; i < SCALARS; i++) {
        const struct scalar *const scalar = &scalars->all[i];
        const char *const sample = scalar->counter == NULL && scalar->gauge == NULL ? NULL : sample_of(text, scalar);
        REQUIRE((sample != NULL) == (scalar->id != 0));
        if (sample == NULL) continue;
        if (scalar->counter != NULL) SAME(scalar->taken_count, strtoull(sample, NULL, 10));
        else REQUIRE(strtod(sample, NULL) == scalar->taken_value);
    }
    free(text);
}

static void op_remove(struct world *world)
{
    struct scalars *const scalars = scalars_of(world);
    struct scalar *const scalar = any_scalar(world);
    if (scalar->id == 0) return;
    EXPECT(PICOLLO_OK, picollo_registry_remove(scalars->registry, scalar->id));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_remove(scalars->registry, scalar->id));
    scalar->id = 0;
}

/* Handles that are given back while the registry has the metric are gone for good: it goes on being written, and nobody can count. */
static void op_give_back(struct world *world)
{
    struct scalar *const scalar = any_scalar(world);
    REQUIRE(picollo_metric_counter_retain(NULL) == NULL && picollo_metric_gauge_retain(NULL) == NULL);
    REQUIRE(picollo_metric_counter_retain(scalar->counter) == scalar->counter);
    REQUIRE(picollo_metric_gauge_retain(scalar->gauge) == scalar->gauge);
    picollo_metric_counter_free(scalar->counter);
    picollo_metric_gauge_free(scalar->gauge);
    if (scalar->id != 0) return;
    picollo_metric_counter_free(scalar->counter);
    picollo_metric_gauge_free(scalar->gauge);
    memset(scalar, 0, sizeof *scalar);
}

static void op_free(struct world *world)
{
    struct scalars *const scalars = scalars_of(world);
    picollo_registry_free(scalars->registry);
    scalars->registry = NULL;
    for (size_t i = 0; i < SCALARS; i++) scalars->all[i].id = 0;
}

/* What a scraper may ask for, and what is nonsense. */
static void op_negotiate(struct world *world)
{
    static const char *const pieces[] = {
        "application/openmetrics-text", "text/plain", "application/vnd.google.protobuf", "*/*", "text/*", ";q=0.5", ";q=0", ";q=1.5", ";version=1.0.0",
        ";version=0.0.4", ";proto=io.prometheus.client.MetricFamily;encoding=delimited", ";escaping=allow-utf-8", ",", ";", "\"", "\\", " ", "\xff", "q",
    };
    static const char *const types[] = {"application/openmetrics-text", "text/plain", "application/vnd.google.protobuf"};
    char accept[1024] = "", *type;
    uint32_t format = 77, again = 78;
    size_t length = 0;
    for (uint64_t number = choose(world, 12); number > 0; number--) strcat(accept, pieces[choose(world, sizeof pieces / sizeof *pieces)]);
#define NEGOTIATE(buffer, capacity, length) picollo_registry_negotiate(accept, &format, buffer, capacity, length)
    /* Text has a NUL, unlike expositions. */
    EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, NEGOTIATE(NULL, 0, &length));
    type = (char *)malloc(length + 1);
    EXPECT(PICOLLO_OK, NEGOTIATE(type, length + 1, &length));
    SAME(length, strlen(type));
    REQUIRE(format < 3 && strncmp(type, types[format], strlen(types[format])) == 0);
    EXPECT(PICOLLO_OK, picollo_registry_negotiate(accept, &again, type, length + 1, &length));
    SAME(format, again);
    /* Nothing of ours is in it. */
    if (strchr(accept, '/') == NULL) SAME(PICOLLO_EXPOSITION_PROMETHEUS_TEXT, format);
    EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_registry_negotiate(accept, NULL, type, length + 1, &length));
    free(type);
    EXPECT(PICOLLO_OK, picollo_registry_negotiate(NULL, &format, accept, sizeof accept, &length));
    SAME(PICOLLO_EXPOSITION_PROMETHEUS_TEXT, format);
}

void end_scalars(struct world *world)
{
    if (world->scalars == NULL) return;
    picollo_registry_free(world->scalars->registry);
    for (size_t i = 0; i < SCALARS; i++) {
        picollo_metric_counter_free(world->scalars->all[i].counter);
        picollo_metric_gauge_free(world->scalars->all[i].gauge);
    }
    free(world->scalars);
}

const struct operation scalar_operations[] = {
    {"scalar_add", op_add, 4},
    {"scalar_count", op_count, 6},
    {"scalar_scrape", op_scrape, 4},
    {"scalar_remove", op_remove, 1},
    {"scalar_give_back", op_give_back, 1},
    {"scalar_free", op_free, 1},
    {"negotiate", op_negotiate, 2},
    {NULL, NULL, 0},
};
