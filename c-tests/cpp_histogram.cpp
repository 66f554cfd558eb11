/* picollo_histogram.hpp, picollo_snapshot.hpp, picollo_summary.hpp and picollo_result.hpp. Compiled with exceptions and
 * without. */
#include "cpp_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<picollo::histogram> && std::is_nothrow_move_constructible_v<picollo::histogram>);
static_assert(!std::is_copy_constructible_v<picollo::snapshot> && std::is_nothrow_move_constructible_v<picollo::snapshot>);
static_assert(!std::is_copy_constructible_v<picollo::recorder> && std::is_nothrow_move_assignable_v<picollo::recorder>);
static_assert(!std::is_copy_assignable_v<picollo::histogram> && std::is_nothrow_move_assignable_v<picollo::histogram>);
static_assert(std::is_trivially_copyable_v<picollo::summary> && sizeof(picollo::layout) == sizeof(picollo_layout));
static_assert(sizeof(picollo::percentile) == sizeof(picollo_percentile) && sizeof(picollo::bucket) == sizeof(picollo_bucket));
static_assert(std::is_convertible_v<std::vector<std::uint64_t>, picollo::span<const std::uint64_t>>);
static_assert(!std::is_convertible_v<std::vector<int>, picollo::span<const std::uint64_t>>);
static_assert(!std::is_convertible_v<const std::vector<std::uint64_t>, picollo::span<std::uint64_t>>);

static std::vector<std::uint64_t> example(std::uint64_t seed, std::size_t length, std::uint64_t base, std::uint64_t spread,
                                          std::uint64_t divisor)
{
    std::vector<std::uint64_t> values;
    std::uint64_t x = seed;
    for (std::size_t i = 0; i < length; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const std::uint64_t cube = (x >> 20) % 64;
        values.push_back(base + (x >> 40) % spread + cube * cube * cube / divisor);
    }
    return values;
}

static const picollo::options worked = picollo::options().relative_error(0.01).range(2000, 12000);
static const picollo::options for_recorders = picollo::options(worked).mode(picollo::mode::single_writer);
static const picollo::options single_writer = picollo::options().mode(picollo::mode::single_writer);

static void worked_example()
{
    picollo::histogram histogram = must(picollo::histogram::create(worked));
    histogram.record(example(1, 100000, 1990, 1500, 40));
    const picollo::summary before = must(histogram.summary());
    CHECK(must(before.table("Example")).find("\n| 99         |    9,152 | ±64    |   98,941 |\n") != std::string::npos);
    CHECK_STRING("P99=9,152 [138 / 519]: [9,088, 9,216) 386", written(before.p99()));
    CHECK_STRING("[138 / 519]: [9,088, 9,216) 386", written(picollo::bucket{before.p99().bucket}));
    const double counts[] = {3, 2, 5, 4};
    const picollo_figure_estimate ipc = must(picollo::figure("ipc", "instructions  cycles ", counts, 2));
    CHECK(ipc.value == 8.0 / 6 && ipc.lower < ipc.value && ipc.value < ipc.upper && ipc.scopes == 2);
    CHECK(written(before).rfind("99,940 values, 60 below the range\n", 0) == 0);
    std::ostringstream printed;
    before.print(printed, "Latency", "ns");
    CHECK_STRING("Latency: 99,940 values, 60 below the range\n"
                 "    P50      P90      P99    P99.9      max     mean\n"
                 "3.60 µs  7.46 µs  9.15 µs  9.66 µs  9.79 µs  4.33 µs\n", printed.str());
    CHECK(before.percentiles().front().value == 2008 && before.percentiles().back().rank == 100);
    CHECK_U64(99940, before.total_count());
    CHECK_U64(60, before.underflow_count());
    CHECK(before.p0().value == 2008 && before.p1().value == 2064 && before.p5().value == 2288 && before.p10().value == 2448);
    CHECK(before.p25().value == 2928 && before.p50().value == 3600 && before.p75().value == 5472 && before.p90().value == 7456);
    CHECK(before.p92_5().value == 7840 && before.p95().value == 8256 && before.p97_5().value == 8768);
    CHECK(before.p99_9().value == 9664 && before.p99_99().value == 9792 && before.p99_999().value == 9792);
    CHECK(before.p100().value == 9792);
    CHECK(before.min_trackable() == 2000 && before.max_trackable() == 12000 && before.relative_error() == 0.5 / 64);
    CHECK(before.lost_count() == 0 && before.overflow_count() == 0);
    CHECK(std::chrono::abs(std::chrono::system_clock::now() - before.time()) < 1min);

    must(histogram.reset());
    histogram.record(example(2, 150000, 1800, 1700, 36));
    const std::string diff = must(before.diff(must(histogram.summary()), "Example diff"));
    CHECK(diff.rfind("##### Example diff\n| Percentile |   Before |    After |     Δ% |\n", 0) == 0);
    CHECK(diff.find("\n| Total:     |   99,940 |  145,798 | +45.9% |\n| D-value:   |          |          |   0.08 |\n")
          != std::string::npos);
    CHECK(must(before.text("t", picollo::format::json))[0] == '{');
}

