/* The stack use of calls, measured on painted stacks. Threads may have little stack: 128 KiB is musl's default, and at
 * least 16 KiB exist everywhere. `PICOLLO_STACK=1` prints a table. */
#include "test.h"

#include <pthread.h>
#include <sys/mman.h>

#include <picollo_inline.h>

enum { PAINTED = 1 << 20, PAINT = 0xa5, MOST = 16 << 10 };

static picollo_histogram *histogram, *thread_local_one;
static picollo_snapshot *snapshot, *other, *coarse;
static picollo_registry *registry;
static picollo_exemplars *slow;
static picollo_log_reader *reader;
static picollo_percentile usual[RANKS];
static picollo_summary summaries[2];
static unsigned char bytes[1 << 20];
static char text[1 << 20], log_text[1 << 20];
static size_t length, text_length;

static void nothing(void) {}
static void record(void) { picollo_histogram_record(thread_local_one, 5); }
static void batch(void)
{
    static const uint64_t values[100] = {1, 2, 3};
    picollo_histogram_record_batch(histogram, values, 100);
}
static void corrected(void) { picollo_histogram_record_corrected(histogram, 1000000, 3); }
static void create_and_free(void) { picollo_histogram_free(create(0.01, 0, 1000000)); }
static void reset(void)
{
    CHECK_OK(picollo_histogram_reset(histogram));
    CHECK_OK(picollo_histogram_reset(thread_local_one));
}
static void update(void) { CHECK_OK(picollo_snapshot_update(snapshot, 0)); }
static void percentiles(void)
{
    static double ranks[200];
    static picollo_percentile found[200];
    for (int i = 0; i < 200; i++) ranks[i] = (i * 37) % 100;
    CHECK_OK(picollo_snapshot_percentiles(snapshot, ranks, 200, 0, found));
}
static void summary(void) { CHECK_OK(SUMMARIZE(histogram, histogram, 0, usual, &summaries[0])); }
static void summary_text(void)
{
    for (int form = 0; form < 4; form++)
        CHECK_OK(picollo_summary_format(&summaries[0], "Title", text_form(form), text, sizeof text, &text_length));
    CHECK_OK(picollo_summary_format_diff(&summaries[0], &summaries[0], "Title", "a", "b", 0, text, sizeof text, &text_length));
}
static void hgrm(void) { CHECK_OK(picollo_snapshot_format_hgrm(snapshot, 5, 1.0, 0, text, sizeof text, &text_length)); }
static void merge(void)
{
    CHECK_OK(picollo_snapshot_merge(coarse, snapshot, 0, NULL));
}
static void correct(void)
{
    picollo_snapshot *copy = NULL;
    CHECK_OK(picollo_snapshot_corrected(snapshot, 3, &copy));
    picollo_snapshot_free(copy);
}
static void encode(void)
{
    for (uint32_t encoding = 0; encoding < 3; encoding++) {
        CHECK_OK(picollo_snapshot_encode(snapshot, encoding, bytes, sizeof bytes, &length));
        CHECK_OK(picollo_snapshot_encode_base64(snapshot, encoding, text, sizeof text, &text_length));
    }
}
static void encode_compressed(void)
{
    CHECK_OK(picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_HDR_V2_COMPRESSED, bytes, sizeof bytes, &length));
}
static void decode(void)
{
    picollo_snapshot *decoded = NULL;
    CHECK_OK(picollo_snapshot_decode(bytes, length, 0, &decoded));
    picollo_snapshot_free(decoded);
    CHECK_OK(picollo_snapshot_decode((const unsigned char *)text, text_length, 0, &decoded));
    picollo_snapshot_free(decoded);
}
static void write_log(void)
{
    CHECK_OK(picollo_log_format_interval(snapshot, 1.0, 1.0, "tag", log_text, sizeof log_text, &text_length));
}
static void read_log(void)
{
    picollo_log_interval interval;
    picollo_snapshot *decoded = NULL;
    CHECK_OK(picollo_log_reader_create(log_text, strlen(log_text), &reader));
    CHECK_OK(picollo_log_reader_next(reader, &interval));
    CHECK_OK(picollo_log_reader_decode(reader, 0, &decoded));
    picollo_snapshot_free(decoded);
    picollo_log_reader_free(reader);
}
static void openmetrics(void)
{
    CHECK_OK(picollo_registry_update(registry));
    CHECK_OK(picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, text, sizeof text, &text_length));
}
static void compare(void)
{
    picollo_comparison comparison;
    CHECK_OK(picollo_compare(snapshot, other, NULL, &comparison));
    CHECK_OK(picollo_comparison_format(&comparison, &summaries[0], &summaries[0], "Title", "a", "b", 0, text, sizeof text, &text_length));
}

