/* Functions against themselves, or against functions that are a twentieth longer, called through a pointer: chains of
 * multiplications, each of which depends on the previous one, of about 0 to 1000 ns. */
#include <picollo_compare.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t seed = 3;

/* These include the planted five percent. */
#define LENGTHS(each) each(0) each(1) each(2) each(5) each(20) each(21) each(100) each(105) each(1000) each(1050)

__attribute__((noinline)) static void nothing(void)
{
    __asm__ volatile("");
}

#define DEFINE(links)                                                    \
    __attribute__((noinline, aligned(64))) static void chain_##links(void) \
    {                                                                    \
        uint64_t x = seed;                                               \
        for (int i = 0; i < links; i++) {                                \
            x *= x | 1;                                                  \
        }                                                                \
        __asm__ volatile("" : : "r"(x));                                 \
    }
LENGTHS(DEFINE)

static void (*chain_of(int links))(void)
{
#define CASE(length) case length: return length == 0 ? nothing : chain_##length;
    switch (links) {
        LENGTHS(CASE)
    default: exit(2);
    }
}

__attribute__((noinline, aligned(64))) static void repeat(void (*call)(void), uint64_t n)
{
    while (n--) call();
}

int main(int count, char **arguments)
{
    if (count != 5) {
        fprintf(stderr, "usage: %s BUDGET RUNS A B\n", arguments[0]);
        return 2;
    }
    void (*const calls[])(void) = {chain_of(atoi(arguments[3])), chain_of(atoi(arguments[4])), nothing};
    for (int run = 0; run < atoi(arguments[2]); run++) {
        /* Disturbed blocks count: they are part of the test. */
        picollo_benchmark_options options = {.struct_size = sizeof options, .flags = PICOLLO_BENCHMARK_KEEP_DISTURBED, .budget_seconds = atof(arguments[1])};
        picollo_benchmark *benchmark;
        picollo_benchmark_outcome result;
        uint32_t which;
        uint64_t n;
        if (picollo_benchmark_create(&options, NULL, 0, &benchmark, NULL) != PICOLLO_OK) return 1;
        while (picollo_benchmark_next(benchmark, &which, &n, NULL) == PICOLLO_OK) {
            repeat(calls[which], n);
            picollo_benchmark_done(benchmark, NULL);
        }
        if (picollo_benchmark_result(benchmark, &result, NULL) != PICOLLO_OK) return 1;
        /* The verdict's code, its flags, picoseconds of A, of the difference and of the margin. */
        printf("%u %u %.1f %.1f %.1f\n", result.blocks.verdict, result.blocks.flags, result.blocks.median_a, result.blocks.difference,
               result.blocks.margin);
        picollo_benchmark_free(benchmark);
    }
    return 0;
}