static void every_way_of_recording()
{
    const std::vector<std::uint64_t> values = example(1, 10000, 1990, 1500, 40);
    picollo::histogram one = must(picollo::histogram::create(worked)), inlined = must(picollo::histogram::create(for_recorders)),
                       batch = must(picollo::histogram::create(picollo::options(worked).mode(picollo::mode::per_thread)));
    picollo::recorder recorder = must(inlined.recorder());
    const picollo::writer writer = recorder.writer();
    for (const std::uint64_t value : values) {
        one.record(value);
        writer.record(value);
    }
    CHECK(recorder.native().counters != nullptr);
    batch.record(values);
    const std::vector<picollo::bucket> expected = must(must(one.snapshot()).buckets());
    CHECK(expected.size() > 100);
    for (picollo::histogram *other : {&batch, &inlined}) {
        const std::vector<picollo::bucket> found = must(must(other->snapshot()).buckets());
        CHECK(std::equal(expected.begin(), expected.end(), found.begin(), found.end(), [](const auto &x, const auto &y) {
            return x.lower == y.lower && x.count == y.count;
        }));
    }
    picollo::histogram shared = must(picollo::histogram::create());
    const picollo::atomic_recorder atomic = must(shared.atomic_recorder());
    const picollo::atomic_writer added = atomic.writer();
    added.record(3);
    added.record(3ns);
    CHECK(atomic.native().counters != nullptr);
    CHECK_U64(2, must(must(shared.snapshot()).bucket_of(3)).count);
    FAILS(unsupported, inlined.atomic_recorder());
    const std::uint64_t array[] = {2000, 2001};
    batch.record(array);
    batch.record(std::array<std::uint64_t, 3>{2000, 2001, 2002});
    batch.record({array, 1});
    batch.record(picollo::span<const std::uint64_t>());
    CHECK_U64(must(one.summary()).total_count() + 6, must(batch.summary()).total_count());
    CHECK(batch.record_in_range(2000, 2000, 2000));
    CHECK(!batch.record_in_range(2001, 2000, 2000));
    picollo::histogram corrected = must(picollo::histogram::create());
    corrected.record_corrected(450, 100);
    CHECK_U64(4, must(corrected.summary()).total_count());
    CHECK(must(corrected.footprint()) > 28672 * 8);
}

static void snapshots()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::snapshot snapshot = must(histogram.snapshot());
    histogram.record(1);
    histogram.record(2);
    CHECK_U64(0, must(snapshot.counts()).total);
    must(snapshot.update());
    CHECK_U64(2, must(snapshot.counts()).total);
    histogram.record(3);
    must(snapshot.update(picollo::since::previous_update));
    CHECK_U64(1, must(snapshot.counts()).total);
    CHECK_U64(3, must(snapshot.percentile(50)).value);
    must(snapshot.update());
    CHECK_U64(2, must(snapshot.percentile(50)).value);
    const double ranks[] = {100, 0};
    const std::vector<picollo::percentile> found = must(snapshot.percentiles(ranks));
    CHECK(found.size() == 2 && found[0].value == 3 && found[1].value == 1);
    std::uint64_t values[2];
    must(snapshot.percentile_values(ranks, values));
    CHECK(values[0] == 3 && values[1] == 1);
    FAILS(buffer_too_small, snapshot.percentile_values(ranks, picollo::span<std::uint64_t>(values, 1)));
    CHECK(must(snapshot.min()) == 1 && must(snapshot.max()) == 3 && must(snapshot.value_at(100)) == 3);
    CHECK(must(snapshot.mean()) == 2 && std::fabs(must(snapshot.stddev()) - std::sqrt(2.0 / 3)) < 1e-12);
    CHECK(must(snapshot.rank_of(3)) == 100);
    CHECK_U64(1, must(snapshot.bucket_of(2)).count);
    CHECK_U64(28672, must(snapshot.buckets(true)).size());
    CHECK_U64(3, must(snapshot.summary(picollo::value_selection::upper)).total_count());

    picollo::histogram coarse = must(picollo::histogram::create(picollo::options().significant_digits(2)));
    must(coarse.add(snapshot));
    CHECK_U64(3, must(coarse.summary()).total_count());
}

