/* Text: the worked examples of the manual, byte for byte, and buffers of every size. */
#include "example.h"
#include "test.h"

static const char markdown[] = EXAMPLE_TABLE;

static const char diff[] =
    "##### Example diff\n"
    "| Percentile |   Before |    After |     Δ% |\n"
    "| :--------- | -------: | -------: | -----: |\n"
    "| 0          |    2,008 |    2,008 |   0.0% |\n"
    "| 1          |    2,064 |    2,064 |   0.0% |\n"
    "| 5          |    2,288 |    2,224 |  -2.8% |\n"
    "| 10         |    2,448 |    2,416 |  -1.3% |\n"
    "| 25         |    2,928 |    2,928 |   0.0% |\n"
    "| 50         |    3,600 |    3,696 |  +2.7% |\n"
    "| 75         |    5,472 |    5,728 |  +4.7% |\n"
    "| 90         |    7,456 |    7,904 |  +6.0% |\n"
    "| 92.5       |    7,840 |    8,256 |  +5.3% |\n"
    "| 95         |    8,256 |    8,768 |  +6.2% |\n"
    "| 97.5       |    8,768 |    9,280 |  +5.8% |\n"
    "| 99         |    9,152 |    9,792 |  +7.0% |\n"
    "| 99.9       |    9,664 |   10,304 |  +6.6% |\n"
    "| 99.99      |    9,792 |   10,432 |  +6.5% |\n"
    "| 99.999     |    9,792 |   10,432 |  +6.5% |\n"
    "| 100        |    9,792 |   10,432 |  +6.5% |\n"
    "|            |          |          |        |\n"
    "| Mean:      | 4,332.91 | 4,488.54 |  +3.6% |\n"
    "| StDev:     | 1,870.75 | 2,055.85 |  +9.9% |\n"
    "| Precision: |  0.7813% |  0.7813% |   0.0% |\n"
    "| Total:     |   99,940 |  145,798 | +45.9% |\n"
    "| D-value:   |          |          |   0.08 |\n";

static const char line[] =
    "Example: Total=99,940, Underflow=60, Overflow=0, Mean=4,332.9, P0=2,008, P25=2,928, P50=3,600, P90=7,456, "
    "P95=8,256, P99=9,152, P999=9,664, P100=9,792";

static picollo_summary summary_of(int second)
{
    picollo_histogram *histogram = example(second);
    picollo_summary summary;
    memset(&summary, 0, sizeof summary);
    CHECK_OK(picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, &summary));
    picollo_histogram_free(histogram);
    return summary;
}

