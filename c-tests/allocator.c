/* With its own malloc, which the library finds before the C library's:
 *
 * - Every allocation of every call that allocates fails once: alone, and together with all later ones. Each call then
 *   succeeds or returns PICOLLO_ERR_OUT_OF_MEMORY; nothing crashes, nothing leaks, and no count is lost silently.
 * - Reading allocates nothing.
 * - A malloc may record its sizes: each such record comes from inside one of the library's own allocations. */
#include "uses.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The histograms of the sizes: small ones, that of a histogram, and the rest. */
enum { CLASSES = 36, HISTOGRAMS = 200, SECONDS = 120 };

static picollo_histogram *sizes[CLASSES];
static uint64_t asked[CLASSES];
static size_t size_of_a_histogram;
/* Whether this thread's allocations are recorded. */
static __thread int records;

static int class_of(size_t size)
{
    if (size == size_of_a_histogram) return 0;
    int class_ = 1;
    while (size > 1 && class_ < CLASSES - 1) {
        size /= 2;
        class_++;
    }
    return class_;
}

static void record_size(size_t size)
{
    const int class_ = class_of(size);
    if (sizes[class_] == NULL) return;
    __atomic_fetch_add(&asked[class_], 1, __ATOMIC_RELAXED);
    picollo_histogram_record(sizes[class_], size);
}

/* The number of allocations so far, and the one that fails; -1: none. */
static long allocations, failing = -1;
static int failing_on;

/* Whether there is memory for an allocation; otherwise sets errno. */
static int may_allocate(size_t size)
{
    const long number = allocations++;
    static size_t previous;
    static int certain;
    /* Registering a thread's destructors takes 32 bytes of glibc, and the compressor takes six blocks after it
     * requested 512 KiB. Both end the process without them. The library makes sure before that there is memory, so only
     * this test would refuse an allocation right after. */
    const int is_certain = (size == 32 && previous == 2048) || certain-- > 0;
    if (records) record_size(size);
    certain = size == 1 << 19 ? 6 : certain < 0 ? 0 : certain;
    previous = size;
    if (is_certain) return 1;
    if (failing >= 0 && (number == failing || (failing_on && number > failing))) {
        errno = ENOMEM;
        certain = 0;
        return 0;
    }
    return 1;
}

/* Blocks that are not yet freed. */
static long live;

static void *counted(void *block)
{
    if (block != NULL) live++;
    return block;
}

#ifdef __cplusplus
#define NOTHROW noexcept(true)
extern "C" {
#else
#define NOTHROW
#endif

/* glibc's allocator, by its other names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *block);

void *malloc(size_t size) NOTHROW { return may_allocate(size) ? counted(__libc_malloc(size)) : NULL; }
void *calloc(size_t number, size_t size) NOTHROW { return may_allocate(number * size) ? counted(__libc_calloc(number, size)) : NULL; }
void *realloc(void *block, size_t size) NOTHROW
{
    if (!may_allocate(size)) return NULL;
    return block == NULL ? counted(__libc_malloc(size)) : __libc_realloc(block, size);
}
void *aligned_alloc(size_t align, size_t size) NOTHROW { return may_allocate(size) ? counted(__libc_memalign(align, size)) : NULL; }
int posix_memalign(void **out, size_t align, size_t size) NOTHROW
{
    void *const block = may_allocate(size) ? counted(__libc_memalign(align, size)) : NULL;
    if (block == NULL) return ENOMEM;
    *out = block;
    return 0;
}
void free(void *block) NOTHROW
{
    if (block != NULL) live--;
    __libc_free(block);
}

#ifdef __cplusplus
}
#endif

struct job {
    const struct use *use;
    /* The allocation that fails, and whether all later ones do; -1: none. */
    long fail;
    int on;
    long allocated;
};

/* On a separate thread, so that thread state ends with it. */
static void *run_use(void *argument)
{
    struct job *const job = (struct job *)argument;
    const long first = allocations;
    failing_on = job->on;
    failing = job->fail < 0 ? -1 : first + job->fail;
    job->use->run();
    failing = -1;
    job->allocated = allocations - first;
    return NULL;
}

static long run_apart(const struct use *use, long fail, int on)
{
    struct job job = {use, fail, on, 0};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_use, &job) != 0) abort();
    pthread_join(thread, NULL);
    return job.allocated;
}