static void slow_scopes(void)
{
    picollo_exemplar_scope scope;
    for (int i = 0; i < 100; i++) {
        picollo_exemplars_begin(slow, &scope);
        picollo_work_add_chain_256(40);
        CHECK(picollo_exemplars_end(slow, &scope) == PICOLLO_EXEMPLAR_KEPT);
    }
    picollo_exemplar_context context = {{1, 2}, {0}, {0}};
    CHECK_OK(picollo_exemplars_annotate(slow, &scope, &context));
}
static void collect(void)
{
    picollo_exemplars *made;
    CHECK_OK(picollo_exemplars_create(histogram, NULL, &made, NULL));
    picollo_exemplars_free(made);
    CHECK_OK(picollo_exemplars_collect(slow, NULL));
}
static void why_slow(void)
{
    for (uint32_t format = 0; format <= PICOLLO_TEXT_HTML; format++) {
        if (format == PICOLLO_TEXT_HUMAN || format == PICOLLO_TEXT_MARKDOWN || format == PICOLLO_TEXT_JSON || format == PICOLLO_TEXT_HTML)
            CHECK_OK(picollo_exemplars_format(slow, format, text, sizeof text, &text_length));
    }
}

static const struct {
    const char *name;
    void (*call)(void);
    size_t most;
} calls[] = {
    {"nothing", nothing, MOST},
    {"a record, the first of a thread", record, MOST},
    {"a batch", batch, MOST},
    {"corrected recording", corrected, MOST},
    {"making and freeing a histogram", create_and_free, MOST},
    {"update of a snapshot", update, MOST},
    {"percentiles in any order", percentiles, MOST},
    {"summary", summary, MOST},
    {"summaries as text", summary_text, MOST},
    {"hgrm", hgrm, MOST},
    {"merge", merge, MOST},
    {"correction", correct, MOST},
    {"encoding", encode, MOST},
    {"encoding, compressed", encode_compressed, MOST},
    {"decoding", decode, MOST},
    {"a line of a log, written", write_log, MOST},
    {"a line of a log, read", read_log, MOST},
    {"OpenMetrics", openmetrics, MOST},
    {"comparison", compare, MOST},
    {"resets", reset, MOST},
    {"slow scopes of a collector", slow_scopes, MOST},
    {"collecting", collect, MOST},
    {"why slow, in all forms", why_slow, MOST},
};

static void *run(void *call)
{
    (*(void (*const *)(void))call)();
    return NULL;
}

static size_t stack_of(void (*const *call)(void))
{
    unsigned char *const stack =
        (unsigned char *)mmap(NULL, PAINTED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    size_t unused = 0;
    if (stack == MAP_FAILED) abort();
    memset(stack, PAINT, PAINTED);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstack(&attributes, stack, PAINTED) == 0);
    CHECK(pthread_create(&thread, &attributes, run, (void *)(uintptr_t)call) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    while (unused < PAINTED && stack[unused] == PAINT) unused++;
    CHECK(munmap(stack, PAINTED) == 0);
    return PAINTED - unused;
}

static void no_call_needs_much_stack(void)
{
    picollo_histogram_options options = default_options();
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    uint64_t id, state = 1;
    size_t base;
    if (SANITIZED || is_quick()) {
        SKIPPED("sanitizers put more on the stack, and memcheck minds that it is looked at");
        return;
    }
    options.significant_digits = 3;
    histogram = create_from(&options);
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    thread_local_one = create_from(&options);
    coarse = snapshot_of(create(0.01, 0, 1000000));
    for (int i = 0; i < 100000; i++) picollo_histogram_record(histogram, next_example(&state, 0));
    snapshot = snapshot_of(histogram);
    other = snapshot_of(histogram);
    CHECK_OK(picollo_registry_create(&registry));
    metric.name = "latency";
    CHECK_OK(picollo_registry_add(registry, histogram, &metric, NULL, 0, &id));
    picollo_exemplars_options all_slow = PICOLLO_EXEMPLARS_OPTIONS_INIT;
    all_slow.threshold = 1;
    all_slow.slowest = 200;
    CHECK_OK(picollo_exemplars_create(histogram, &all_slow, &slow, NULL));
    base = stack_of(&calls[0].call);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const size_t used = stack_of(&calls[i].call), own = used > base ? used - base : 0;
        if (getenv("PICOLLO_STACK") != NULL) printf("%-34s %7zu bytes of stack\n", calls[i].name, own);
        if (own > calls[i].most) {
            fprintf(stderr, "%s: ", calls[i].name);
            CHECK_U64(calls[i].most, own);
        }
    }
    picollo_exemplars_free(slow);
}

int main(void)
{
    RUN(no_call_needs_much_stack);
    return report();
}
