/* Histograms: made, recorded into, reset, freed. */
#include <pthread.h>

#include "buffers.h"

struct asked ask(struct world *world)
{
    static const double errors[] = {0.1, 0.05, 0.01, 0.02, 1.0};
    static const uint32_t modes[] = {PICOLLO_MODE_INTERLOCKED, PICOLLO_MODE_SINGLE_WRITER, PICOLLO_MODE_THREAD_LOCAL, PICOLLO_MODE_PER_CPU};
    struct asked asked;
    picollo_layout layout;
    picollo_histogram_options *const options = &asked.options;
    uint64_t ends[2];
    memset(&asked, 0, sizeof asked);
    options->struct_size = sizeof *options;
    options->mode = modes[choose(world, 4)];
    options->storage = (uint32_t)rarely(world, 3);
    options->counter_bits = (uint32_t)choose(world, 3) * 32;
    options->relative_error = errors[choose(world, 5)];
    options->significant_digits = rarely(world, 4) ? 1 + (uint32_t)choose(world, 2) : rarely(world, 8) ? PICOLLO_ZERO_DIGITS : 0;
    options->flags = rarely(world, 4) ? PICOLLO_HISTOGRAM_NO_LIVE_RESET : 0;
    if (rarely(world, 4)) options->flags |= PICOLLO_HISTOGRAM_WHOLE_ARRAY;
    if (rarely(world, 2)) {
        ends[0] = any_value(world);
        ends[1] = any_value(world);
        options->min_trackable = ends[0] < ends[1] ? ends[0] : ends[1];
        options->max_trackable = ends[0] < ends[1] ? ends[1] : ends[0];
    }
    if (rarely(world, 4)) {
        options->unit = any_value(world);
        /* Like a program from before there were units. */
        if (rarely(world, 8)) options->struct_size = 56;
    }
    if (options->storage == PICOLLO_STORAGE_SPARSE && rarely(world, 4)) options->max_bytes = 2000 + choose(world, 20000);
    if (options->storage == PICOLLO_STORAGE_SPARSE && options->mode >= PICOLLO_MODE_THREAD_LOCAL) asked.created = PICOLLO_ERR_UNSUPPORTED;
    if (options->mode == PICOLLO_MODE_PER_CPU && options->counter_bits == 32) asked.created = PICOLLO_ERR_UNSUPPORTED;
    asked.in_place = asked.created;
    if (options->storage == PICOLLO_STORAGE_SPARSE || options->mode >= PICOLLO_MODE_THREAD_LOCAL) asked.in_place = PICOLLO_ERR_UNSUPPORTED;
    /* Ranges without values, and units without room for them. */
    if (picollo_layout_of_options(options, &layout) == PICOLLO_ERR_INVALID_ARGUMENT) asked.created = PICOLLO_ERR_INVALID_ARGUMENT;
    else REQUIRE(options->max_trackable == 0 || options->min_trackable < options->max_trackable);
    if (asked.created == PICOLLO_ERR_INVALID_ARGUMENT) asked.in_place = 1;
    return asked;
}

static struct model *model_of(struct world *world, const picollo_histogram_options *options)
{
    struct model *const model = new_model(world, options);
    model->mode = options->mode;
    model->storage = options->storage;
    model->bits = options->counter_bits == 0 ? 64 : options->counter_bits;
    model->flags = options->flags;
    model->limited = options->max_bytes != 0;
    model->exact = !model->limited;
    return model;
}

static void op_create(struct world *world)
{
    const struct asked asked = ask(world);
    picollo_histogram *histogram = NULL;
    const size_t slot = pick(world);
    picollo_status status;
    if (rarely(world, 16)) {
        const picollo_histogram_options defaults = {.struct_size = sizeof defaults, .relative_error = 0.001};
        EXPECT(PICOLLO_OK, picollo_histogram_create(NULL, &histogram));
        keep_histogram(world, slot, histogram, model_of(world, &defaults));
        return;
    }
    status = picollo_histogram_create(&asked.options, &histogram);
    if (asked.created != PICOLLO_OK && status != PICOLLO_OK) {
        /* If there are several errors, either status is right. */
        REQUIRE(status == PICOLLO_ERR_INVALID_ARGUMENT || status == PICOLLO_ERR_UNSUPPORTED);
        REQUIRE(histogram == NULL);
        return;
    }
    if (asked.options.max_bytes != 0 && status == PICOLLO_ERR_OUT_OF_MEMORY) return;
    EXPECT(asked.created, status);
    keep_histogram(world, slot, histogram, model_of(world, &asked.options));
}

static void op_create_in_place(struct world *world)
{
    const struct asked asked = ask(world);
    const size_t slot = pick(world);
    picollo_histogram *histogram = NULL, *attached = NULL;
    size_t size = 0, align = 0;
    void *memory;
    const picollo_status status = picollo_histogram_required_size(&asked.options, &size, &align);
    if (asked.in_place == 1) {
        REQUIRE(status == PICOLLO_ERR_INVALID_ARGUMENT || status == PICOLLO_ERR_UNSUPPORTED);
    } else {
        EXPECT(asked.in_place, status);
    }
    if (status != PICOLLO_OK) return;
    memory = keep_memory(world, size, align);
    if (memory == NULL) return;
    EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_histogram_init_in(memory, choose(world, size), &asked.options, &histogram));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_init_in((char *)memory + 1, size - 1, &asked.options, &histogram));
    REQUIRE(histogram == NULL);
    EXPECT(PICOLLO_OK, picollo_histogram_init_in(memory, size, &asked.options, &histogram));
    EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_histogram_attach(memory, choose(world, size), &attached));
    EXPECT(PICOLLO_OK, picollo_histogram_attach(memory, size, &attached));
    keep_histogram(world, slot, rarely(world, 2) ? histogram : attached, model_of(world, &asked.options));
}

