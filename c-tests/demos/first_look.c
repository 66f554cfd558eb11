/* The demo of `make demo`: is it faster to add up a hundred thousand bytes if they are sorted? One measurement gives
 * the answer and its certainty, both distributions, counts of the processor and the kernel, and a report for the
 * browser.
 *
 *   first_look [REPORT.html]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <picollo_all.h>

#define BYTES 100000
#define EVENTS 4

static const char *const names[2] = {"random", "sorted"};
static const char *const events[EVENTS] = {"cycles", "branch-misses", "task-clock", "page-faults"};
static unsigned char bytes[2][BYTES];
static char text[1 << 16];

static void check(picollo_status status, const char *what)
{
    if (status == PICOLLO_OK) return;
    fprintf(stderr, "%s: %s\n", what, picollo_status_str(status));
    exit(1);
}

/* The barrier keeps the compiler from removing the branch (with a conditional move, or eight bytes at a time). */
static uint64_t sum_of_large(const unsigned char *data)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BYTES; i++) {
        if (data[i] >= 128) {
            __asm__ volatile("" : "+r"(sum));
            sum += data[i];
        }
    }
    return sum;
}

static int compare(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

static void fill(void)
{
    uint64_t x = 1;
    for (size_t i = 0; i < BYTES; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[0][i] = (unsigned char)(x >> 56);
    }
    memcpy(bytes[1], bytes[0], BYTES);
    qsort(bytes[1], BYTES, 1, compare);
}

/* A and B alternate, so that other activity affects both. Single sums are recorded: one call per sample. */
static picollo_benchmark *measure(void)
{
    picollo_benchmark *benchmark;
    picollo_event parsed[EVENTS];
    picollo_error error;
    for (int i = 0; i < EVENTS; i++) check(picollo_event_parse(events[i], &parsed[i], &error), events[i]);
    picollo_benchmark_options options = PICOLLO_BENCHMARK_OPTIONS_INIT;
    options.repetitions = 1;
    options.budget_seconds = 4;
    options.flags = PICOLLO_BENCHMARK_KEEP_DISTURBED; /* despite other activity: the difference is large */
    options.precision = -1; /* the whole budget, for the tails */
    check(picollo_benchmark_create(&options, parsed, EVENTS, &benchmark, &error), "benchmark");

    uint32_t which;
    uint64_t calls, sums[2] = {0, 0};
    picollo_status status;
    while ((status = picollo_benchmark_next(benchmark, &which, &calls, &error)) == PICOLLO_OK) {
        if (which != PICOLLO_BENCHMARK_EMPTY) {
            while (calls-- > 0) sums[which] = sum_of_large(bytes[which]);
        }
        check(picollo_benchmark_done(benchmark, &error), "benchmark");
    }
    if (status != PICOLLO_END) check(status, "benchmark");
    if (sums[0] != sums[1]) exit(1); /* they are the same bytes */
    return benchmark;
}

/* Prints lines of at most 78 characters. */
static void print_wrapped(const char *line)
{
    while (strlen(line) > 78) {
        int end = 78;
        while (end > 0 && line[end] != ' ') end--;
        if (end == 0) break;
        printf("%.*s\n", end, line);
        line += end + 1;
    }
    puts(line);
}

/* Which counters are missing, and why. Printed once, because without a PMU the reason is the same for all. */
static void explain_missing(const picollo_benchmark *benchmark)
{
    picollo_perf_info machine;
    check(picollo_perf_probe(&machine, NULL), "probe");
    char line[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < EVENTS; i++) {
        picollo_benchmark_counts counts;
        check(picollo_benchmark_counter(benchmark, i, &counts), events[i]);
        if (counts.status == PICOLLO_OK) continue;
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", used == 0 ? "Not counted: " : ", ", events[i]);
        if (machine.pmu_available) {
            used += (size_t)snprintf(line + used, sizeof line - used, " (%s)", picollo_status_str(counts.status));
        }
    }
    if (used == 0) return;
    if (!machine.pmu_available) {
        /* The explanation begins with the event that was tried. */
        const char *why = strstr(machine.explanation, ": ");
        snprintf(line + used, sizeof line - used, ": %s", why != NULL ? why + 2 : machine.explanation);
    }
    puts("");
    print_wrapped(line);
}

int main(int argc, char **argv)
{
    fill();
    printf("A hundred thousand bytes: are the large ones added up faster when sorted?\n\n");
    fflush(stdout);
    picollo_benchmark *benchmark = measure();

    size_t length;
    check(picollo_benchmark_format(benchmark, "", names[0], names[1], PICOLLO_TEXT_HUMAN, text, sizeof text, &length), "text");
    puts(text);
    explain_missing(benchmark);

    picollo_snapshot *snapshots[2];
    for (uint32_t which = 0; which < 2; which++) {
        picollo_histogram *samples;
        check(picollo_benchmark_histogram_ref(benchmark, which, &samples), "histogram");
        check(picollo_snapshot_create(samples, &snapshots[which]), "snapshot");
        check(picollo_snapshot_update(snapshots[which], PICOLLO_SINCE_RESET), "snapshot");
        picollo_histogram_free(samples);
    }
    puts("");
    for (int which = 0; which < 2; which++) {
        check(picollo_snapshot_format_chart(snapshots[which], PICOLLO_PICTURE_SPARKLINE, NULL, NULL, 60, 0, PICOLLO_CHARACTERS_UNICODE, text, sizeof text, &length), "line");
        printf("%-6s %s\n", names[which], text);
    }
    check(picollo_snapshot_format_chart(snapshots[0], PICOLLO_PICTURE_PERCENTILES, "Random order, by percentile", "ps", 60, 5,
                                        PICOLLO_CHARACTERS_UNICODE, text, sizeof text, &length), "chart");
    printf("\n%s", text);

    if (argc > 1) {
        const picollo_snapshot *both[] = {snapshots[0], snapshots[1]};
        /* Queries the length, without a buffer. */
        (void)picollo_report_format_html(both, names, 2, "A hundred thousand bytes", "ps", NULL, 0, &length);
        char *html = malloc(length + 1);
        if (html == NULL) return 1;
        check(picollo_report_format_html(both, names, 2, "A hundred thousand bytes", "ps", html, length + 1, &length), "report");
        FILE *file = fopen(argv[1], "w");
        if (file == NULL || fwrite(html, 1, length, file) != length || fclose(file) != 0) {
            perror(argv[1]);
            return 1;
        }
        free(html);
        printf("\nCurves, densities, all percentiles, for a browser: %s\n", argv[1]);
    }
    for (int which = 0; which < 2; which++) picollo_snapshot_free(snapshots[which]);
    picollo_benchmark_free(benchmark);
    return 0;
}
