/* Recording without a call. */
#include "buffers.h"

static void op_take_recorder(struct world *world)
{
    const size_t slot = pick(world), place = pick(world);
    struct model *const model = world->histogram_models[slot];
    picollo_recorder recorder;
    picollo_status expected = PICOLLO_OK;
    if (world->histograms[slot] == NULL) return;
    if (model->storage == PICOLLO_STORAGE_SPARSE || model->mode == PICOLLO_MODE_INTERLOCKED || model->mode == PICOLLO_MODE_PER_CPU)
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
    const picollo_writer writer = picollo_recorder_writer(&world->recorders[place]);
    for (uint64_t number = choose(world, 20); number > 0; number--) {
        const uint64_t value = any_value(world);
        picollo_writer_record(writer, value);
        count_value(world->recorder_models[place], value, 1);
    }
    settle(world->recorder_models[place]);
}

/* It borrows, so it is used at once. */
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
    const picollo_atomic_writer writer = picollo_atomic_recorder_writer(&recorder);
    for (uint64_t number = choose(world, 20); number > 0; number--) {
        const uint64_t value = any_value(world);
        picollo_atomic_writer_record(writer, value);
        count_value(model, value, 1);
    }
    settle(model);
}

const struct operation recorder_operations[] = {
    {"histogram_recorder", op_take_recorder, 8},
    {"recorder_release", op_release_recorder, 4},
    {"writer_record", op_record_inline, 12},
    {"atomic_writer_record", op_record_atomically, 8},
    {NULL, NULL, 0},
};