static void op_free(struct world *world)
{
    const size_t slot = pick(world);
    /* A second owner, who frees it first. */
    REQUIRE(picollo_histogram_retain(world->histograms[slot]) == world->histograms[slot]);
    picollo_histogram_free(world->histograms[slot]);
    if (rarely(world, 2)) return;
    picollo_histogram_free(world->histograms[slot]);
    world->histograms[slot] = NULL;
}

void settle(struct model *model)
{
    /* One of its cells may have wrapped. */
    if (model->bits == 32 && model->raw.in > UINT32_MAX) model->exact = 0;
}

struct job {
    picollo_histogram *histogram;
    uint64_t values[300], count;
    size_t length;
    int how;
};

static void *record(void *argument)
{
    const struct job *const job = (const struct job *)argument;
    switch (job->how) {
    case 0:
        for (size_t i = 0; i < job->length; i++) picollo_histogram_record(job->histogram, job->values[i]);
        break;
    case 1:
        for (size_t i = 0; i < job->length; i++) picollo_histogram_record_n(job->histogram, job->values[i], job->count);
        break;
    default:
        picollo_histogram_record_batch(job->histogram, job->values, job->length);
        break;
    }
    return NULL;
}

static void op_record(struct world *world)
{
    const size_t slot = pick(world);
    struct model *const model = world->histogram_models[slot];
    const uint64_t near = any_value(world);
    struct job job;
    if (world->histograms[slot] == NULL) return;
    job.histogram = world->histograms[slot];
    job.how = (int)choose(world, 3);
    job.length = (size_t)choose(world, rarely(world, 4) ? 300 : 8);
    job.count = job.how != 1 ? 1 : rarely(world, 8) ? choose(world, UINT64_C(1) << 33) : choose(world, 100);
    for (size_t i = 0; i < job.length; i++) {
        job.values[i] = rarely(world, 2) ? any_value(world) : near + choose(world, 64);
        count_value(model, job.values[i], job.count);
    }
    if (rarely(world, 8)) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, record, &job) != 0) abort();
        pthread_join(thread, NULL);
    } else {
        record(&job);
    }
    /* A library that sometimes counts one too many must be detected. */
    if (PLANTED(1)) picollo_histogram_record(job.histogram, near);
    settle(model);
}

static void op_record_in_range(struct world *world)
{
    const size_t slot = pick(world);
    struct model *const model = world->histogram_models[slot];
    const uint64_t value = any_value(world), min = any_value(world), max = rarely(world, 2) ? UINT64_MAX : any_value(world);
    picollo_status expected = PICOLLO_ERR_INVALID_ARGUMENT;
    if (world->histograms[slot] == NULL) return;
    if (value < min) {
        model->raw.below++;
    } else if (value > max) {
        model->raw.above++;
    } else {
        count_value(model, value, 1);
        if (value >= model->lowest && value <= model->highest) expected = PICOLLO_OK;
    }
    EXPECT(expected, picollo_histogram_record_in_range(world->histograms[slot], value, min, max));
    settle(model);
}

static void op_reset(struct world *world)
{
    const size_t slot = pick(world);
    struct model *const model = world->histogram_models[slot];
    picollo_status status;
    if (world->histograms[slot] == NULL) return;
    if (model->flags & PICOLLO_HISTOGRAM_NO_LIVE_RESET) {
        EXPECT(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_reset(world->histograms[slot]));
        return;
    }
    status = picollo_histogram_reset(world->histograms[slot]);
    if (status == PICOLLO_ERR_OUT_OF_MEMORY && model->limited) return;
    EXPECT(PICOLLO_OK, status);
    model->base = model->raw;
}

static void op_add(struct world *world)
{
    const size_t slot = pick(world);
    struct model *const model = world->histogram_models[slot];
    struct snapshot *const other = any_snapshot(world);
    const uint32_t placement = rarely(world, 4) ? 1 + (uint32_t)choose(world, 2) : 0;
    picollo_merged merged;
    if (world->histograms[slot] == NULL || other == NULL) return;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, merged, picollo_histogram_add(world->histograms[slot], other->handle, 3 + placement, &merged));
    EXPECT(PICOLLO_OK, picollo_histogram_add(world->histograms[slot], other->handle, placement, rarely(world, 2) ? NULL : &merged));
    if (!merge_counts(&model->raw, model, other)) model->exact = 0;
    if (!other->exact) model->exact = model->conserved = 0;
    settle(model);
}

const struct operation histogram_operations[] = {
    {"histogram_create", op_create, 30},
    {"histogram_init_in", op_create_in_place, 8},
    {"histogram_free", op_free, 12},
    {"histogram_record", op_record, 80},
    {"histogram_record_in_range", op_record_in_range, 6},
    {"histogram_reset", op_reset, 12},
    {"histogram_add", op_add, 10},
    {NULL, NULL, 0},
};