static void every_allocation_fails(void)
{
    long failures = 0;
    for (size_t i = 0; i < USES; i++) {
        long number;
        /* Once for permanent allocations, such as lists of the library. */
        (void)run_apart(&uses[i], -1, 0);
        number = run_apart(&uses[i], -1, 0);
        CHECK(number > 0 && number < 1000);
        for (int on = 0; on < 2; on++) {
            for (long fail = 0; fail < number; fail++) {
                const long before = live;
                (void)run_apart(&uses[i], fail, on);
                failures++;
                if (live != before) {
                    fprintf(stderr, "%s, allocation %ld%s: %ld blocks leaked\n", uses[i].name, fail, on ? " and later" : "", live - before);
                    test_failures++;
                }
            }
        }
    }
    printf("%ld failures of allocations\n", failures);
}

/* Exit codes of a child that parses a processor's event name. It was spared if it made too few allocations for one to fail. */
enum { FOUND, OUT_OF_MEMORY, ABSENT, WRONG, SPARED };

static int is_parsed(picollo_error *error)
{
    picollo_event event;
    return picollo_event_parse("MEM_LOAD_RETIRED.L1_MISS", &event, error) == PICOLLO_OK && event.config == 0x8d1;
}

/* Parses with one allocation failing, or with all later ones too. The first name loads libpfm4, so each run is a new
 * process. */
static int parse_apart(long fail, int on)
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        picollo_error error;
        const long first = allocations;
        failing_on = on;
        failing = first + fail;
        const int found = is_parsed(&error);
        failing = -1;
        if (found) _exit(allocations - first > fail ? FOUND : SPARED);
        if (strstr(error.message, "is not installed here") != NULL) _exit(ABSENT);
        /* An earlier failure is no reason to fail again. */
        _exit(error.status == PICOLLO_ERR_OUT_OF_MEMORY && is_parsed(&error) ? OUT_OF_MEMORY : WRONG);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void makers_names(void)
{
    int starved = 0;
    setenv("LIBPFM_FORCE_PMU", "skx", 1);
    for (int on = 0; on < 2; on++) {
        int code = FOUND;
        for (long fail = 0; code != SPARED; fail++) {
            code = parse_apart(fail, on);
            if (code == ABSENT) {
                SKIPPED("libpfm4 is not installed: ci/setup.sh tests installs it");
                return;
            }
            CHECK(code != WRONG && fail < 1000);
            if (fail == 1000) return;
            starved += code == OUT_OF_MEMORY;
        }
    }
    CHECK(starved > 0);
}