static void nothing_recorded()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    const picollo::summary summary = must(histogram.summary());
    CHECK(std::isnan(summary.mean()) && std::isnan(summary.stddev()) && summary.total_count() == 0);
    CHECK(std::isnan(picollo::summary().mean()));
    CHECK_STRING("P50=n/a", written(summary.p50()));
    picollo::snapshot snapshot = must(histogram.snapshot());
    FAILS(empty, snapshot.percentile(50));
    FAILS(empty, snapshot.min());
    FAILS(empty, snapshot.max());
    CHECK(std::isnan(must(snapshot.mean())) && std::isnan(must(snapshot.stddev())));
    CHECK_U64(0, must(snapshot.buckets()).size());
    CHECK_U64(0, must(snapshot.percentiles(picollo::span<const double>())).size());
}

static void bad_input()
{
    FAILS(invalid_argument, picollo::histogram::create(picollo::options().range(5, 5)));
    FAILS(invalid_argument, picollo::histogram::create(picollo::options().counter_bits(16)));
    picollo::histogram histogram = must(picollo::histogram::create());
    histogram.record(1);
    picollo::snapshot snapshot = must(histogram.snapshot());
    FAILS(invalid_argument, snapshot.percentile(100.5));
    FAILS(invalid_argument, must(histogram.summary()).table("\xff"));
    FAILS(unsupported, must(picollo::histogram::create()).recorder());
    FAILS(unsupported, must(picollo::histogram::create(picollo::options().no_live_reset())).reset());
}

/* Moves, self-moves, and destruction in any order; memcheck watches. */
static void ownership()
{
    picollo::histogram first = must(picollo::histogram::create(for_recorders));
    picollo::histogram second = std::move(first);
    second.record(2500);
    first = std::move(second);
    picollo::histogram &alias = first;
    first = std::move(alias);
    first.record(2500);
    picollo::snapshot snapshot = must(first.snapshot());
    picollo::recorder recorder = must(first.recorder());
    picollo::recorder moved = std::move(recorder);
    recorder = std::move(moved);
    picollo::recorder &same = recorder;
    recorder = std::move(same);
    first = must(picollo::histogram::create(worked));
    recorder.writer().record(2600);
    must(snapshot.update());
    CHECK_U64(3, must(snapshot.counts()).total);
    snapshot = must(first.snapshot());
    CHECK_U64(0, must(snapshot.counts()).total);
    std::vector<picollo::histogram> many;
    for (int i = 0; i < 10; i++) many.push_back(must(picollo::histogram::create(worked)));
    many.erase(many.begin() + 3);
}

#ifdef PICOLLO_NO_EXCEPTIONS
static void results()
{
    picollo::result<picollo::histogram> made = picollo::histogram::create(worked);
    CHECK(made.has_value() && made);
    made->record(3000);
    CHECK_U64(1, made->summary()->total_count());
    picollo::result<picollo::histogram> moved = std::move(made);
    CHECK_U64(1, (*moved).summary().value().total_count());
    const picollo::result<picollo::histogram> refused = picollo::histogram::create(picollo::options().range(9, 1));
    CHECK(!refused && refused.error().code() == picollo::status::invalid_argument);
    CHECK(std::string(refused.error().message()).size() > 10);
    CHECK(refused.error().os_errno() == 0 && refused.error().event_index() == -1);
    CHECK(picollo::result<int>(picollo::failure(PICOLLO_ERR_EMPTY)).value_or(7) == 7);
    CHECK(picollo::result<int>(5).value_or(7) == 5);
    const picollo::result<void> reset = moved->reset();
    CHECK(reset.has_value());
}

