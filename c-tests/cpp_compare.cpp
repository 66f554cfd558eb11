/* picollo_compare.hpp and picollo_benchmark.hpp. Compiled with exceptions and without. */
#include "cpp_test.hpp"

#include <vector>

static_assert(moves_only<picollo::benchmark> && std::is_trivially_copyable_v<picollo::comparison>);

static void comparing()
{
    picollo::histogram before = must(picollo::histogram::create()), after = must(picollo::histogram::create());
    for (std::uint64_t i = 0; i < 20000; i++) {
        before.record(1000 + i * 7919 % 300);
        after.record(1200 + i * 7919 % 300);
    }
    const picollo::snapshot a = must(before.snapshot()), b = must(after.snapshot());
    const picollo::comparison slower = must(picollo::compare(a, b));
    CHECK(slower.verdict() == picollo::verdict::slower);
    CHECK(must(picollo::compare(b, a)).verdict() == picollo::verdict::faster);
    const picollo::comparison none = must(picollo::compare(a, b, picollo::compare_options().relative_threshold(0.5)));
    CHECK(none.verdict() == picollo::verdict::no_evidence && none.has(PICOLLO_COMPARISON_WITHIN_MARGIN));
    CHECK(must(picollo::compare(a, b, picollo::compare_options().quantile(0.9).confidence(0.99))).a.quantile == 0.9);
    CHECK(must(slower.text("Release", "1.0", "1.1")).find("1.1") != std::string::npos);
    CHECK(must(slower.text("", "", "", picollo::format::line)).find('\n') == std::string::npos);
    CHECK_U64(20000, slower.before().total_count());
    CHECK(slower.after().p50().value > slower.before().p50().value);
    CHECK(must(a.quantile_interval(0.99)).coverage >= 0.95);
    FAILS(empty, picollo::compare(a, must(must(picollo::histogram::create()).snapshot())));
    FAILS(invalid_argument, a.quantile_interval(2));

    std::vector<double> of_a, of_b;
    for (int i = 0; i < 60; i++) {
        of_a.push_back(100 + i + i % 3 * 0.1);
        of_b.push_back(105 + i + i % 5 * 0.1);
    }
    CHECK(must(picollo::compare_blocks(of_a, of_b)).verdict == PICOLLO_VERDICT_SLOWER);
    of_b.pop_back();
    FAILS(invalid_argument, picollo::compare_blocks(of_a, of_b));
}

static void benchmarks()
{
    /* It ends after its blocks; the budget is for busy machines. */
    picollo::benchmark benchmark = must(picollo::benchmark::create(
        picollo::benchmark_options().budget(10).warm_up(0.05).sample(0.0001).blocks(20, 100).keep_disturbed()));
    must(benchmark.run([] { picollo::add_chain_256(4); }, [] { picollo::add_chain_256(12); }));
    const picollo_benchmark_outcome result = must(benchmark.measured());
    /* Valgrind's times mean nothing. */
    const bool is_simulated = (result.flags & PICOLLO_BENCHMARK_SIMULATED) != 0;
    CHECK(result.blocks.verdict == (is_simulated ? PICOLLO_VERDICT_NO_EVIDENCE : PICOLLO_VERDICT_SLOWER));
    const picollo_benchmark_disturbance noise = must(benchmark.noise());
    CHECK(noise.block_count == result.blocks.block_count && noise.left_out_count == 0);
    picollo::histogram samples = must(benchmark.samples(PICOLLO_BENCHMARK_B));
    CHECK_U64(result.sample_count, must(samples.summary()).total_count());
    CHECK(must(benchmark.text("Chains")).find("Chains") != std::string::npos);
    FAILS(invalid_argument, picollo::benchmark::create(picollo::benchmark_options().confidence(2)));
    picollo::benchmark begun = must(picollo::benchmark::create());
    FAILS(empty, begun.measured());
    FAILS(empty, begun.noise());
    FAILS(invalid_argument, begun.samples(7));
    FAILS(invalid_argument, begun.counter(0));
}

int main()
{
    RUN(comparing);
    RUN(benchmarks);
    return report();
}
