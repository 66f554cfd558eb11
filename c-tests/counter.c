/* Counters of one word: exact ones exactly, approximate ones within their error, with several threads. */
#include "test.h"

#include <pthread.h>

static void exact_below_the_threshold(void)
{
    for (uint32_t bits = 1; bits <= 14; bits++) {
        uint64_t wide = 0, capped = 0;
        uint32_t narrow = 0;
        for (uint64_t count = 1; count <= UINT64_C(1) << bits; count++) {
            picollo_scalable_counter_add_n64(&wide, 1, bits);
            picollo_scalable_counter_add_n32(&narrow, 1, bits);
            picollo_capped_counter_add64(&capped, 1, bits, 10);
            CHECK(wide == count && narrow == count && capped == count);
        }
        CHECK_U64(UINT64_C(1) << bits, picollo_counter_read64(&wide));
        CHECK_U64(UINT64_C(1) << bits, picollo_counter_read32(&narrow));
    }
}

static double relative(double counted, double truth)
{
    return fabs(counted / truth - 1);
}

/* One thread, 2^20 events: sigma is 0.9 %, and seven times that is not seen by chance. */
static void approximate_within_the_error(void)
{
    const int events = rounds(1 << 20);
    uint64_t scalable = 0, capped = 0, sensing = 0, none = 0;
    uint32_t narrow = 0;
    for (int i = 0; i < events; i++) {
        picollo_scalable_counter_add_n64(&scalable, 1, 0);
        picollo_scalable_counter_add_n32(&narrow, 1, 0);
        picollo_capped_counter_add64(&capped, 1, 6, 4);
        picollo_capped_counter_add64(&none, 1, 6, 0);
        picollo_sensing_counter_add64(&sensing, 1, 6);
    }
    CHECK(relative((double)scalable, events) < 0.063);
    CHECK(relative((double)narrow, events) < 0.063);
    /* In steps of 16: seven times the error that the manual gives. */
    CHECK(relative((double)capped, events) < 7 * sqrt(16.0 / events));
    CHECK(events < 1 << 20 || scalable != (uint64_t)events || narrow != (uint32_t)events);
    /* A cap of 1 is exact, and so is one thread that meets nobody. */
    CHECK_U64((uint64_t)events, none);
    CHECK_U64((uint64_t)events, sensing);
}

static void many_at_once(void)
{
    uint64_t wide = 0;
    uint32_t narrow = 1;
    picollo_scalable_counter_add_n64(&wide, UINT64_C(1) << 40, 0);
    CHECK_U64(UINT64_C(1) << 40, wide);
    /* Modulo 2^32, in steps of one. */
    picollo_capped_counter_add32(&narrow, UINT64_C(0xffffffff), 0, 0);
    CHECK_U64(0, narrow);
    picollo_capped_counter_add32(&narrow, 5, 0, 0);
    picollo_capped_counter_add64(&wide, 11, 0, 0);
    CHECK_U64(5, narrow);
    CHECK_U64((UINT64_C(1) << 40) + 11, wide);
    picollo_scalable_counter_add_n32(&narrow, 3, 31);
    picollo_scalable_counter_add_n32(&narrow, 0, 0);
    picollo_capped_counter_add32(&narrow, 1, UINT32_MAX, UINT32_MAX);
    picollo_sensing_counter_add32(&narrow, 1, 0);
    CHECK_U64(10, narrow);
    CHECK_U64(0, picollo_counter_read32(NULL));
    CHECK_U64(0, picollo_counter_read64(NULL));
}

static struct {
    uint64_t scalable, exact, sensing, capped;
    uint32_t narrow;
    picollo_striped_counter *striped;
} counters;

#define THREADS 4
#define EVENTS 500000

static void *count(void *unused)
{
    const int events = rounds(EVENTS);
    for (int i = 0; i < events; i++) {
        picollo_scalable_counter_add_n64(&counters.scalable, 1, 0);
        picollo_scalable_counter_add_n32(&counters.narrow, 1, 0);
        picollo_capped_counter_add64(&counters.capped, 1, 0, 10);
        picollo_capped_counter_add64(&counters.exact, 1, 0, 0);
        picollo_sensing_counter_add64(&counters.sensing, 1, 0);
        picollo_striped_counter_add(counters.striped, 1);
    }
    return unused;
}

static void many_threads(void)
{
    const uint64_t truth = (uint64_t)THREADS * (uint64_t)rounds(EVENTS);
    pthread_t threads[THREADS];
    uint64_t seen = 0, striped = 77;
    memset(&counters, 0, sizeof counters);
    CHECK_OK(picollo_striped_counter_create(&counters.striped));
    if (counters.striped == NULL) abort();
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
    /* Never goes back, whoever counts. */
    for (int i = 0; i < 1000; i++) {
        const uint64_t now = picollo_counter_read64(&counters.exact);
        CHECK(now >= seen && now <= truth);
        seen = now;
    }
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_OK(picollo_striped_counter_read(counters.striped, &striped));
    CHECK_U64(truth, striped);
    CHECK_U64(truth, picollo_counter_read64(&counters.exact));
    CHECK(relative((double)picollo_counter_read64(&counters.scalable), (double)truth) < 0.063);
    CHECK(relative((double)picollo_counter_read64(&counters.capped), (double)truth) < 0.063);
    CHECK(relative((double)picollo_counter_read64(&counters.sensing), (double)truth) < 0.063);
    CHECK(relative((double)picollo_counter_read32(&counters.narrow), (double)truth) < 0.063);
    picollo_striped_counter_free(counters.striped);
}

static void *meet(void *unused)
{
    const int events = rounds(EVENTS / 5);
    for (int i = 0; i < events; i++) {
        picollo_scalable_counter_add_n64(&counters.scalable, 1, 0);
        picollo_capped_counter_add64(&counters.exact, 1, 0, 0);
        picollo_sensing_counter_add64(&counters.sensing, 1, 0);
    }
    return unused;
}

/* Off by up to 1 % each time, but right on the average, also where threads meet. */
static void right_on_the_average(void)
{
    enum { RUNS = 100 };
    const double truth = (double)THREADS * (double)rounds(EVENTS / 5);
    double scalable = 0, sensing = 0;
    for (int run = 0; run < RUNS; run++) {
        pthread_t threads[THREADS];
        memset(&counters, 0, sizeof counters);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, meet, NULL) == 0);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
        scalable += ((double)picollo_counter_read64(&counters.scalable) / truth - 1) / RUNS;
        sensing += ((double)picollo_counter_read64(&counters.sensing) / truth - 1) / RUNS;
    }
    /* Five times the deviation of the mean of so many; where threads seldom meet, the sensing one's is less. */
    CHECK(scalable > -0.005 && scalable < 0.005);
    CHECK(sensing > -0.005 && sensing < 0.005);
}

int main(void)
{
    RUN(exact_below_the_threshold);
    RUN(approximate_within_the_error);
    RUN(many_at_once);
    RUN(many_threads);
    RUN(right_on_the_average);
    return report();
}