/* Assigns a value over a value and over a failure, a failure over both, and each to itself; memcheck watches. */
static void results_are_assigned()
{
    static_assert(std::is_nothrow_move_assignable_v<picollo::result<picollo::histogram>>);
    static_assert(std::is_nothrow_move_assignable_v<picollo::result<std::string>>);
    static_assert(std::is_nothrow_move_assignable_v<picollo::result<void>>);
    static_assert(!std::is_copy_assignable_v<picollo::result<picollo::histogram>>);
    const std::string first(100, 'a'), second(200, 'b');
    const picollo::failure why(PICOLLO_ERR_BUSY), other(PICOLLO_ERR_CORRUPT);
    const auto holds = [](const picollo::result<std::string> &result, const std::string &expected) {
        return result.has_value() && *result == expected;
    };
    const auto fails = [](const picollo::result<std::string> &result, picollo::status expected) {
        return !result.has_value() && result.error().code() == expected;
    };
    picollo::result<std::string> result(first);
    result = picollo::result<std::string>(second);
    CHECK(holds(result, second));
    picollo::result<std::string> &alias = result;
    result = std::move(alias);
    CHECK(holds(result, second));
    result = why;
    CHECK(fails(result, picollo::status::busy));
    result = std::move(alias);
    CHECK(fails(result, picollo::status::busy));
    result = picollo::result<std::string>(other);
    CHECK(fails(result, picollo::status::corrupt));
    result = first;
    CHECK(holds(result, first));
    picollo::result<std::string> another(why);
    std::swap(result, another);
    CHECK(fails(result, picollo::status::busy) && holds(another, first));

    /* The old content is destroyed at once. */
    picollo::result<picollo::histogram> histogram = picollo::histogram::create(worked);
    histogram->record(3000);
    histogram = picollo::histogram::create(picollo::options().range(9, 1));
    CHECK(!histogram && histogram.error().code() == picollo::status::invalid_argument);
    histogram = picollo::histogram::create(worked);
    CHECK_U64(0, histogram->summary()->total_count());
    std::vector<picollo::result<picollo::histogram>> several;
    for (int i = 0; i < 3; i++) several.push_back(picollo::histogram::create(worked));
    several.erase(several.begin());
    CHECK(several.size() == 2 && several[0] && several[1]);
}
#else
static void exceptions()
{
    picollo::histogram histogram(worked), defaulted;
    histogram.record(3000);
    CHECK_U64(1, histogram.summary().total_count());
    CHECK_U64(UINT64_MAX, defaulted.summary().max_trackable());
    try {
        picollo::histogram refused(picollo::options().range(9, 1));
        CHECK(false);
    } catch (const std::runtime_error &why) {
        CHECK(std::string(why.what()) == picollo::to_string(picollo::status::invalid_argument));
    }
}
#endif

static void merging()
{
    picollo::histogram fine = must(picollo::histogram::create());
    picollo::histogram coarse = must(picollo::histogram::create(picollo::options().relative_error(0.1)));
    fine.record_n(100000, 3);
    coarse.record_n(100000, 1000);
    const picollo::snapshot a = must(fine.snapshot()), b = must(coarse.snapshot());
    picollo::snapshot copy = must(a.copy());
    CHECK_U64(1000, must(copy.merge(b)).refined);
    CHECK_U64(1000, must(copy.subtract(b)).refined);
    CHECK(same(a, copy));
    FAILS(invalid_argument, copy.subtract(b));
    CHECK_U64(0, must(copy.merge(b, picollo::placement::spread)).lost);
    CHECK(must(copy.buckets()).size() > 10);
    CHECK_U64(0, must(coarse.add(a)).refined);
    CHECK_U64(1003, must(coarse.summary()).total_count());
}

