/* Segments: what a viewer tells is what was recorded, whoever asked for the histogram. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

#define ENTRIES 4
#define VALUES 3

/* One for all sequences: segments stay mapped as long as the process. The entries are told apart by the sequence. */
static picollo_segment *segment;
static char place[64], path[4096];
static uint64_t sequence;

struct segments {
    uint64_t sequence;
    picollo_viewer *viewer;
    struct published {
        picollo_histogram *histogram;
        picollo_metric_counter *counter;
        picollo_striped_counter *striped;
        uint64_t counts[VALUES], count;
        /* How often it was taken out; each time another begins. */
        unsigned generation;
        char name[40];
    } all[ENTRIES];
};

/* Below 64, where buckets of the default layout have one value each. */
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
    /* The directory is not for as many sequences as there may be, and each look at it takes longer. */
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

static void publish(struct world *world)
{
    struct segments *const segments = segments_of(world);
    struct published *published;
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
    picollo_histogram *histogram = NULL;
    picollo_metric_counter *counter = NULL;
    picollo_striped_counter *striped = NULL;
    picollo_segment *again = NULL;
    picollo_status status;
    uint64_t bytes = 0;
    if (segments == NULL) return;
    published = &segments->all[choose(world, ENTRIES)];
    metric.name = published->name;
    if (published == &segments->all[0]) {
        status = picollo_segment_counter(segment, &metric, &counter, NULL);
        EXPECT(PICOLLO_OK, status);
        picollo_metric_counter_free(published->counter);
        published->counter = counter;
        EXPECT(PICOLLO_ERR_INCOMPATIBLE, picollo_segment_histogram(segment, &metric, NULL, &histogram, NULL));
        EXPECT(PICOLLO_ERR_INCOMPATIBLE, picollo_segment_striped_counter(segment, &metric, &striped, NULL));
        return;
    }
    if (published == &segments->all[1]) {
        EXPECT(PICOLLO_OK, picollo_segment_striped_counter(segment, &metric, &striped, NULL));
        picollo_striped_counter_free(published->striped);
        REQUIRE(published->striped == NULL || published->striped == striped);
        published->striped = striped;
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
    EXPECT(PICOLLO_OK, picollo_segment_estimate(NULL, 0, &bytes));
    REQUIRE(bytes > 0);
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    EXPECT(PICOLLO_ERR_UNSUPPORTED, picollo_segment_estimate(&options, 0, &bytes));
    EXPECT(PICOLLO_ERR_UNSUPPORTED, picollo_segment_histogram(segment, &metric, &options, &histogram, NULL));
}

static void op_write(struct world *world)
{
    struct segments *const segments = segments_of(world);
    struct published *published;
    const size_t which = (size_t)choose(world, VALUES);
    const uint64_t count = choose(world, 1000);
    if (segments == NULL) return;
    published = &segments->all[choose(world, ENTRIES)];
    if (published->histogram != NULL) {
        picollo_histogram_record_n(published->histogram, values[which], count);
        published->counts[which] += count;
        EXPECT(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_reset(published->histogram));
    }
    if (published->counter != NULL) {
        picollo_metric_counter_add(published->counter, count);
        published->count += count;
    }
    if (published->striped != NULL) {
        uint64_t now = 0;
        picollo_striped_counter_add(published->striped, count);
        published->count += count;
        EXPECT(PICOLLO_OK, picollo_striped_counter_read(published->striped, &now));
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
    if (published->histogram == NULL && published->counter == NULL && published->striped == NULL) {
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_segment_retire(segment, &metric, NULL));
        return;
    }
    EXPECT(PICOLLO_OK, picollo_segment_retire(segment, &metric, NULL));
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_segment_retire(segment, &metric, NULL));
    /* Its handle goes on for those who have it. */
    if (published->histogram != NULL) picollo_histogram_record(published->histogram, values[0]);
    picollo_histogram_free(published->histogram);
    picollo_metric_counter_free(published->counter);
    picollo_striped_counter_free(published->striped);
    published->histogram = NULL;
    published->counter = NULL;
    published->striped = NULL;
    published->count = 0;
    memset(published->counts, 0, sizeof published->counts);
    snprintf(published->name, sizeof published->name, "s%" PRIu64 "_%zu_%u", segments->sequence, (size_t)(published - segments->all),
             ++published->generation);
}

