/* Clocks, conversions, scopes, and known work. */
#include "test.h"

#include <time.h>

static void sleep_ms(long milliseconds)
{
    const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static uint64_t frequency(uint32_t clock)
{
    uint64_t hertz = 0;
    CHECK_OK(picollo_clock_frequency(clock, &hertz));
    CHECK(hertz > 0);
    return hertz;
}

static void frequencies(void)
{
    uint64_t hertz = 77;
    CHECK_OK(picollo_clock_init());
    CHECK_U64(1000000000, frequency(PICOLLO_CLOCK_MONOTONIC));
    CHECK(frequency(PICOLLO_CLOCK_TSC) >= 1000000);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_clock_frequency(2, &hertz));
    CHECK_U64(77, hertz);
    CHECK_U64(0, picollo_clock_ticks(2));
    CHECK_U64(0, picollo_clock_ticks_ordered(2));
}

static void conversions(void)
{
    static const uint64_t units[] = {12345, 1000000000000, 1000000000, 1000000, 1000};
    static const uint32_t named[] = {PICOLLO_UNIT_TICKS, PICOLLO_UNIT_PICOS, PICOLLO_UNIT_NANOS, PICOLLO_UNIT_MICROS, PICOLLO_UNIT_MILLIS};
    for (uint32_t clock = 0; clock < 2; clock++) {
        for (int i = 0; i < 5; i++) CHECK_U64(units[i], picollo_clock_convert(clock, i == 0 ? 12345 : frequency(clock), named[i]));
        CHECK_U64(0, picollo_clock_convert(clock, 1000, 5));
    }
    CHECK_U64(0, picollo_clock_convert(2, 1000, PICOLLO_UNIT_TICKS));
}

/* The clock that nobody adjusts, if it exists. */
static uint64_t raw_nanos(void)
{
#ifdef CLOCK_MONOTONIC_RAW
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#else
    return picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC);
#endif
}

static void clocks_run_and_agree(void)
{
    const uint64_t tsc = picollo_clock_ticks(PICOLLO_CLOCK_TSC);
    const uint64_t start = picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC), raw_start = raw_nanos();
    uint64_t inner, raw_inner, outer;
    sleep_ms(50);
    raw_inner = raw_nanos() - raw_start;
    inner = picollo_clock_ticks(PICOLLO_CLOCK_MONOTONIC) - start;
    outer = picollo_clock_convert(PICOLLO_CLOCK_TSC, picollo_clock_ticks(PICOLLO_CLOCK_TSC) - tsc, PICOLLO_UNIT_NANOS);
    CHECK(inner >= 50000000 && inner < UINT64_C(5000000000));
    /* One encloses the other; the frequency's guaranteed precision is 100 ppm. */
    CHECK(outer + outer / 5000 >= raw_inner);
    for (uint32_t clock = 0; clock < 2; clock++) {
        /* An ordered reading uses the same clock. */
        const uint64_t before = picollo_clock_ticks(clock);
        sleep_ms(1);
        const uint64_t ordered = picollo_clock_ticks_ordered(clock);
        sleep_ms(1);
        CHECK(before < ordered && ordered < picollo_clock_ticks(clock));
    }
}

static void scopes_record(void)
{
    picollo_histogram *histogram = create(0.001, 0, 0);
    picollo_percentile percentiles[RANKS];
    picollo_summary summary;
    picollo_scope scope;
    uint64_t elapsed;
    for (uint32_t clock = 0; clock < 2; clock++) {
        picollo_scope_begin(histogram, clock, PICOLLO_UNIT_MICROS, &scope);
        sleep_ms(10);
        elapsed = picollo_scope_end(&scope);
        CHECK(elapsed >= 9990 && elapsed < 5000000);
        /* A second end does not record again. */
        CHECK(picollo_scope_end(&scope) >= elapsed);
    }
    CHECK_OK(SUMMARIZE(histogram, histogram, PICOLLO_VALUE_MIDPOINT, percentiles, &summary));
    CHECK_U64(2, summary.total_count);
    CHECK(summary.percentiles[0].value >= 9900 && summary.percentiles[RANKS - 1].value < 5000000);

    /* Without a histogram it only measures. */
    picollo_scope_begin(NULL, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_NANOS, &scope);
    sleep_ms(1);
    CHECK(picollo_scope_end(&scope) >= 999000);

    /* With an unknown clock or unit, nothing is recorded. */
    picollo_scope_begin(histogram, 2, PICOLLO_UNIT_NANOS, &scope);
    CHECK_U64(0, picollo_scope_end(&scope));
    picollo_scope_begin(histogram, PICOLLO_CLOCK_TSC, 5, &scope);
    CHECK_U64(0, picollo_scope_end(&scope));
    CHECK_OK(SUMMARIZE(histogram, histogram, PICOLLO_VALUE_MIDPOINT, percentiles, &summary));
    CHECK_U64(2, summary.total_count);

    /* A clock that seems to run backwards: no time has passed. */
    picollo_scope_begin(histogram, PICOLLO_CLOCK_MONOTONIC, PICOLLO_UNIT_NANOS, &scope);
    scope.start = UINT64_MAX;
    CHECK_U64(0, picollo_scope_end(&scope));
    picollo_histogram_free(histogram);
}

/* The shortest of many times, in picoseconds. */
static uint64_t shortest(uint64_t repetitions)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 300; i++) {
        picollo_scope scope;
        uint64_t elapsed;
        picollo_scope_begin(NULL, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_PICOS, &scope);
        picollo_work_add_chain_256(repetitions);
        elapsed = picollo_scope_end(&scope);
        if (elapsed < best) best = elapsed;
    }
    return best;
}

static void known_work_takes_its_time(void)
{
    const uint64_t shorter = shortest(100), longer = shortest(1100);
    const uint64_t addition = (longer - shorter) / (1000 * 256);
    printf("an addition takes %" PRIu64 " ps\n", addition);
    picollo_work_add_chain_256(0);
    /* One cycle at 8 GHz, the fastest; emulators and checkers are slower, never faster. */
    CHECK(longer > shorter && addition >= 125);
}

int main(void)
{
    RUN(frequencies);
    RUN(conversions);
    RUN(clocks_run_and_agree);
    RUN(scopes_record);
    RUN(known_work_takes_its_time);
    return report();
}
