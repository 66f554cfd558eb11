// Google Benchmark with the distribution behind its mean: each iteration is recorded, and percentiles stand beside its line.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>
#include <picollo.hpp>

// In seconds, which Google Benchmark prints with a letter: 8.256u are microseconds.
static void report(benchmark::State &state, const picollo::histogram &latency)
{
    const picollo::summary summary = latency.summary();
    state.counters["p50"] = static_cast<double>(summary.p50().value) / 1e9;
    state.counters["p99"] = static_cast<double>(summary.p99().value) / 1e9;
    state.counters["max"] = static_cast<double>(summary.p100().value) / 1e9;
    state.counters["recorded"] = static_cast<double>(summary.total_count());
}

static void sort(benchmark::State &state)
{
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> shuffled(static_cast<std::size_t>(state.range(0)));
    for (auto &value : shuffled) value = random();
    picollo::histogram latency(picollo::options().relative_error(0.01));
    for (auto _ : state) {
        state.PauseTiming();
        std::vector<std::uint64_t> values = shuffled;
        state.ResumeTiming();
        picollo::scope timing(latency);
        std::sort(values.begin(), values.end());
        benchmark::ClobberMemory();
    }
    report(state, latency);
}
BENCHMARK(sort)->Arg(1000)->Arg(10000);

BENCHMARK_MAIN();