static void check_entry(struct world *world, picollo_viewer *viewer, size_t index, const struct published *published)
{
    picollo_snapshot *snapshot = NULL;
    picollo_counts counts;
    uint64_t count = 0, total = PLANTED(13) ? 1 : 0;
    if (published->counter != NULL || published->striped != NULL) {
        EXPECT(PICOLLO_OK, picollo_viewer_counter(viewer, index, &count, NULL));
        SAME(published->count, count);
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_viewer_snapshot(viewer, index, PICOLLO_SINCE_RESET, &snapshot, NULL));
        REQUIRE(snapshot == NULL);
        return;
    }
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_viewer_counter(viewer, index, &count, NULL));
    for (int again = 0; again < 2; again++) {
        EXPECT(PICOLLO_OK, picollo_viewer_snapshot(viewer, index, again ? PICOLLO_SINCE_PREVIOUS : PICOLLO_SINCE_RESET, &snapshot, NULL));
        EXPECT(PICOLLO_OK, picollo_snapshot_counts(snapshot, &counts));
        for (size_t i = 0; i < VALUES && !again; i++) {
            picollo_bucket bucket;
            EXPECT(PICOLLO_OK, picollo_snapshot_bucket_of(snapshot, values[i], &bucket));
            SAME(published->counts[i], bucket.count);
            total += bucket.count;
        }
        SAME(again ? 0 : total, counts.total);
    }
    EXPECT(PICOLLO_ERR_UNSUPPORTED, picollo_snapshot_update(snapshot, PICOLLO_SINCE_RESET));
    picollo_snapshot_free(snapshot);
}

/* What a viewer tells of all that was published. */
static void view(struct world *world)
{
    struct segments *const segments = segments_of(world);
    picollo_segment_info info;
    picollo_segment_entry entry;
    size_t length = 0, found = 0, expected = 0;
    char told[4096];
    if (segments == NULL) return;
    if (segments->viewer == NULL) {
        EXPECT(PICOLLO_OK, rarely(world, 2) ? picollo_viewer_open(path, &segments->viewer, NULL) : picollo_viewer_find(path, &segments->viewer, NULL));
    } else {
        EXPECT(PICOLLO_OK, picollo_viewer_refresh(segments->viewer, NULL));
    }
    EXPECT(PICOLLO_OK, picollo_viewer_path(segments->viewer, told, sizeof told, &length));
    REQUIRE(strcmp(told, path) == 0);
    /* Those of the user; this one lies elsewhere. */
    REQUIRE(picollo_viewer_list(told, sizeof told, &length) == PICOLLO_OK ? length == strlen(told) : told[0] == 0);
    /* Nothing that it does not believe. */
    EXPECT(PICOLLO_OK, picollo_viewer_faults(segments->viewer, told, sizeof told, &length));
    REQUIRE(length == 0 && told[0] == 0);
    EXPECT(PICOLLO_OK, picollo_viewer_length(segments->viewer, &length));
    EXPECT(PICOLLO_OK, picollo_viewer_info(segments->viewer, &info, NULL));
    REQUIRE(info.entries == length && info.is_live == 1 && strcmp(info.name, "sequences") == 0);
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_viewer_entry(segments->viewer, length, &entry));
    for (size_t i = 0; i < length; i++) {
        EXPECT(PICOLLO_OK, picollo_viewer_entry(segments->viewer, i, &entry));
        for (size_t j = 0; j < ENTRIES; j++) {
            if (strcmp(entry.name, segments->all[j].name) != 0) continue;
            found++;
            check_entry(world, segments->viewer, i, &segments->all[j]);
        }
    }
    for (size_t i = 0; i < ENTRIES; i++) {
        const struct published *const one = &segments->all[i];
        expected += one->histogram != NULL || one->counter != NULL || one->striped != NULL;
    }
    SAME(expected, found);
    if (rarely(world, 3)) {
        picollo_viewer_free(segments->viewer);
        segments->viewer = NULL;
    }
}

/* Operations on segments are few among all, so what is published is looked at, too. */
static void op_publish(struct world *world)
{
    publish(world);
    op_write(world);
    view(world);
}

void end_segments(struct world *world)
{
    if (world->segments == NULL) return;
    for (size_t i = 0; i < ENTRIES; i++) {
        picollo_histogram_free(world->segments->all[i].histogram);
        picollo_metric_counter_free(world->segments->all[i].counter);
        picollo_striped_counter_free(world->segments->all[i].striped);
    }
    picollo_viewer_free(world->segments->viewer);
    free(world->segments);
}

const struct operation segment_operations[] = {
    {"segment_publish", op_publish, 1},
    {"segment_write", op_write, 2},
    {"segment_view", view, 1},
    {"segment_retire", op_retire, 1},
    {NULL, NULL, 0},
};
