/* Collectors of exemplars count every observation, whatever else happens meanwhile. crates/why tests which they keep. */
#include "buffers.h"

/* Longer than any scope here, so that offers are slower than measurements. */
#define LONG UINT64_C(1000000000000)

struct collected {
    picollo_exemplars *handle;
    picollo_histogram *histogram;
    picollo_exemplar_scope scope;
    int is_open;
    uint64_t observations, ended_observations;
    /* Whether an interval has ended. */
    int has_ended;
};

static struct collected *collected_of(struct world *world)
{
    if (world->collected == NULL) world->collected = (struct collected *)calloc(1, sizeof *world->collected);
    if (world->collected == NULL) abort();
    return world->collected;
}

static void op_create(struct world *world)
{
    struct collected *const collected = collected_of(world);
    picollo_exemplars_options options = PICOLLO_EXEMPLARS_OPTIONS_INIT;
    picollo_error error;
    picollo_exemplars_free(collected->handle);
    picollo_exemplars_free(NULL);
    picollo_histogram_free(collected->histogram);
    memset(collected, 0, sizeof *collected);
    EXPECT(PICOLLO_OK, picollo_histogram_create(NULL, &collected->histogram));
    options.slowest = (uint32_t)choose(world, 20);
    options.threshold = rarely(world, 2) ? LONG / 2 : 0;
    options.flags = PICOLLO_EXEMPLARS_NO_RING | (rarely(world, 4) ? PICOLLO_EXEMPLARS_NO_SLOWEST : 0) | (rarely(world, 4) ? PICOLLO_EXEMPLARS_COUNTERS : 0);
    options.controls = 1 + (uint32_t)choose(world, 1000);
    EXPECT(PICOLLO_OK, picollo_exemplars_create(collected->histogram, &options, &collected->handle, &error));
    if (rarely(world, 4)) {
        const picollo_status status = picollo_exemplars_prepare_thread(collected->handle, &error);
        /* Counters may be refused for any reason. */
        REQUIRE(status == PICOLLO_OK || status == PICOLLO_ERR_UNSUPPORTED || options.flags & PICOLLO_EXEMPLARS_COUNTERS);
    }
}

static struct collected *made(struct world *world)
{
    if (collected_of(world)->handle == NULL) op_create(world);
    return world->collected;
}

static void op_scope(struct world *world)
{
    struct collected *const collected = made(world);
    const picollo_exemplar_context context = {{1}, {2}, {choose(world, 0), 0}};
    if (!collected->is_open) {
        picollo_exemplars_begin(collected->handle, &collected->scope);
        collected->scope.label = (uint32_t)choose(world, 20);
        collected->is_open = 1;
        return;
    }
    const uint32_t kept = picollo_exemplars_end(collected->handle, &collected->scope);
    REQUIRE(kept == 0 || kept == PICOLLO_EXEMPLAR_KEPT);
    SAME(0, picollo_exemplars_end(collected->handle, &collected->scope));
    EXPECT(PICOLLO_OK, picollo_exemplars_annotate(collected->handle, &collected->scope, &context));
    EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_exemplars_annotate(collected->handle, NULL, &context));
    collected->is_open = 0;
    collected->observations++;
}

static void op_offer(struct world *world)
{
    struct collected *const collected = made(world);
    const uint64_t value = LONG + choose(world, LONG);
    const picollo_exemplar_context context = {{0}, {0}, {value, 1}};
    const uint32_t kept = picollo_exemplars_offer(collected->handle, value, &context);
    REQUIRE(kept == 0 || kept == PICOLLO_EXEMPLAR_KEPT);
    collected->observations++;
}

static void op_collect(struct world *world)
{
    struct collected *const collected = made(world);
    EXPECT(PICOLLO_OK, picollo_exemplars_collect(collected->handle, NULL));
    collected->ended_observations = collected->observations;
    collected->observations = 0;
    collected->has_ended = 1;
}

static void op_read(struct world *world)
{
    struct collected *const collected = made(world);
    picollo_exemplar_interval interval;
    picollo_exemplar exemplar;
    if (!collected->has_ended) {
        EXPECT(PICOLLO_ERR_EMPTY, picollo_exemplars_interval(collected->handle, &interval));
        EXPECT(PICOLLO_ERR_EMPTY, picollo_exemplars_get(collected->handle, 0, &exemplar));
        return;
    }
    EXPECT(PICOLLO_OK, picollo_exemplars_interval(collected->handle, &interval));
    SAME(collected->ended_observations + (uint64_t)(PLANTED(8) ? 1 : 0), interval.observations);
    uint64_t last = UINT64_MAX;
    for (size_t i = 0; i < interval.length; i++) {
        EXPECT(PICOLLO_OK, picollo_exemplars_get(collected->handle, i, &exemplar));
        REQUIRE(exemplar.value <= last && exemplar.cause >= 1 && exemplar.cause <= PICOLLO_CAUSE_NOT_KNOWN);
        last = exemplar.value;
        if (exemplar.value < LONG) continue;
        SAME(exemplar.value, exemplar.context.words[0]);
        SAME(PICOLLO_MISSING_TIMED_ELSEWHERE, exemplar.missing);
        SAME(PICOLLO_CAUSE_NOT_KNOWN, exemplar.cause);
    }
    EXPECT(PICOLLO_END, picollo_exemplars_get(collected->handle, (size_t)interval.length, &exemplar));
}

void end_exemplars(struct world *world)
{
    if (world->collected == NULL) return;
    picollo_histogram_free(world->collected->histogram);
    picollo_exemplars_free(world->collected->handle);
    free(world->collected);
}

const struct operation exemplar_operations[] = {
    {"a collector", op_create, 1},
    {"a scope of a collector", op_scope, 6},
    {"an offer to a collector", op_offer, 6},
    {"the end of a collector's interval", op_collect, 2},
    {"an interval of a collector", op_read, 2},
    {NULL, NULL, 0},
};
