/* The state of a sequence of calls: a source of decisions, handles with models of their objects, and checks that end
 * the program if the library disagrees. */
#ifndef WORLD_H
#define WORLD_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <picollo_all.h>

/* Observations in the range of a layout, below it, and above it. Core tests which buckets they go to. */
struct counts {
    uint64_t in, below, above;
};

/* The expected content of a histogram. Models live until the end of the sequence, as handles may be freed in any
 * order. */
struct model {
    picollo_layout layout;
    /* The whole buckets at the ends are in range. */
    uint64_t lowest, highest;
    uint32_t mode, storage, bits, flags;
    /* Memory may be limited. */
    int limited;
    /* 0 if the counts are not predictable: approximate, beyond a memory limit, or a session's. */
    int exact;
    /* 0 if not even the sum of all counts is predictable. */
    int conserved;
    struct counts raw, base;
};

struct snapshot {
    picollo_snapshot *handle;
    struct model *source;
    struct counts now, previous;
    int exact;
    /* It has no histogram. */
    int detached;
};

#define SLOTS 6
#define MODELS 512

struct world {
    /* Decisions come from these bytes, or from the generator. */
    const uint8_t *bytes;
    size_t left;
    uint64_t state;
    int generated;

    picollo_histogram *histograms[SLOTS];
    struct model *histogram_models[SLOTS];
    struct snapshot snapshots[SLOTS];
    picollo_recorder recorders[SLOTS];
    struct model *recorder_models[SLOTS];
    picollo_session *sessions[2];
    double session_errors[2];
    /* How often each recorded; unknown after its histograms were reset, or others wrote to them. */
    uint64_t session_records[2];
    int session_unknown[2];

    /* The state of other families, made at first use. */
    struct doubles *doubles;
    struct registered *registered;
    struct segments *segments;
    struct collected *collected;

    struct model *models[MODELS];
    size_t number_of_models;
    /* Memory that contains histograms and snapshots: reserved until the end. */
    void *memory[MODELS];
    size_t blocks;

    const char *operation;
    unsigned step;
};

/* One kind of call; its weight among all determines its frequency. To add a call, write a function that makes it and
 * checks its effect, and add a line to the table at the end of its file. */
struct operation {
    const char *name;
    void (*run)(struct world *world);
    unsigned weight;
};

extern const struct operation histogram_operations[], snapshot_operations[], session_operations[], interchange_operations[],
    recorder_operations[], registry_operations[], segment_operations[], exemplar_operations[], other_operations[];
void end_doubles(struct world *world);
void end_registry(struct world *world);
void end_segments(struct world *world);
void end_exemplars(struct world *world);

/* The simulated fault of the library, to check that the tests detect it; 0: none. */
extern int planted_fault;
#define PLANTED(number) (planted_fault == (number) && rarely(world, 4))

static inline uint64_t everything(const struct counts *counts)
{
    return counts->in + counts->below + counts->above;
}

static inline void count_value(struct model *model, uint64_t value, uint64_t number)
{
    *(value < model->lowest ? &model->raw.below : value > model->highest ? &model->raw.above : &model->raw.in) += number;
}

/* A number below `limit`. */
static inline uint64_t choose(struct world *world, uint64_t limit)
{
    uint64_t number = 0;
    if (world->generated) {
        world->state = world->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        number = world->state ^ world->state >> 33;
        number *= UINT64_C(0xff51afd7ed558ccd);
        number ^= number >> 29;
    } else {
        for (uint64_t needed = limit - 1; needed > 0 && world->left > 0; needed >>= 8) {
            number = number << 8 | *world->bytes++;
            world->left--;
        }
    }
    return limit == 0 ? number : number % limit;
}

/* One time in `number`. */
static inline int rarely(struct world *world, uint64_t number)
{
    return choose(world, number) == number - 1;
}

/* A value of any magnitude, including the ends of the range and powers of two. */
static inline uint64_t any_value(struct world *world)
{
    const uint64_t magnitude = choose(world, 64), value = (UINT64_C(1) << magnitude) + (choose(world, 0) & ((UINT64_C(1) << magnitude) - 1));
    switch (choose(world, 16)) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return (UINT64_C(1) << magnitude) - 1;
    case 3: return UINT64_C(1) << magnitude;
    default: return value;
    }
}

#define FAIL(...)                                                                                       \
    do {                                                                                                \
        fprintf(stderr, "%s:%d: step %u, %s: ", __FILE__, __LINE__, world->step, world->operation);     \
        fprintf(stderr, __VA_ARGS__);                                                                   \
        fputc('\n', stderr);                                                                            \
        abort();                                                                                        \
    } while (0)

#define REQUIRE(condition) do { if (!(condition)) FAIL("failed: %s", #condition); } while (0)

#define SAME(expected, actual)                                                                          \
    do {                                                                                                \
        const uint64_t expected_ = (expected), actual_ = (actual);                                      \
        if (expected_ != actual_) FAIL("%s is %" PRIu64 ", expected %" PRIu64, #actual, actual_, expected_); \
    } while (0)

#define EXPECT(expected, call)                                                                          \
    do {                                                                                                \
        const picollo_status status_ = (call);                                                          \
        if (status_ != (expected)) FAIL("%s: %d, expected %d", #call, (int)status_, (int)(expected));   \
    } while (0)

/* Memory of exactly this size, whose ends sanitizers watch. */
static inline void *keep_memory(struct world *world, size_t size, size_t align)
{
    void *block = NULL;
    if (world->blocks == MODELS) return NULL;
    if (posix_memalign(&block, align < sizeof(void *) ? sizeof(void *) : align, size) != 0) abort();
    world->memory[world->blocks++] = block;
    return block;
}

static inline size_t pick(struct world *world)
{
    return (size_t)choose(world, SLOTS);
}

/* Options with any values, and their expected status: for creation, and in the caller's memory, where 1 is either of
 * two errors. */
struct asked {
    picollo_histogram_options options;
    picollo_status created, in_place;
};
struct asked ask(struct world *world);

/* The model of a histogram with these valid options; NULL: the defaults. */
struct model *new_model(struct world *world, const picollo_histogram_options *options);
/* Call this after records: the model knows its limits. */
void settle(struct model *model);
/* Adds the counts of a snapshot. Returns whether it is still known which of them are in range. */
int merge_counts(struct counts *to, const struct model *model, const struct snapshot *from);
void check_snapshot(struct world *world, struct snapshot *snapshot);
/* Any existing snapshot, or NULL. */
struct snapshot *any_snapshot(struct world *world);
/* A snapshot with predictable counts, or NULL. */
struct snapshot *exact_snapshot(struct world *world);
/* The same, mostly not the first one. */
struct snapshot *another_snapshot(struct world *world, const struct snapshot *first);
/* Puts a histogram into a slot, and frees the previous one. */
void keep_histogram(struct world *world, size_t slot, picollo_histogram *histogram, struct model *model);

#endif /* WORLD_H */
