/* The C interface without an operating system, a C library or an allocator. The program and an interrupt handler
 * record into a histogram in static memory. Calls that need more than that must report it. */
#include <picollo_all.h>

#include "start.h"

static int failed, passed;

static void check(int good, const char *what)
{
    say(good ? "ok: " : "FAILED: ");
    say(what);
    say("\n");
    *(good ? &passed : &failed) += 1;
}

static _Alignas(64) unsigned char histogram_memory[4096];
static _Alignas(64) unsigned char snapshot_memory[4096];
static picollo_summary summary;
static char text[2048];
static picollo_histogram *histogram;
static volatile uint32_t ticks;

void tick(void)
{
    picollo_histogram_record(histogram, 10000);
    ticks = ticks + 1;
}

static void say_number(unsigned number)
{
    char digits[12];
    int at = 11;
    digits[at] = 0;
    do digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    say(&digits[at]);
}

static void counting(void)
{
    picollo_histogram_options options = {.struct_size = sizeof options, .mode = PICOLLO_MODE_INTERLOCKED};
    picollo_snapshot *snapshot = NULL;
    picollo_counts counts = {0};
    picollo_bucket bucket = {0};
    size_t size = 0, align = 0, length = 0;

    options.counter_bits = 64;
    options.relative_error = 0.1;
    options.max_trackable = 16383;
    check(picollo_histogram_required_size(&options, &size, &align) == PICOLLO_OK && size <= sizeof histogram_memory && align <= 64,
          "the histogram fits");
    check(picollo_histogram_init_in(histogram_memory, sizeof histogram_memory, &options, &histogram) == PICOLLO_OK,
          "a histogram in static memory");

    start_timer(1009);
    for (uint64_t value = 0; value < 10000; value++) picollo_histogram_record(histogram, value % 1000);
    while (ticks < 50) picollo_histogram_record_n(histogram, 0, 0);
    start_timer(0);

    check(picollo_snapshot_required_size(histogram, &size, &align) == PICOLLO_OK && size <= sizeof snapshot_memory, "the snapshot fits");
    check(picollo_snapshot_init_in(snapshot_memory, sizeof snapshot_memory, histogram, &snapshot) == PICOLLO_OK, "a snapshot in static memory");
    check(picollo_snapshot_counts(snapshot, &counts) == PICOLLO_OK && counts.total == 10000u + ticks && counts.lost == 0,
          "every record of the program and of the handler is counted");
    check(picollo_snapshot_bucket_of(snapshot, 10000, &bucket) == PICOLLO_OK && bucket.count == ticks, "the handler's among them");
    check(picollo_snapshot_summary(snapshot, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary) == PICOLLO_OK && summary.total_count == counts.total,
          "a summary");
    check(picollo_summary_format(&summary, "C on a Cortex-M", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length) == PICOLLO_OK && length < sizeof text,
          "its text");
    say(text);
    check(picollo_histogram_reset(histogram) == PICOLLO_OK && picollo_snapshot_update(snapshot, PICOLLO_SINCE_RESET) == PICOLLO_OK &&
              picollo_snapshot_counts(snapshot, &counts) == PICOLLO_OK && counts.total == 0,
          "a live reset");
    picollo_snapshot_free(snapshot);
}

/* Without memory, clocks and counters calls return UNSUPPORTED, never wrong results. */
static void honesty(void)
{
    picollo_histogram *none = NULL;
    picollo_snapshot *no_snapshot = NULL;
    picollo_session *no_session = NULL;
    picollo_log_reader *no_log = NULL;
    static const double blocks[2] = {1, 2};
    static picollo_block_comparison comparison;
    static picollo_event event;
    static picollo_perf_info info;
    static picollo_error error;
    picollo_histogram_options options = {.struct_size = sizeof options};
    picollo_scope scope;
    uint64_t hertz = 7;

    check(picollo_histogram_create(NULL, &none) == PICOLLO_ERR_UNSUPPORTED && none == NULL, "no histogram on the heap");
    options.storage = PICOLLO_STORAGE_SPARSE;
    check(picollo_histogram_create(&options, &none) == PICOLLO_ERR_UNSUPPORTED, "nor a sparse one");
    options.storage = PICOLLO_STORAGE_DENSE;
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    check(picollo_histogram_create(&options, &none) == PICOLLO_ERR_UNSUPPORTED, "nor a thread-local one");
    check(picollo_snapshot_create(histogram, &no_snapshot) == PICOLLO_ERR_UNSUPPORTED && no_snapshot == NULL, "no snapshot on the heap");
    check(picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, NULL, 0, NULL, &summary) == PICOLLO_ERR_UNSUPPORTED, "no summary that would make one");
    check(picollo_snapshot_decode("no data", 7, 0, &no_snapshot) == PICOLLO_ERR_UNSUPPORTED && no_snapshot == NULL, "nothing is decoded");
    check(picollo_log_reader_create("#", 1, &no_log) == PICOLLO_ERR_UNSUPPORTED && no_log == NULL, "no logs are read");
    check(picollo_compare_blocks(blocks, blocks, 2, NULL, &comparison) == PICOLLO_ERR_UNSUPPORTED, "no blocks are sorted");
    check(picollo_clock_init() == PICOLLO_ERR_UNSUPPORTED, "no clock");
    check(picollo_clock_frequency(PICOLLO_CLOCK_MONOTONIC, &hertz) == PICOLLO_ERR_UNSUPPORTED && hertz == 7, "no frequency of it");
    check(picollo_clock_ticks(PICOLLO_CLOCK_TSC) == 0 && picollo_clock_convert(PICOLLO_CLOCK_TSC, 1000, PICOLLO_UNIT_NANOS) == 0, "no ticks");
    picollo_scope_begin(NULL, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_NANOS, &scope);
    check(picollo_scope_end(&scope) == 0, "no time in a scope");
    check(picollo_event_parse("cycles", &event, &error) == PICOLLO_ERR_UNSUPPORTED && error.message[0] != 0, "no events");
    check(picollo_session_create(NULL, &event, 1, &no_session, &error) == PICOLLO_ERR_UNSUPPORTED && no_session == NULL, "no session");
    check(picollo_perf_probe(&info, &error) == PICOLLO_OK && info.pmu_available == 0 && info.explanation[0] != 0, "no counters, and why");
    say("    ");
    say(info.explanation);
    say("\n");
    check(picollo_histogram_create(NULL, NULL) == PICOLLO_ERR_NULL_POINTER, "NULL is found out");
    check(picollo_abi_version() == PICOLLO_ABI_VERSION && picollo_status_str(PICOLLO_OK)[0] == 'o', "versions and sentences");
    picollo_work_add_chain_256(1);
    picollo_histogram_free(histogram);
    check(1, "known work");
}

int main(void)
{
    counting();
    honesty();
    say_number((unsigned)passed);
    say(" passed, ");
    say_number((unsigned)failed);
    say(" failed\n");
    return failed;
}
