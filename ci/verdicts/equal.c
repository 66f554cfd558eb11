/* Functions against themselves, or against functions that are a twentieth longer, called through a pointer. */
#include <picollo_compare.h>

#include "equal.h"

__attribute__((noinline)) static void nothing(void)
{
    __asm__ volatile("");
}

#define DEFINE(links)                                                    \
    __attribute__((noinline, aligned(64))) static void chain_##links(void) \
    {                                                                    \
        uint64_t x = seed;                                               \
        for (int i = 0; i < links; i++) {                                \
            LINK                                                         \
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
    const struct asked asked = asked_of(count, arguments);
    void (*const calls[])(void) = {chain_of(asked.a), chain_of(asked.b), nothing};
    for (int run = 0; run < asked.runs; run++) {
        /* Disturbed blocks count: they are part of the test. */
        picollo_benchmark_options options = {.struct_size = sizeof options, .flags = PICOLLO_BENCHMARK_KEEP_DISTURBED, .budget_seconds = asked.budget};
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
        print_run(&result.blocks);
        picollo_benchmark_free(benchmark);
    }
    return 0;
}