static void worked_examples(void)
{
    const picollo_summary first = summary_of(0), second = summary_of(1);
    char text[8192];
    size_t length = 0;

    CHECK_OK(picollo_summary_format(&first, "Example", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length));
    CHECK_TEXT(markdown, text);
    CHECK_U64(strlen(markdown), length);

    CHECK_OK(picollo_summary_format(&first, "Example", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    CHECK_TEXT(line, text);
    CHECK_U64(strlen(line), length);

    CHECK_OK(picollo_percentile_format(&first.percentiles[11], text, sizeof text, &length));
    CHECK_TEXT("P99=9,152 [138 / 519]: [9,088, 9,216) 386", text);
    CHECK_U64(strlen(text), length);

    CHECK_OK(picollo_summary_format_diff(&first, &second, "Example diff", "Before", "After", PICOLLO_TEXT_MARKDOWN,
                                         text, sizeof text, &length));
    CHECK_TEXT(diff, text);
    CHECK_U64(strlen(diff), length);
}

static void listed_buckets(void)
{
    static const char first[] = "P0.073=2,008 [0 / 381]: [2,000, 2,016) 146\n";
    static char text[65536];
    size_t length = 0;
    picollo_histogram *histogram = example(0);
    picollo_snapshot *snapshot = snapshot_of(histogram);
    CHECK_OK(picollo_snapshot_format_buckets(snapshot, 1, PICOLLO_VALUE_MIDPOINT, text, sizeof text, &length));
    CHECK(strncmp(text, first, strlen(first)) == 0);
    CHECK(strstr(text, "=9,152 [138 / 519]: [9,088, 9,216) 386\n") != NULL);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_snapshot_format_buckets(snapshot, 2, 0, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_snapshot_format_buckets(snapshot, 0, 3, text, sizeof text, &length));
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);

    /* The last bucket of all ends beyond 64 bits. */
    histogram = create(0.001, 0, UINT64_MAX);
    picollo_histogram_record(histogram, UINT64_MAX);
    snapshot = snapshot_of(histogram);
    CHECK_OK(picollo_snapshot_format_buckets(snapshot, 1, PICOLLO_VALUE_UPPER, text, sizeof text, &length));
    CHECK(strstr(text, ", 18,446,744,073,709,551,616) 1\n") != NULL);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void json_and_csv(void)
{
    const picollo_summary first = summary_of(0);
    char text[8192];
    size_t length = 0;
    CHECK_OK(picollo_summary_format(&first, "a \"b\"", PICOLLO_TEXT_JSON, text, sizeof text, &length));
    CHECK(text[0] == '{' && text[length - 1] == '}');
    CHECK(strstr(text, "\"title\":\"a \\\"b\\\"\"") != NULL);
    CHECK(strstr(text, "\"total_count\":99940") != NULL);
    CHECK_OK(picollo_summary_format(&first, "a,b", PICOLLO_TEXT_CSV, text, sizeof text, &length));
    CHECK(strncmp(text, "title,rank,value,", 17) == 0);
    CHECK(strstr(text, "\n\"a,b\",0.0,2008,1,2000,2015,16,146,") != NULL);
}

static void people(void)
{
    const picollo_summary first = summary_of(0), second = summary_of(1);
    char text[4096];
    size_t length = 0;
    CHECK_OK(picollo_summary_format(&first, "Latency (ns)", PICOLLO_TEXT_HUMAN, text, sizeof text, &length));
    CHECK_TEXT("Latency: 99,940 values, 60 below the range\n"
               "    P50      P90      P99    P99.9      max     mean\n"
               "3.60 µs  7.46 µs  9.15 µs  9.66 µs  9.79 µs  4.33 µs",
               text);
    CHECK_OK(picollo_summary_format(&first, NULL, PICOLLO_TEXT_HUMAN, text, sizeof text, &length));
    CHECK(strstr(text, "\n3,600  7,456  9,152  9,664  9,792  4,333") != NULL);
    CHECK_OK(picollo_summary_format(&first, "(us)", PICOLLO_TEXT_FULL, text, sizeof text, &length));
    CHECK(strstr(text, "\nP99.99   9.79 ms  64 µs  99,931\n") != NULL);
    CHECK_OK(picollo_summary_format_diff(&first, &second, "(ns)", "A", "B", PICOLLO_TEXT_HUMAN, text, sizeof text, &length));
    CHECK(strncmp(text, "The median changed by +2.7 % from A to B: 3.60 µs → 3.70 µs.\n", 65) == 0);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_summary_format(&first, NULL, 6, text, sizeof text, &length));
}

/* Calls a text function with a buffer of a capacity, followed by bytes that must stay as they are. */
static void check_buffers(picollo_status (*format)(char *buffer, size_t capacity, size_t *out_length))
{
    static char whole[16384], buffer[16384];
    size_t needed = 0, length = 0;
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, format(NULL, 0, &needed));
    CHECK(needed > 10 && needed < sizeof buffer - 64);
    CHECK_OK(format(whole, sizeof whole, &length));
    CHECK_U64(needed, length);
    CHECK_U64(needed, strlen(whole));
    for (size_t capacity = 0; capacity <= needed + 2; capacity += capacity < 20 || capacity + 20 > needed ? 1 : 17) {
        memset(buffer, 0x5a, sizeof buffer);
        length = 0;
        if (capacity <= needed) {
            CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, format(buffer, capacity, &length));
            /* Only the first byte, if there is one. */
            CHECK(buffer[0] == (capacity == 0 ? 0x5a : 0));
            for (size_t i = 1; i < capacity + 64; i++) CHECK(buffer[i] == 0x5a);
        } else {
            CHECK_OK(format(buffer, capacity, &length));
            CHECK(memcmp(buffer, whole, needed + 1) == 0);
            for (size_t i = needed + 1; i < capacity + 64; i++) CHECK(buffer[i] == 0x5a);
        }
        CHECK_U64(needed, length);
    }
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, format(NULL, 1, &length));
    CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, format(buffer, sizeof buffer, NULL));
}

static picollo_summary summaries[2];
static picollo_snapshot *snapshot;

