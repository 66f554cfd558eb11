/* Random sequences of calls on stateful objects: histograms, snapshots, sessions, registries and others, checked with
 * a model of their counts.
 *
 *   sequences [SEQUENCES [FIRST_SEED]]      default: 2000 sequences, seeds from 1 on
 *   sequences - FILE                        one sequence, decided by the bytes of a file
 *   PICOLLO_PLANT=1 sequences ...           with a fault in the library's answers, numbered by PLANTED: must fail
 *   PICOLLO_TRACE=1 sequences ...           prints each step
 *
 * Each sequence makes, uses and frees them in random order, with valid and invalid arguments: a file for each family.
 * The first failure ends the program, and prints its seed. The tests of each header and of core cover
 * stateless functions. */
#include "world.h"

#include <time.h>

#define STEPS 120

int planted_fault;
static int trace;

static const struct operation *const tables[] = {
    histogram_operations, snapshot_operations, session_operations, interchange_operations, recorder_operations, registry_operations,
    segment_operations, exemplar_operations, other_operations,
};
static unsigned long long calls;

struct model *new_model(struct world *world, const picollo_histogram_options *options)
{
    struct model *const model = (struct model *)calloc(1, sizeof *model);
    picollo_bucket first, last;
    if (model == NULL || world->number_of_models == MODELS) abort();
    EXPECT(PICOLLO_OK, picollo_layout_of_options(options, &model->layout));
    EXPECT(PICOLLO_OK, picollo_layout_bucket_of(&model->layout, model->layout.min_trackable, &first));
    EXPECT(PICOLLO_OK, picollo_layout_bucket_of(&model->layout, model->layout.max_trackable, &last));
    model->lowest = first.lower;
    model->highest = last.upper;
    model->bits = 64;
    model->exact = model->conserved = 1;
    world->models[world->number_of_models++] = model;
    return model;
}

void keep_histogram(struct world *world, size_t slot, picollo_histogram *histogram, struct model *model)
{
    picollo_histogram_free(world->histograms[slot]);
    world->histograms[slot] = histogram;
    world->histogram_models[slot] = model;
}

static const struct operation *draw(struct world *world)
{
    uint64_t weight = 0, at;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const struct operation *operation = tables[i]; operation->run != NULL; operation++) weight += operation->weight;
    }
    at = choose(world, weight);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const struct operation *operation = tables[i]; operation->run != NULL; operation++) {
            if (at < operation->weight) return operation;
            at -= operation->weight;
        }
    }
    abort();
}

/* The remaining objects are freed in any order: derived objects keep their origin alive. */
static void end(struct world *world)
{
    world->operation = "the end";
    for (size_t i = 0; i < SLOTS; i++) {
        const size_t slot = (i + (size_t)choose(world, SLOTS)) % SLOTS;
        picollo_histogram_free(world->histograms[slot]);
        world->histograms[slot] = NULL;
    }
    for (size_t i = 0; i < SLOTS; i++) {
        picollo_histogram_free(world->histograms[i]);
        picollo_recorder_release(&world->recorders[i]);
        if (world->snapshots[i].handle != NULL) {
            EXPECT(world->snapshots[i].detached ? PICOLLO_ERR_UNSUPPORTED : PICOLLO_OK,
                   picollo_snapshot_update(world->snapshots[i].handle, 0));
            picollo_snapshot_free(world->snapshots[i].handle);
        }
    }
    end_doubles(world);
    end_registry(world);
    end_segments(world);
    end_exemplars(world);
    for (size_t i = 0; i < 2; i++) picollo_session_free(world->sessions[i]);
    for (size_t i = 0; i < world->number_of_models; i++) free(world->models[i]);
    for (size_t i = 0; i < world->blocks; i++) free(world->memory[i]);
}

static void run(struct world *world)
{
    for (world->step = 0; world->step < STEPS && (world->generated || world->left > 0); world->step++) {
        const struct operation *const operation = draw(world);
        world->operation = operation->name;
        if (trace) fprintf(stderr, "%u %s\n", world->step, operation->name);
        operation->run(world);
        calls++;
    }
    end(world);
}

/* For a fuzzer: runs the sequence that these bytes decide. */
int picollo_run_sequence(const uint8_t *bytes, size_t length);
int picollo_run_sequence(const uint8_t *bytes, size_t length)
{
    struct world world;
    memset(&world, 0, sizeof world);
    world.bytes = bytes;
    world.left = length;
    run(&world);
    return 0;
}

#ifndef PICOLLO_FUZZER
static uint64_t seed;
static void print_seed(void) { fprintf(stderr, "the sequence of seed %" PRIu64 "\n", seed); }

#include <signal.h>
static void on_fault(int number)
{
    print_seed();
    signal(number, SIG_DFL);
    raise(number);
}

int main(int number, char **arguments)
{
    const uint64_t sequences = number > 1 ? strtoull(arguments[1], NULL, 10) : 2000;
    const uint64_t first = number > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    const clock_t started = clock();
    planted_fault = getenv("PICOLLO_PLANT") != NULL ? atoi(getenv("PICOLLO_PLANT")) : 0;
    trace = getenv("PICOLLO_TRACE") != NULL;
    if (number > 2 && strcmp(arguments[1], "-") == 0) {
        static uint8_t bytes[1 << 20];
        FILE *const file = fopen(arguments[2], "rb");
        if (file == NULL) return 2;
        const size_t length = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        return picollo_run_sequence(bytes, length);
    }
    signal(SIGABRT, on_fault);
    signal(SIGSEGV, on_fault);
    signal(SIGFPE, on_fault);
    for (seed = first; seed < first + sequences; seed++) {
        struct world world;
        memset(&world, 0, sizeof world);
        world.generated = 1;
        world.state = seed * UINT64_C(0x9e3779b97f4a7c15);
        run(&world);
    }
    printf("%" PRIu64 " sequences, %llu operations, %.0f s\n", sequences, calls, (double)(clock() - started) / CLOCKS_PER_SEC);
    printf("1 passed, 0 failed\n");
    return 0;
}
#endif