static void reading_allocates_nothing(void)
{
    static char text[8192];
    static picollo_bucket buckets[30000];
    picollo_histogram *histogram = NULL;
    picollo_snapshot *snapshot;
    picollo_percentile percentiles[RANKS];
    picollo_summary summary;
    uint64_t values[RANKS], state = 1;
    size_t length = 0;
    double rank = 0;
    long before;
    if (is_quick()) {
        SKIPPED("a library that counts its own coverage allocates");
        return;
    }
    /* All 64-bit values at 0.001. */
    CHECK_OK(picollo_histogram_create(NULL, &histogram));
    before = allocations;
    for (int i = 0; i < 100000; i++) {
        const uint64_t magnitude = next_random(&state) >> 58;
        picollo_histogram_record(histogram, next_random(&state) >> magnitude);
    }
    picollo_histogram_record_corrected(histogram, 1000000, 7);
    CHECK(before == allocations);
    snapshot = snapshot_of(histogram);
    CHECK(allocations > before);

    before = allocations;
    CHECK_OK(picollo_snapshot_percentiles(snapshot, default_ranks, RANKS, PICOLLO_VALUE_MIDPOINT, percentiles));
    CHECK(before == allocations);
    CHECK_OK(picollo_snapshot_percentile_values(snapshot, default_ranks, RANKS, PICOLLO_VALUE_MIDPOINT, values));
    CHECK_OK(picollo_snapshot_update(snapshot, 1));
    CHECK_OK(picollo_snapshot_update(snapshot, 0));
    CHECK_OK(SUMMARIZE(snapshot, snapshot, PICOLLO_VALUE_MIDPOINT, percentiles, &summary));
    CHECK_OK(picollo_snapshot_rank_of_value(snapshot, 5, 1, &rank));
    CHECK_OK(picollo_snapshot_buckets(snapshot, 0, buckets, 30000, &length));
    CHECK_OK(picollo_histogram_add(histogram, snapshot, 0, NULL));
    CHECK_OK(picollo_histogram_reset(histogram));
    for (int form = 0; form < 4; form++) {
        CHECK_OK(picollo_summary_format(&summary, "t", text_form(form), text, sizeof text, &length));
        CHECK_OK(picollo_summary_format_diff(&summary, &summary, "t", "a", "b", text_form(form), text, sizeof text, &length));
    }
    CHECK(before == allocations);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

/* A line of 72 characters announces a histogram of 47 MB with a count at each end. It is made, but only the pages with
 * counts are touched. A limit refuses it. */
static void short_lines_touch_little_memory(void)
{
    enum { LINES = 100, PAGES = 100 };
    static const char line[] = "1,1,1,HISTFAAAACV4nJNpmSzMwMDAzgABrFCasf4/BNh/gAhwMn38/56VCQDogAzs\n";
    picollo_log_reader *reader;
    picollo_log_interval interval;
    picollo_snapshot *snapshot = NULL;
    struct rusage before, after;
    CHECK(getrusage(RUSAGE_SELF, &before) == 0);
    for (int i = 0; i < LINES; i++) {
        picollo_counts counts;
        CHECK_OK(picollo_log_reader_create(line, sizeof line - 1, &reader));
        CHECK_OK(picollo_log_reader_next(reader, &interval));
        CHECK_STATUS(PICOLLO_ERR_OUT_OF_MEMORY, picollo_log_reader_decode(reader, 1 << 20, &snapshot));
        CHECK_OK(picollo_log_reader_decode(reader, 0, &snapshot));
        CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
        CHECK_U64(2, counts.total);
        picollo_snapshot_free(snapshot);
        CHECK_STATUS(PICOLLO_END, picollo_log_reader_next(reader, &interval));
        picollo_log_reader_free(reader);
    }
    CHECK(getrusage(RUSAGE_SELF, &after) == 0);
    CHECK(after.ru_minflt - before.ru_minflt < LINES * PAGES);
}

static picollo_histogram *thread_local_histogram(void)
{
    picollo_histogram_options options = default_options();
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    options.relative_error = 0.1;
    options.max_trackable = 1 << 30;
    return create_from(&options);
}

/* A thread without records makes a histogram, and records the allocations of that. */
static void *make_one(void *argument)
{
    records = 1;
    *(picollo_histogram **)argument = thread_local_histogram();
    records = 0;
    return NULL;
}

/* Its first records, for blocks of all sizes. */
static void *allocate(void *argument)
{
    (void)argument;
    for (int round = 0; round < 50; round++) {
        records = 1;
        for (int shift = 0; shift < 14; shift++) {
            void *volatile block = malloc((size_t)1 << shift);
            free(block);
        }
        records = 0;
    }
    return NULL;
}

static void whatever_is_allocated_may_be_recorded(void)
{
    static picollo_histogram *made[HISTOGRAMS], *between[64];
    pthread_t thread, others[2];
    size_t footprint;
    /* A hanging test is ended, and fails. */
    alarm(SECONDS);
    sizes[0] = thread_local_histogram();
    footprint = footprint_of(sizes[0]);
    /* The histograms in between get the low indices in the tables of threads. */
    for (int i = 0; i < 64; i++) between[i] = thread_local_histogram();
    for (int i = 1; i < CLASSES; i++) sizes[i] = thread_local_histogram();
    size_of_a_histogram = footprint;
    for (int i = 0; i < HISTOGRAMS; i++) {
        CHECK(pthread_create(&thread, NULL, make_one, &made[i]) == 0);
        CHECK(pthread_create(&others[0], NULL, allocate, NULL) == 0);
        CHECK(pthread_create(&others[1], NULL, allocate, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        for (int other = 0; other < 2; other++) CHECK(pthread_join(others[other], NULL) == 0);
    }
    for (int i = 0; i < HISTOGRAMS; i++) picollo_histogram_free(made[i]);
    for (int i = 0; i < 64; i++) picollo_histogram_free(between[i]);
    uint64_t all = 0;
    for (int i = 0; i < CLASSES; i++) {
        const picollo_counts counts = counts_of(sizes[i]);
        CHECK_U64(asked[i], counts.total + counts.overflow);
        CHECK_U64(0, counts.lost);
        all += asked[i];
    }
    CHECK(asked[0] >= HISTOGRAMS && all > HISTOGRAMS * 2);
    for (int i = 0; i < CLASSES; i++) {
        picollo_histogram *const histogram = sizes[i];
        sizes[i] = NULL;
        picollo_histogram_free(histogram);
    }
    alarm(0);
}

int main(void)
{
    may_lack_memory = 1;
    RUN(every_allocation_fails);
    RUN(makers_names);
    RUN(reading_allocates_nothing);
    RUN(short_lines_touch_little_memory);
    RUN(whatever_is_allocated_may_be_recorded);
    return report();
}
