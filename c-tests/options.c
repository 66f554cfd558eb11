/* Options: sizes older and newer than this version, and values that nobody offers. */
#include "test.h"

static picollo_status try_options(const picollo_histogram_options *options)
{
    picollo_histogram *const untouched = (picollo_histogram *)options;
    picollo_histogram *histogram = untouched;
    size_t size = 77, align = 77;
    const picollo_status status = picollo_histogram_create(options, &histogram);
    const picollo_status sized = picollo_histogram_required_size(options, &size, &align);
    if (status == PICOLLO_OK) {
        CHECK(histogram != untouched && histogram != NULL);
        picollo_histogram_free(histogram);
    } else {
        /* Written only on success. */
        CHECK(histogram == untouched);
        CHECK_STATUS(status, sized);
        CHECK(size == 77 && align == 77);
    }
    return status;
}

static void struct_sizes(void)
{
    /* As a caller would have it to whom the struct has 64 more bytes. */
    struct newer {
        picollo_histogram_options known;
        uint8_t unknown[64];
    } newer;
    memset(&newer, 0, sizeof newer);

    newer.known.struct_size = 0;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&newer.known));
    newer.known.struct_size = 4;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&newer.known));
    /* That of the first version, without a unit. */
    newer.known.struct_size = 55;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&newer.known));
    newer.known.struct_size = 56;
    newer.known.unit = UINT64_MAX;
    CHECK_OK(try_options(&newer.known));
    newer.known.struct_size = sizeof newer.known;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&newer.known));
    newer.known.unit = 0;
    CHECK_OK(try_options(&newer.known));
    newer.known.struct_size = sizeof newer;
    CHECK_OK(try_options(&newer.known));
    newer.known.struct_size = sizeof newer.known + 1;
    CHECK_OK(try_options(&newer.known));

    for (size_t i = 0; i < sizeof newer.unknown; i++) {
        newer.unknown[i] = 1;
        newer.known.struct_size = sizeof newer;
        CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, try_options(&newer.known));
        /* What lies behind the struct is not looked at. */
        newer.known.struct_size = (uint32_t)(sizeof newer.known + i);
        CHECK_OK(try_options(&newer.known));
        newer.unknown[i] = 0;
    }

    /* Garbage is not read through. */
    newer.known.struct_size = UINT32_MAX;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&newer.known));
    newer.known.struct_size = 1 << 20;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&newer.known));
}

static void misaligned(void)
{
    uint64_t memory[16];
    picollo_histogram *histogram = NULL;
    memset(memory, 0, sizeof memory);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_histogram_create((const picollo_histogram_options *)((char *)memory + 4), &histogram));
    CHECK(histogram == NULL);
}

static void unknown_values(void)
{
    static const uint32_t widths[] = {1, 16, 31, 33, 63, 65, 128, UINT32_MAX};
    picollo_histogram_options options = default_options();
    options.mode = 5;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&options));
    options.mode = UINT32_MAX;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&options));

    options = default_options();
    options.storage = 2;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&options));
    options.storage = UINT32_MAX;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&options));

    options = default_options();
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        options.counter_bits = widths[i];
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&options));
    }
    options.counter_bits = 32;
    CHECK_OK(try_options(&options));
    options.counter_bits = 64;
    CHECK_OK(try_options(&options));

    options = default_options();
    options.flags = 1u << 2;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, try_options(&options));
    options.flags = 1u << 31 | PICOLLO_HISTOGRAM_NO_LIVE_RESET;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, try_options(&options));
    options.flags = PICOLLO_HISTOGRAM_NO_LIVE_RESET;
    CHECK_OK(try_options(&options));

    options = default_options();
    options.significant_digits = 6;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&options));
    options.significant_digits = UINT32_MAX;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&options));
}

/* Every mode is either offered or refused by its name, never something else. */
static void modes_and_storages(void)
{
    for (uint32_t mode = 0; mode < 4; mode++) {
        for (uint32_t storage = 0; storage < 2; storage++) {
            picollo_histogram_options options = default_options();
            picollo_status status;
            options.mode = mode;
            options.storage = storage;
            status = try_options(&options);
            CHECK(status == PICOLLO_OK || status == PICOLLO_ERR_UNSUPPORTED);
            if (storage == PICOLLO_STORAGE_DENSE) CHECK(status == PICOLLO_OK);
        }
    }
}

static void ranges(void)
{
    picollo_histogram_options options = default_options();
    options.min_trackable = 5;
    options.max_trackable = 5;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&options));
    options.max_trackable = 4;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&options));
    options.min_trackable = UINT64_MAX;
    options.max_trackable = 0;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, try_options(&options));
    options.min_trackable = UINT64_MAX - 1;
    CHECK_OK(try_options(&options));
}

static uint64_t counters_for(double relative_error, uint32_t significant_digits)
{
    picollo_histogram_options options = default_options();
    picollo_histogram *histogram = NULL;
    size_t length = 0;
    picollo_snapshot *snapshot;
    options.relative_error = relative_error;
    options.significant_digits = significant_digits;
    options.max_trackable = 1000;
    CHECK_OK(picollo_histogram_create(&options, &histogram));
    snapshot = snapshot_of(histogram);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_buckets(snapshot, 0, NULL, 0, &length));
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
    return length;
}

static void relative_errors(void)
{
    const uint64_t by_default = counters_for(0.001, 0);
    CHECK_U64(by_default, counters_for(0, 0));
    CHECK_U64(by_default, counters_for(-1, 0));
    CHECK_U64(by_default, counters_for(NAN, 0));
    CHECK_U64(counters_for(0.1, 0), counters_for(5, 0));
    CHECK_U64(counters_for(0.1, 0), counters_for(INFINITY, 0));
    CHECK(counters_for(0.1, 0) < counters_for(0.01, 0));
    /* Blocks of 16 whatever the error: 1000 is in 16 * 5 + 1000 / 32. */
    CHECK_U64(16 * 5 + 1000 / 32 + 1, counters_for(0.001, 1));
}

/* The message names the field. */
static void explained(void)
{
    picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
    picollo_error error;
    memset(&error, 0, sizeof error);
    CHECK_OK(picollo_histogram_explain(NULL, &error));
    CHECK_OK(picollo_histogram_explain(&options, &error));
    CHECK(error.message[0] == 0);
    options.counter_bits = 7;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_explain(&options, NULL));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_explain(&options, &error));
    CHECK_TEXT("counter_bits is 7, and has to be 0, 32 or 64", error.message);
    options.counter_bits = 0;
    options.min_trackable = 10;
    options.max_trackable = 5;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_explain(&options, &error));
    CHECK_TEXT("min_trackable is 10, and has to be less than max_trackable", error.message);
    options.counter_bits = 7;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_explain(&options, &error));
    CHECK(strncmp(error.message, "several of the options", 22) == 0);
    options.struct_size = 3;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_explain(&options, &error));
    CHECK(strncmp(error.message, "struct_size: ", 13) == 0);
    options.struct_size = sizeof options;
    options.counter_bits = 0;
    options.min_trackable = options.max_trackable = 0;
    options.flags = 1u << 31;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_explain(&options, &error));
    CHECK(error.status == PICOLLO_ERR_UNSUPPORTED && strncmp(error.message, "flags is 2147483648", 19) == 0);
}

int main(void)
{
    RUN(struct_sizes);
    RUN(misaligned);
    RUN(unknown_values);
    RUN(modes_and_storages);
    RUN(ranges);
    RUN(relative_errors);
    RUN(explained);
    return report();
}