#define FORMATTER(name, format)                                                           \
    static picollo_status name(char *buffer, size_t capacity, size_t *out_length)         \
    {                                                                                     \
        return picollo_summary_format(&summaries[0], "Käse", format, buffer, capacity, out_length); \
    }                                                                                     \
    static picollo_status name##_diff(char *buffer, size_t capacity, size_t *out_length)  \
    {                                                                                     \
        return picollo_summary_format_diff(&summaries[0], &summaries[1], "Käse", NULL, "neu", format, buffer, capacity, \
                                           out_length);                                   \
    }
FORMATTER(as_markdown, PICOLLO_TEXT_MARKDOWN)
FORMATTER(as_line, PICOLLO_TEXT_LINE)
FORMATTER(as_json, PICOLLO_TEXT_JSON)
FORMATTER(as_csv, PICOLLO_TEXT_CSV)
FORMATTER(for_people, PICOLLO_TEXT_HUMAN)
FORMATTER(in_full, PICOLLO_TEXT_FULL)

static picollo_status percentile(char *buffer, size_t capacity, size_t *out_length)
{
    return picollo_percentile_format(&summaries[0].percentiles[11], buffer, capacity, out_length);
}

static picollo_status buckets(char *buffer, size_t capacity, size_t *out_length)
{
    return picollo_snapshot_format_buckets(snapshot, 1, PICOLLO_VALUE_MIDPOINT, buffer, capacity, out_length);
}

static void short_buffers(void)
{
    picollo_histogram *histogram = example(0);
    summaries[0] = summary_of(0);
    summaries[1] = summary_of(1);
    snapshot = snapshot_of(histogram);
    check_buffers(as_markdown);
    check_buffers(as_markdown_diff);
    check_buffers(as_line);
    check_buffers(as_line_diff);
    check_buffers(as_json);
    check_buffers(as_json_diff);
    check_buffers(as_csv);
    check_buffers(as_csv_diff);
    check_buffers(for_people);
    check_buffers(for_people_diff);
    check_buffers(in_full);
    check_buffers(in_full_diff);
    check_buffers(percentile);
    check_buffers(buckets);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void titles(void)
{
    const picollo_summary first = summary_of(0);
    char text[8192];
    size_t length = 77;
    memset(text, 0x5a, sizeof text);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_summary_format(&first, "not \xff UTF-8", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_summary_format_diff(&first, &first, "", "\xc3", "", PICOLLO_TEXT_LINE, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_summary_format_diff(&first, &first, "", "", "\xed\xa0\x80", PICOLLO_TEXT_LINE, text, sizeof text,
                                             &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_summary_format(&first, "", 6, text, sizeof text, &length));
    CHECK(length == 77 && text[0] == 0x5a);
    /* NULL is the empty title. */
    CHECK_OK(picollo_summary_format(&first, NULL, PICOLLO_TEXT_LINE, text, sizeof text, &length));
    CHECK(strncmp(text, "Total=", 6) == 0);
    CHECK_OK(picollo_summary_format(&first, "Größe | *fett*", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length));
    CHECK(strncmp(text, "##### Größe \\| \\*fett\\*\n", 25) == 0);
}

/* Whatever is in the struct: text, and no crash. */
static void hostile_summaries(void)
{
    char text[16384];
    size_t length = 0;
    uint64_t state = 5;
    for (int round = 0; round < rounds(2000); round++) {
        picollo_summary summary, other;
        unsigned char *bytes = (unsigned char *)&summary;
        for (size_t i = 0; i < sizeof summary; i++) bytes[i] = (unsigned char)(next_random(&state) >> 56);
        memset(&other, round % 2 ? 0xff : 0, sizeof other);
        for (uint32_t format = 0; format < 4; format++) {
            CHECK_OK(picollo_summary_format(&summary, "t", format, text, sizeof text, &length));
            CHECK_U64(length, strlen(text));
            CHECK_OK(picollo_summary_format_diff(&summary, &other, "t", "a", "b", format, text, sizeof text, &length));
            CHECK_OK(picollo_summary_format_diff(&other, &summary, "t", "a", "b", format, text, sizeof text, &length));
        }
        CHECK_OK(picollo_percentile_format(&summary.percentiles[round % 16], text, sizeof text, &length));
        CHECK_U64(length, strlen(text));
    }
}

int main(void)
{
    RUN(worked_examples);
    RUN(listed_buckets);
    RUN(json_and_csv);
    RUN(people);
    RUN(short_buffers);
    RUN(titles);
    RUN(hostile_summaries);
    return report();
}
