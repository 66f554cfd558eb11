/* The same code written twice, as two lambdas. */
#include <picollo.hpp>

#include "equal.h"

template <class A, class B>
static int compare(const asked &asked, A a, B b)
{
    for (int run = 0; run < asked.runs; run++) {
        picollo::benchmark benchmark(picollo::benchmark_options().budget(asked.budget).keep_disturbed());
        benchmark.run(a, b);
        const picollo_benchmark_outcome result = benchmark.measured();
        print_run(&result.blocks);
    }
    return 0;
}

#define CHAIN(links)                                      \
    [] {                                                  \
        std::uint64_t x = seed;                           \
        for (int i = 0; i < links; i++) {                 \
            LINK                                          \
        }                                                 \
        return x;                                         \
    }

int main(int count, char **arguments)
{
    const asked asked = asked_of(count, arguments);
    if (asked.a == 0 && asked.b == 0) return compare(asked, [] {}, [] {});
#define PAIR(length) if (asked.a == length && asked.b == length) return compare(asked, CHAIN(length), CHAIN(length));
    LENGTHS(PAIR)
    return 2;
}
