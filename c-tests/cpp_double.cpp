/* picollo_double.hpp. Compiled with exceptions and without. */
#include "cpp_test.hpp"

#include <cmath>
#include <vector>

static_assert(moves_only<picollo::double_histogram> && moves_only<picollo::double_snapshot>);
static_assert(std::is_trivially_copyable_v<picollo::double_summary>);

static void doubles()
{
    picollo::double_histogram histogram = must(picollo::double_histogram::create(picollo::double_options().exact_sum().dotnet_ranks()));
    const double values[] = {-0.25, 0, 3.5, std::nan("")};
    histogram.record(values);
    histogram.record_n(1e-300, 2);
    CHECK_U64(5, must(must(histogram.peek()).statistics()).count);
    picollo::double_snapshot snapshot = must(histogram.collect());
    const picollo_double_statistics statistics = must(snapshot.statistics());
    CHECK(statistics.count == 5 && statistics.not_finite == 1 && statistics.sum == 3.25 && statistics.min == -0.25);
    CHECK(must(snapshot.quantile(0)) < -0.2 && must(snapshot.quantile(1)) > 3.49);
    CHECK(must(snapshot.buckets()).size() == 4);
    const picollo::double_summary summary = must(snapshot.summary());
    CHECK(summary.p0().rank == 0 && summary.p50().rank == 50 && summary.p90().rank == 90 && summary.p95().rank == 95);
    CHECK(summary.p99().rank == 99 && summary.p99_9().rank == 99.9 && summary.p100().value > 3.49 && summary.statistics().sum == 3.25);
    CHECK(summary.percentiles().front().rank == 0 && summary.percentiles().back().value == summary.p100().value);
    CHECK(must(summary.table("Skew")).rfind("##### Skew", 0) == 0);
    CHECK(written(summary).find(" values, 1 not finite\n") != std::string::npos);
    FAILS(invalid_argument, snapshot.quantile(1.5));
    FAILS(invalid_argument, picollo::double_histogram::create(picollo::double_options().max_bytes(1)));

    histogram.record(9);
    must(histogram.collect(snapshot));
    CHECK_U64(1, must(snapshot.statistics()).count);
    must(histogram.add(snapshot));
    const double quantiles[] = {0.5, 1};
    double found[2] = {};
    CHECK_U64(1, must(histogram.collect(quantiles, found)).count);
    CHECK(std::fabs(found[0] - 9) < 0.01 && found[0] == found[1]);
    FAILS(buffer_too_small, histogram.collect(quantiles, picollo::span<double>(found, 1)));
    must(snapshot.quantiles(quantiles, found));
    CHECK(std::fabs(found[0] - 9) < 0.01 && found[0] == found[1]);
    FAILS(buffer_too_small, snapshot.quantiles(quantiles, picollo::span<double>(found, 1)));
    picollo::double_snapshot none = must(picollo::double_snapshot::create());
    FAILS(empty, none.quantile(0.5));
    must(none.merge(snapshot));
    CHECK_U64(1, must(none.statistics()).count);
    CHECK(must(histogram.footprint()) > 1000);
}

int main()
{
    RUN(doubles);
    return report();
}
