/* Clock resolution: the resolution of the two clocks, and the cost of reading them. Reads each clock repeatedly and
 * records the differences.
 */
#include <inttypes.h>
#include <stdio.h>

#include <picollo.h>

#define READS 1000000

static int measure(uint32_t clock, const char *name)
{
    picollo_histogram *ticks, *picos;
    char text[4096];
    size_t length;
    uint64_t hertz, same = 0;

    /* Small integers keep their values: up to 1,024 ticks at the default error of 0.001. */
    if (picollo_histogram_create(NULL, &ticks) != PICOLLO_OK) return 1;
    if (picollo_histogram_create(NULL, &picos) != PICOLLO_OK) return 1;
    if (picollo_clock_frequency(clock, &hertz) != PICOLLO_OK) return 1;

    uint64_t last = picollo_clock_ticks(clock);
    for (int i = 0; i < READS; i++) {
        const uint64_t now = picollo_clock_ticks(clock);
        same += now == last;
        picollo_histogram_record(ticks, now - last);
        picollo_histogram_record(picos, picollo_clock_convert(clock, now - last, PICOLLO_UNIT_PICOS));
        last = now;
    }

    printf("%s: %" PRIu64 " ticks a second, a tick is %.3f ns\n", name, hertz, 1e9 / (double)hertz);
    printf("%.2f %% of %d reads told the same time as the one before.\n\n", 100.0 * (double)same / READS, READS);
    picollo_histogram_format(ticks, "Between two reads, ticks", PICOLLO_TEXT_LINE, text, sizeof text, &length);
    puts(text);
    picollo_histogram_format(picos, "Between two reads, ps", PICOLLO_TEXT_LINE, text, sizeof text, &length);
    puts(text);
    puts("");
    picollo_histogram_free(ticks);
    picollo_histogram_free(picos);
    return 0;
}

int main(void)
{
    /* Otherwise the first read would calibrate and take longest. */
    picollo_clock_init();
    return measure(PICOLLO_CLOCK_MONOTONIC, "Monotonic clock") || measure(PICOLLO_CLOCK_TSC, "Time stamp counter");
}