static void layouts_and_steps()
{
    const picollo::options how = picollo::options().relative_error(0.01).range(10000, 30000);
    const picollo::layout layout = must(how.layout());
    CHECK_U64(104, layout.length);
    CHECK_U64(104, must(how.footprint()).counters);
    const picollo::snapshot empty = must(must(picollo::histogram::create(how)).snapshot());
    CHECK_U64(must(layout.bucket_of(20000)).upper, must(empty.bucket_of(20000)).upper);
    CHECK_U64(layout.length, must(empty.layout()).length);
    CHECK(must(empty.value_ratio()) == 1 && must(empty.linear_steps(10)).empty());
    CHECK_U64(8191, must(picollo::options().significant_digits(3).range(0, 5000).whole_array().layout()).max_trackable);
    const picollo::layout no_digits = must(picollo::options().significant_digits(0).range(0, 1 << 20).unit(20).layout());
    CHECK(no_digits.block_scale == 0 && no_digits.unit == 16);
    picollo::snapshot sum = must(picollo::snapshot::create(must(layout.with_range(0, UINT64_MAX))));
    CHECK_U64(0, must(sum.counts()).total);
    FAILS(invalid_argument, layout.with_range(5, 5));
    FAILS(invalid_argument, picollo::snapshot::create(picollo_layout()));

    picollo::histogram hundred = must(picollo::histogram::create());
    for (std::uint64_t i = 1; i <= 100; i++) hundred.record(i);
    const picollo::snapshot snapshot = must(hundred.snapshot());
    const std::vector<picollo_step> linear = must(snapshot.linear_steps(25));
    CHECK(linear.size() == 5 && linear[0].added_count == 24 && linear[4].cumulative_count == 100);
    CHECK_U64(127, must(snapshot.logarithmic_steps(2, 2)).back().to);
    CHECK_U64(100, must(snapshot.percentile_steps()).back().cumulative_count);
    FAILS(invalid_argument, snapshot.linear_steps(0));
    CHECK_U64(11, must(snapshot.count_between(20, 30)));
    CHECK(must(must(must(digits().snapshot()).corrected(1000000)).counts()).total > 100);
    const double ranks[] = {50, 100};
    std::uint64_t values[2] = {};
    must(snapshot.interpolated_values(ranks, values));
    CHECK(values[0] == 50 && values[1] == 100);
    FAILS(buffer_too_small, snapshot.interpolated_values(ranks, picollo::span<std::uint64_t>(values, 1)));
}

static void options_are_set_by_their_names()
{
    const picollo_benchmark_options benchmark =
        picollo::benchmark_options().repetitions(3).precision(0.5).relative_threshold(0.25).resolution(2).no_overhead().native();
    CHECK(benchmark.repetitions == 3 && benchmark.precision == 0.5 && benchmark.relative_threshold == 0.25);
    CHECK(benchmark.resolution_seconds == 2 && benchmark.flags == PICOLLO_BENCHMARK_NO_OVERHEAD);
    const picollo_compare_options compare = picollo::compare_options().absolute_threshold(3).power(0.5).native();
    CHECK(compare.absolute_threshold == 3 && compare.power == 0.5);
    CHECK(picollo::double_options().relative_error(0.25).native().relative_error == 0.25);
    const picollo_histogram_options sparse = picollo::options().sparse(4096).native();
    CHECK(sparse.storage == PICOLLO_STORAGE_SPARSE && sparse.max_bytes == 4096);
    CHECK(picollo::picture_options().dark().light().native().theme == PICOLLO_THEME_LIGHT);
    const picollo_session_options session =
        picollo::session_options().pinned().kernel().inherit().ordered().subtract_overhead().thread(7).on_cpu(1).native();
    CHECK(session.flags == (PICOLLO_SESSION_PINNED | PICOLLO_SESSION_KERNEL | PICOLLO_SESSION_INHERIT | PICOLLO_SESSION_ORDERED |
                            PICOLLO_SESSION_SUBTRACT | PICOLLO_SESSION_ON_CPU));
    CHECK(session.thread == 7 && session.cpu == 1);
}

static void durations()
{
    picollo::histogram histogram = must(picollo::histogram::create(single_writer));
    histogram.record(2us);
    CHECK_U64(2000, must(histogram.summary()).p100().bucket.lower / 8 * 8);
    histogram.record<std::chrono::microseconds>(3ms);
    histogram.record<std::chrono::milliseconds>(-5s);
    picollo::recorder recorder = must(histogram.recorder());
    const picollo::writer writer = recorder.writer();
    writer.record(7ns);
    writer.record<std::chrono::duration<std::uint64_t, std::ratio<60>>>(2h);
    const std::vector<picollo::bucket> buckets = must(must(histogram.snapshot()).buckets());
    CHECK_U64(5, buckets.size());
    const std::uint64_t expected[] = {0, 7, 120, 2000, 3000};
    for (std::size_t i = 0; i < 5; i++) CHECK(expected[i] >= buckets[i].lower && expected[i] <= buckets[i].upper);
}

