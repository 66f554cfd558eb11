/* Records without a call, and those of scopes and their clocks. */
#include "buffers.h"

static void op_take_recorder(struct world *world)
{
    const size_t slot = pick(world), place = pick(world);
    struct model *const model = world->histogram_models[slot];
    picollo_recorder recorder;
    picollo_status expected = PICOLLO_OK;
    if (world->histograms[slot] == NULL) return;
    if (model->storage == PICOLLO_STORAGE_SPARSE || model->mode == PICOLLO_MODE_INTERLOCKED || model->mode >= PICOLLO_MODE_SCALABLE)
        expected = PICOLLO_ERR_UNSUPPORTED;
    EXPECT(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_recorder(world->histograms[slot], 2 + (uint32_t)choose(world, 99), &recorder));
    EXPECT(expected, picollo_histogram_recorder(world->histograms[slot], PICOLLO_INLINE_VERSION, &recorder));
    if (expected != PICOLLO_OK) return;
    picollo_recorder_release(&world->recorders[place]);
    world->recorders[place] = recorder;
    world->recorder_models[place] = model;
}

static void op_release_recorder(struct world *world)
{
    picollo_recorder_release(&world->recorders[pick(world)]);
}

static void op_record_inline(struct world *world)
{
    const size_t place = pick(world);
    if (world->recorders[place].histogram == NULL) return;
    for (uint64_t number = choose(world, 20); number > 0; number--) {
        const uint64_t value = any_value(world);
        picollo_recorder_record(&world->recorders[place], value);
        count_value(&world->recorder_models[place]->raw, &world->recorder_models[place]->rule, value, 1);
    }
    settle(world->recorder_models[place]);
}

/* Borrows, so it is used at once. */
static void op_record_atomically(struct world *world)
{
    const size_t slot = pick(world);
    struct model *const model = world->histogram_models[slot];
    picollo_atomic_recorder recorder;
    picollo_status expected = PICOLLO_OK;
    if (world->histograms[slot] == NULL) return;
    if (model->storage == PICOLLO_STORAGE_SPARSE || model->mode != PICOLLO_MODE_INTERLOCKED || model->bits == 32)
        expected = PICOLLO_ERR_UNSUPPORTED;
    EXPECT(expected, picollo_histogram_atomic_recorder(world->histograms[slot], PICOLLO_INLINE_VERSION, &recorder));
    if (expected != PICOLLO_OK) return;
    for (uint64_t number = choose(world, 20); number > 0; number--) {
        const uint64_t value = any_value(world);
        picollo_atomic_recorder_record(&recorder, value);
        count_value(&model->raw, &model->rule, value, 1);
    }
    settle(model);
}

static void op_scope(struct world *world)
{
    static const uint32_t clocks[] = {PICOLLO_CLOCK_MONOTONIC, PICOLLO_CLOCK_TSC, 99}, units[] = {0, 1, 2, 3, 4, 99};
    const size_t slot = pick(world);
    const uint32_t clock = clocks[choose(world, 3)], unit = units[choose(world, 6)];
    picollo_histogram *const histogram = rarely(world, 4) ? NULL : world->histograms[slot];
    picollo_scope scope;
    uint64_t elapsed, hertz = 0;
    EXPECT(PICOLLO_OK, picollo_clock_init());
    /* Whatever it is, no two histograms pass for one. */
    picollo_seed_identities(choose(world, 0));
    EXPECT(clock == 99 ? PICOLLO_ERR_INVALID_ARGUMENT : PICOLLO_OK, picollo_clock_frequency(clock, &hertz));
    REQUIRE((clock == 99) == (picollo_clock_ticks(clock) == 0) && (clock == 99) == (hertz == 0));
    REQUIRE((clock == 99) == (picollo_clock_ticks_ordered(clock) == 0));
    SAME(0, picollo_clock_convert(clock, 0, unit));
    (void)picollo_clock_convert(clock, choose(world, 0), unit);
    picollo_scope_begin(histogram, clock, unit, &scope);
    elapsed = picollo_scope_end(&scope);
    if (clock == 99 || unit == 99) {
        SAME(0, elapsed);
    } else {
        (void)picollo_scope_end(&scope);
        if (histogram != NULL) {
            struct model *const model = world->histogram_models[slot];
            count_value(&model->raw, &model->rule, elapsed, 1);
            settle(model);
        }
    }
}

const struct operation recorder_operations[] = {
    {"histogram_recorder", op_take_recorder, 8},
    {"recorder_release", op_release_recorder, 4},
    {"recorder_record", op_record_inline, 12},
    {"atomic_recorder_record", op_record_atomically, 8},
    {"scope", op_scope, 2},
    {NULL, NULL, 0},
};
