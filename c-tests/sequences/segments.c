/* Segments: readers see what was recorded, whoever requested the histogram. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

#define ENTRIES 4
#define VALUES 3

/* One for all sequences, because segments stay mapped as long as the process. The sequence number distinguishes the
 * entries. */
static picollo_segment *segment;
static char place[64], path[4096];
static uint64_t sequence;

struct segments {
    uint64_t sequence;
    /* The first is a counter, the second a striped counter, the others are histograms. */
    struct published {
        picollo_histogram *histogram;
        picollo_metric_counter *counter;
        uint64_t counts[VALUES], count;
        /* How often it was removed; each time another one begins. */
        unsigned generation;
        char name[40];
    } all[ENTRIES];
};

/* Below 64, where each bucket of the default layout has one value. */
static const uint64_t values[VALUES] = {1, 7, 63};

static void remove_place(void)
{
    (void)rmdir(place);
}

static int make_segment(void)
{
    picollo_segment_options options = PICOLLO_SEGMENT_OPTIONS_INIT;
    size_t length;
    if (segment != NULL) return 1;
    if (place[0] != 0) return 0;
    strcpy(place, "/dev/shm/picollo-seq-XXXXXX");
    if (mkdtemp(place) == NULL || atexit(remove_place) != 0) return 0;
    options.name = "sequences";
    options.directory = place;
    options.max_bytes = 256 << 20;
    return picollo_segment_create(&options, &segment, NULL) == PICOLLO_OK &&
           picollo_segment_path(segment, path, sizeof path, &length) == PICOLLO_OK;
}

static struct segments *segments_of(struct world *world)
{
    /* The directory cannot hold any number of sequences, and each reading of it takes longer. */
    if ((world->segments == NULL && sequence >= 200) || !make_segment()) return NULL;
    if (world->segments == NULL) {
        world->segments = (struct segments *)calloc(1, sizeof *world->segments);
        if (world->segments == NULL) abort();
        world->segments->sequence = sequence++;
        for (size_t i = 0; i < ENTRIES; i++) {
            snprintf(world->segments->all[i].name, sizeof world->segments->all[i].name, "s%" PRIu64 "_%zu", world->segments->sequence, i);
        }
    }
    return world->segments;
}

static void op_publish(struct world *world)
{
    struct segments *const segments = segments_of(world);
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
    picollo_histogram *histogram = NULL;
    picollo_metric_counter *counter = NULL;
    picollo_segment *again = NULL;
    if (segments == NULL) return;
    const size_t which = (size_t)choose(world, ENTRIES);
    struct published *const published = &segments->all[which];
    metric.name = published->name;
    if (which < 2) {
        metric.flags = which == 1 ? PICOLLO_METRIC_STRIPED : 0;
        EXPECT(PICOLLO_OK, picollo_segment_counter(segment, &metric, &counter, NULL));
        picollo_metric_counter_free(published->counter);
        REQUIRE(which == 0 || published->counter == NULL || published->counter == counter);
        published->counter = counter;
        EXPECT(PICOLLO_ERR_INCOMPATIBLE, picollo_segment_histogram(segment, &metric, NULL, &histogram, NULL));
        metric.flags ^= PICOLLO_METRIC_STRIPED;
        EXPECT(PICOLLO_ERR_INCOMPATIBLE, picollo_segment_counter(segment, &metric, &counter, NULL));
        return;
    }
    EXPECT(PICOLLO_OK, picollo_segment_attach(path, &again, NULL));
    EXPECT(PICOLLO_OK, picollo_segment_histogram(again, &metric, NULL, &histogram, NULL));
    picollo_segment_free(again);
    REQUIRE(published->histogram == NULL || published->histogram == histogram);
    published->histogram = histogram;
    options.relative_error = 0.1;
    EXPECT(PICOLLO_ERR_INCOMPATIBLE, picollo_segment_histogram(segment, &metric, &options, &histogram, NULL));
}

static void op_write(struct world *world)
{
    struct segments *const segments = segments_of(world);
    struct published *published;
    const size_t which = (size_t)choose(world, VALUES);
    const uint64_t count = choose(world, 1000);
    picollo_summary summary;
    if (segments == NULL) return;
    published = &segments->all[choose(world, ENTRIES)];
    if (published->histogram != NULL) {
        picollo_histogram_record_n(published->histogram, values[which], count);
        published->counts[which] += count;
        EXPECT(PICOLLO_OK, picollo_histogram_summary(published->histogram, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary));
        SAME(published->counts[0] + published->counts[1] + published->counts[2] + (PLANTED(7) ? 1 : 0), summary.total_count);
        EXPECT(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_reset(published->histogram));
    }
    if (published->counter != NULL) {
        uint64_t now = 0;
        picollo_metric_counter_add(published->counter, count);
        published->count += count;
        EXPECT(PICOLLO_OK, picollo_metric_counter_read(published->counter, &now));
        SAME(published->count, now);
    }
}

static void op_retire(struct world *world)
{
    struct segments *const segments = segments_of(world);
    struct published *published;
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    if (segments == NULL) return;
    published = &segments->all[choose(world, ENTRIES)];
    metric.name = published->name;
    if (published->histogram == NULL && published->counter == NULL) {
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_segment_retire(segment, &metric, NULL));
        return;
    }
    EXPECT(PICOLLO_OK, picollo_segment_retire(segment, &metric, NULL));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_segment_retire(segment, &metric, NULL));
    /* Its handle still works for its owners. */
    if (published->histogram != NULL) picollo_histogram_record(published->histogram, values[0]);
    picollo_histogram_free(published->histogram);
    picollo_metric_counter_free(published->counter);
    published->histogram = NULL;
    published->counter = NULL;
    published->count = 0;
    memset(published->counts, 0, sizeof published->counts);
    snprintf(published->name, sizeof published->name, "s%" PRIu64 "_%zu_%u", segments->sequence, (size_t)(published - segments->all),
             ++published->generation);
}

void end_segments(struct world *world)
{
    if (world->segments == NULL) return;
    for (size_t i = 0; i < ENTRIES; i++) {
        picollo_histogram_free(world->segments->all[i].histogram);
        picollo_metric_counter_free(world->segments->all[i].counter);
    }
    free(world->segments);
}

const struct operation segment_operations[] = {
    {"segment_publish", op_publish, 1},
    {"segment_write", op_write, 3},
    {"segment_retire", op_retire, 1},
    {NULL, NULL, 0},
};