/* std::chrono::duration_cast would turn some of these into negative numbers. */
static void durations_that_do_not_fit()
{
    using std::chrono::duration;
    using nanos = std::chrono::nanoseconds;
    using picos = duration<std::int64_t, std::pico>;
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    static_assert(picollo::count_of<nanos>(7ns) == 7 && picollo::count_of<nanos>(-7ns) == 0 && picollo::count_of<nanos>(2ms) == 2000000);
    static_assert(picollo::count_of<std::chrono::milliseconds>(nanos::max()) == 9223372036854);
    static_assert(picollo::count_of<nanos>(nanos::max()) == most / 2 && picollo::count_of<nanos>(nanos::min()) == 0);
    static_assert(picollo::count_of<picos>(std::chrono::hours(5124)) == 18446400000000000000u);
    static_assert(picollo::count_of<picos>(std::chrono::hours(5125)) == most);
    static_assert(picollo::count_of<nanos>(std::chrono::hours::max()) == most);
    static_assert(picollo::count_of<nanos>(std::chrono::hours::min()) == 0);
    using thirds = duration<std::uint64_t, std::ratio<1, 3>>;
    static_assert(picollo::count_of<nanos>(thirds(2)) == 666666666 && picollo::count_of<nanos>(thirds(most)) == most);
    static_assert(picollo::count_of<duration<std::uint64_t, std::ratio<2>>>(thirds(most)) == most / 6);
    CHECK_U64(2500000, picollo::count_of<nanos>(duration<double, std::milli>(2.5)));
    CHECK_U64(2, picollo::count_of<std::chrono::seconds>(duration<float>(2.9f)));
    CHECK_U64(most, picollo::count_of<nanos>(duration<double>(1e30)));
    CHECK_U64(most, picollo::count_of<nanos>(duration<double>(std::numeric_limits<double>::infinity())));
    CHECK_U64(0, picollo::count_of<nanos>(duration<double>(-std::numeric_limits<double>::infinity())));
    CHECK_U64(0, picollo::count_of<nanos>(duration<double>(std::nan(""))));
    picollo::histogram histogram = must(picollo::histogram::create());
    histogram.record<picos>(std::chrono::hours(5125));
    CHECK(must(histogram.summary()).p100().bucket.upper == most);
}

/* A clock that is set back while a scope runs. */
struct set_back {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<set_back>;
    static constexpr bool is_steady = false;
    static time_point now() noexcept { return time_point(duration(time -= 1000)); }
    static inline rep time = 1000000;
};

static void scopes_do_not_last_less_than_nothing()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    {
        picollo::scope<picollo::histogram, std::chrono::nanoseconds, set_back> timing(histogram);
        CHECK(timing.elapsed() == 0ns);
    }
    CHECK_U64(1, must(histogram.summary()).total_count());
    CHECK_U64(0, must(histogram.summary()).p100().value);
}

static void scopes()
{
    picollo::histogram nanos = must(picollo::histogram::create()), micros = must(picollo::histogram::create()),
                       ticks = must(picollo::histogram::create(single_writer));
    picollo::recorder recorder = must(ticks.recorder());
    picollo::writer writer = recorder.writer();
    {
        picollo::scope timing(nanos);
        picollo::scope<picollo::histogram, std::chrono::microseconds> coarse(micros);
        picollo::scope<picollo::writer, std::chrono::nanoseconds, std::chrono::system_clock> other(writer);
        std::this_thread::sleep_for(5ms);
        CHECK(timing.elapsed() >= 5ms);
        picollo::scope never(nanos);
        never.cancel();
    }
    CHECK_U64(1, must(nanos.summary()).total_count());
    CHECK(must(nanos.summary()).p0().value >= 4990000 && must(nanos.summary()).p0().value < 5000000000);
    CHECK(must(micros.summary()).p0().value >= 4990 && must(micros.summary()).p0().value < 5000000);
    CHECK(must(ticks.summary()).p0().value >= 4900000);
}

int main()
{
    RUN(worked_example);
    RUN(every_way_of_recording);
    RUN(snapshots);
    RUN(nothing_recorded);
    RUN(bad_input);
    RUN(ownership);
    RUN(merging);
    RUN(layouts_and_steps);
    RUN(options_are_set_by_their_names);
    RUN(durations);
    RUN(durations_that_do_not_fit);
    RUN(scopes);
    RUN(scopes_do_not_last_less_than_nothing);
#ifdef PICOLLO_NO_EXCEPTIONS
    RUN(results);
    RUN(results_are_assigned);
#else
    RUN(exceptions);
#endif
    return report();
}
