/* Encodings, logs, comparisons, doubles, arrays and counters through picollo.hpp. With exceptions and without. */
#include "cpp_test.hpp"

#include <algorithm>
#include <cmath>
#include <thread>
#include <type_traits>
#include <vector>

template <class T>
constexpr bool moves_only =
    !std::is_copy_constructible_v<T> && std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>;

static_assert(moves_only<picollo::log_reader> && moves_only<picollo::double_histogram> && moves_only<picollo::double_snapshot>);
static_assert(moves_only<picollo::histogram_array> && moves_only<picollo::registry> && moves_only<picollo::otlp_export> &&
              moves_only<picollo::striped_counter>);
static_assert(moves_only<picollo::benchmark>);
static_assert(!std::is_copy_constructible_v<picollo::scalable_counter<>> && sizeof(picollo::scalable_counter<>) == 8);
static_assert(std::is_trivially_copyable_v<picollo::comparison> && std::is_trivially_copyable_v<picollo::double_summary>);
static_assert(sizeof(picollo::layout) == sizeof(picollo_layout));

/* HdrHistogram's buckets, with three values. */
static picollo::histogram digits()
{
    picollo::histogram histogram =
        must(picollo::histogram::create(picollo::options().significant_digits(3).range(0, UINT64_C(3600000000))));
    histogram.record(7);
    histogram.record_n(1000, 5);
    histogram.record(123456789);
    return histogram;
}

static bool same(const picollo::snapshot &a, const picollo::snapshot &b)
{
    const std::vector<picollo::bucket> of_a = must(a.buckets()), of_b = must(b.buckets());
    return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [](const auto &x, const auto &y) {
        return x.lower == y.lower && x.upper == y.upper && x.count == y.count;
    });
}

static void encodings()
{
    picollo::snapshot snapshot = must(digits().snapshot());
    for (const auto how : {picollo::encoding::hdr_v2, picollo::encoding::hdr_v2_compressed, picollo::encoding::native}) {
        const std::vector<unsigned char> bytes = must(snapshot.encode(how));
        CHECK(same(snapshot, must(picollo::snapshot::decode(bytes))));
        CHECK(same(snapshot, must(picollo::snapshot::decode(must(snapshot.encode_base64(how))))));
        picollo::snapshot back = must(picollo::snapshot::decode(bytes));
        FAILS(unsupported, back.update());
        FAILS(corrupt, picollo::snapshot::decode(picollo::span<const unsigned char>(bytes.data(), bytes.size() - 1)));
    }
    CHECK(must(snapshot.encode_base64()).rfind("HISTFAAA", 0) == 0);
    FAILS(corrupt, picollo::snapshot::decode("nonsense"));
    FAILS(corrupt, picollo::snapshot::decode(picollo::span<const unsigned char>()));
    FAILS(out_of_memory, picollo::snapshot::decode(must(snapshot.encode()), 10));

    /* One after another. */
    std::string all = must(snapshot.encode_base64()) + "\n";
    const std::size_t text = all.size();
    for (const auto how : {picollo::encoding::hdr_v2, picollo::encoding::native}) {
        const std::vector<unsigned char> bytes = must(snapshot.encode(how));
        all.append(bytes.begin(), bytes.end());
    }
    std::size_t taken = 0;
    int number = 0;
    for (std::string_view rest = all; !rest.empty(); rest.remove_prefix(taken)) {
        CHECK(same(snapshot, must(picollo::snapshot::decode_first(rest, taken))));
        CHECK(number++ > 0 || taken == text);
    }
    CHECK(number == 3);
    FAILS(corrupt, picollo::snapshot::decode_first(picollo::span<const unsigned char>(), taken));
    FAILS(out_of_memory, picollo::snapshot::decode_first(all, taken, 10));
    picollo::histogram other = must(picollo::histogram::create());
    FAILS(incompatible, must(other.snapshot()).encode(picollo::encoding::hdr_v2));
    CHECK(must(snapshot.hgrm()).find("Percentile") != std::string::npos);
    CHECK(must(snapshot.hgrm(5, 1, true)).rfind("\"Value\"", 0) == 0);
    FAILS(invalid_argument, snapshot.hgrm(5, -1));
    picollo::histogram stalled = must(picollo::histogram::create());
    stalled.record(1000);
    CHECK_U64(10, must(must(must(stalled.snapshot()).corrected(100)).counts()).total);
}

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
    CHECK_U64(1003, must(copy.counts()).total);
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
    picollo::histogram histogram = must(picollo::histogram::create(how));
    const picollo::snapshot empty = must(histogram.snapshot());
    CHECK_U64(must(layout.bucket_of(20000)).upper, must(empty.bucket_of(20000)).upper);
    CHECK_U64(layout.length, must(empty.layout()).length);
    CHECK(must(empty.linear_steps(10)).empty());

    const picollo::options five = picollo::options().significant_digits(3).range(0, 5000);
    CHECK_U64(8191, must(picollo::options(five).whole_array().layout()).max_trackable);
    CHECK_U64(1, must(layout.unit()));
    const picollo::layout no_digits = must(picollo::options().significant_digits(0).range(0, 1 << 20).unit(20).layout());
    CHECK(no_digits.block_scale == 0 && must(no_digits.unit()) == 16);
    /* 5000, as Java encodes it with 3 digits and 1024 as the lowest discernible value. */
    const picollo::snapshot java =
        must(picollo::snapshot::decode("HISTFAAAACB4nJNpmSzMwMDAxAABzBCKBUw6ALH9B4gIOxMAQyACyA=="));
    CHECK_U64(1024, must(must(java.layout()).unit()));
    CHECK(must(java.value_ratio()) == 1);
    const picollo::layout wide = must(must(five.layout()).with_range(0, UINT64_MAX));
    picollo::snapshot sum = must(picollo::snapshot::create(wide)), middle = must(picollo::snapshot::create(wide));
    CHECK_U64(0, must(sum.counts()).total);
    CHECK_U64(1, must(sum.merge(java, picollo::placement::low_ends)).refined);
    must(middle.merge(java));
    CHECK_U64(4096, must(sum.min(picollo::value_selection::lower)));
    CHECK_U64(4608, must(middle.min(picollo::value_selection::lower)));
    FAILS(invalid_argument, wide.with_range(5, 5));
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
    const double ranks[] = {50, 100};
    std::uint64_t values[2] = {};
    must(snapshot.interpolated_values(ranks, values));
    CHECK(values[0] == 50 && values[1] == 100);
    FAILS(buffer_too_small, snapshot.interpolated_values(ranks, picollo::span<std::uint64_t>(values, 1)));
}

static void logs()
{
    const picollo::snapshot snapshot = must(digits().snapshot());
    const std::string long_tag = std::string(300, 'x') + "é";
    std::ostringstream out;
    picollo::log_writer writer(out);
    must(writer.header(1700000000.5, "two lines\nof comment"));
    must(writer.write(snapshot, 0.25, 1, "A"));
    must(writer.write(snapshot, 1.25, 2));
    must(writer.write(snapshot, 3.25, 1, long_tag.c_str()));
    FAILS(invalid_argument, writer.write(snapshot, 0, 1, "no, commas"));

    picollo::log_reader first = must(picollo::log_reader::create(out.str()));
    picollo::log_reader reader = std::move(first);
    CHECK(std::isnan(must(reader.start_seconds())));
    FAILS(empty, reader.decode());
    const char *const tags[] = {"A", "", long_tag.c_str()};
    const double starts[] = {1700000000.75, 1700000001.75, 1700000003.75};
    for (int i = 0; i < 3; i++) {
        const std::optional<picollo::log_interval> interval = must(reader.next());
        CHECK(interval.has_value());
        if (!interval) return;
        CHECK_STRING(tags[i], interval->tag);
        CHECK(interval->start_seconds == starts[i]);
        CHECK(same(snapshot, must(reader.decode())));
    }
    CHECK(must(reader.start_seconds()) == 1700000000.5);
    CHECK(!must(reader.next()) && !must(reader.next()));

    /* From a stream, which is read from where it stands, and written again with times and tags as they were read. */
    std::istringstream file("junk\n" + out.str());
    file.ignore(5);
    picollo::log_reader of_stream = must(picollo::log_reader::create(file));
    std::ostringstream copied;
    picollo::log_writer copy(copied);
    while (const std::optional<picollo::log_interval> interval = must(of_stream.next())) {
        must(copy.write(must(of_stream.decode()), *interval));
    }
    picollo::log_reader again = must(picollo::log_reader::create(copied.str()));
    for (int i = 0; i < 3; i++) {
        const std::optional<picollo::log_interval> interval = must(again.next());
        CHECK(interval && interval->tag == tags[i] && interval->start_seconds == starts[i]);
        CHECK(interval && interval->end_seconds == starts[i] + (i == 1 ? 2 : 1));
    }

    /* The snapshot has them, and so do copies of it; they may be set. */
    CHECK(std::isnan(snapshot.start_seconds()) && std::isnan(snapshot.end_seconds()) && snapshot.tag().empty());
    picollo::log_reader once_more = must(picollo::log_reader::create(out.str()));
    std::ostringstream alone;
    picollo::log_writer by_itself(alone);
    for (int i = 0; i < 3; i++) {
        must(once_more.next());
        const picollo::snapshot read = must(once_more.decode());
        const picollo::snapshot of_it = must(must(read.copy()).corrected(1 << 30));
        for (const picollo::snapshot *one : {&read, &of_it}) {
            CHECK(one->tag() == tags[i] && one->start_seconds() == starts[i]);
            CHECK(one->end_seconds() == starts[i] + (i == 1 ? 2 : 1));
        }
        must(by_itself.write(of_it));
    }
    CHECK_STRING(copied.str(), alone.str());
    FAILS(invalid_argument, by_itself.write(snapshot));
    picollo::snapshot of_ours = must(snapshot.copy());
    of_ours.interval(5, 7.5, "x");
    must(by_itself.write(of_ours));
    CHECK(alone.str().find("\nTag=x,5.000,2.500,") != std::string::npos);

    const auto epoch = std::chrono::system_clock::time_point();
    std::ostringstream by_clock;
    picollo::log_writer with_times(by_clock);
    must(with_times.write(snapshot, epoch + std::chrono::seconds(5), std::chrono::milliseconds(500)));
    CHECK(by_clock.str().rfind("5.000,0.500,", 0) == 0);
}

static void broken_logs()
{
    const std::string good = "0.1,1.0,0.0," + must(must(digits().snapshot()).encode_base64()) + "\n";
    picollo::log_reader reader = must(picollo::log_reader::create(good + "no interval\n" + good + "2.0,1.0,0.0,HISTnonsense\n" + good));
    CHECK(must(reader.next()));
    FAILS(corrupt, reader.next());
    CHECK_U64(2, must(reader.line()));
    CHECK(must(reader.next()) && must(reader.next()));
    FAILS(corrupt, reader.decode());
    CHECK(must(reader.next()));
    must(reader.max_counters(10));
    FAILS(out_of_memory, reader.decode());
    must(reader.max_counters(0));
    const picollo::snapshot last = must(reader.decode());
    reader = must(picollo::log_reader::create(""));
    CHECK(!must(reader.next()));
    CHECK_U64(7, must(last.counts()).total);
}

static void comparing()
{
    picollo::histogram before = must(picollo::histogram::create()), after = must(picollo::histogram::create());
    std::uint64_t x = 1;
    for (int i = 0; i < 20000; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        before.record(1000 + (x >> 40) % 300);
        after.record(1200 + (x >> 40) % 300);
    }
    const picollo::snapshot a = must(before.snapshot()), b = must(after.snapshot());
    const picollo::comparison slower = must(picollo::compare(a, b));
    CHECK(slower.verdict() == picollo::verdict::slower);
    CHECK(slower.difference_lower > 180 && slower.difference_upper < 220 && slower.cliffs_delta > 0);
    CHECK(must(picollo::compare(b, a)).verdict() == picollo::verdict::faster);
    const picollo::comparison none = must(picollo::compare(a, b, picollo::compare_options().relative_threshold(0.5)));
    CHECK(none.verdict() == picollo::verdict::no_evidence && none.has(PICOLLO_COMPARISON_WITHIN_MARGIN));
    CHECK(must(picollo::compare(a, b, picollo::compare_options().quantile(0.9).confidence(0.99))).a.quantile == 0.9);
    CHECK(must(slower.text("Release", "1.0", "1.1")).find("1.1") != std::string::npos);
    CHECK(must(slower.text("", "", "", picollo::format::line)).find('\n') == std::string::npos);
    CHECK_U64(20000, slower.before().total_count());
    const picollo_quantile_interval p99 = must(a.quantile_interval(0.99));
    CHECK(p99.lower <= p99.value && p99.value <= p99.upper && p99.coverage >= 0.95);
    picollo::histogram nothing = must(picollo::histogram::create());
    FAILS(empty, picollo::compare(a, must(nothing.snapshot())));
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
    /* Ends with the blocks; the budget is for machines that are busy. */
    picollo::benchmark benchmark = must(picollo::benchmark::create(
        picollo::benchmark_options().budget(10).warm_up(0.05).sample(0.0001).blocks(20, 100).keep_disturbed()));
    must(benchmark.run([] { picollo::add_chain_256(4); }, [] { picollo::add_chain_256(12); }));
    const picollo_benchmark_outcome result = must(benchmark.measured());
    /* Valgrind's times say nothing. */
    const bool is_simulated = (result.flags & PICOLLO_BENCHMARK_SIMULATED) != 0;
    CHECK(result.blocks.verdict == (is_simulated ? PICOLLO_VERDICT_NO_EVIDENCE : PICOLLO_VERDICT_SLOWER));
    /* It ends by itself: with samples of a pilot, which is not judged. */
    CHECK(result.sample_count % 2 == 0 && result.sample_count >= 2 * result.blocks.block_count && result.sample_count <= 200);
    const picollo_benchmark_disturbance noise = must(benchmark.noise());
    CHECK(noise.block_count == result.blocks.block_count && noise.left_out_count == 0 && noise.disturbed_count <= noise.block_count);
    picollo::histogram samples = must(benchmark.samples(PICOLLO_BENCHMARK_B));
    CHECK_U64(result.sample_count, must(samples.summary()).total_count());
    CHECK(must(benchmark.text("Chains")).find("Chains") != std::string::npos);
    FAILS(invalid_argument, picollo::benchmark::create(picollo::benchmark_options().confidence(2)));
    picollo::benchmark begun = must(picollo::benchmark::create());
    FAILS(empty, begun.measured());
    FAILS(empty, begun.noise());
    FAILS(invalid_argument, begun.samples(7));
}

static void pictures()
{
    picollo::histogram histogram = must(picollo::histogram::create()), other = must(picollo::histogram::create());
    for (std::uint64_t i = 1; i < 1000; i++) histogram.record(i * i);
    other.record(5000);
    const picollo::snapshot before = must(histogram.snapshot()), after = must(other.snapshot());
    CHECK_U64(30, must(picollo::sparkline(before, 30, true)).size());
    const std::string chart = must(picollo::chart(before, picollo::picture::percentiles, "Requests", "ns", 40, 5, true));
    CHECK(chart.find("Requests") != std::string::npos && std::count(chart.begin(), chart.end(), '\n') > 5);
    FAILS(invalid_argument, picollo::chart(before, picollo::picture::heat_map));
    const picollo::pictured both[] = {{&before, "before <1>"}, {&after}};
    const std::string svg = must(picollo::svg(both, picollo::picture::density, "Both", "ns", picollo::picture_options().dark().size(500, 300)));
    CHECK(svg.rfind("<svg", 0) == 0 && svg.find("before &lt;1") != std::string::npos && svg.find("500") != std::string::npos);
    CHECK(must(picollo::svg({}, picollo::picture::density)).find("no observations") != std::string::npos);
    const std::string report = must(picollo::report(both, "Report"));
    CHECK(report.find("<svg") != std::string::npos && report.find("</html>") != std::string::npos);
    const picollo::pictured missing[] = {{nullptr}};
    FAILS(null_pointer, picollo::report(missing));
}

static void doubles()
{
    picollo::double_histogram histogram = must(picollo::double_histogram::create(picollo::double_options().exact_sum()));
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
    CHECK(summary.p100().value > 3.49 && summary.p50().target_count == 3);
    CHECK(must(summary.table("Skew")).rfind("##### Skew", 0) == 0);
    CHECK(written(summary).find(" values, 1 not finite\n") != std::string::npos && written(summary).size() > 20);
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
    picollo::double_snapshot none = must(picollo::double_snapshot::create());
    FAILS(empty, none.quantile(0.5));
    must(none.merge(snapshot));
    CHECK_U64(1, must(none.statistics()).count);
    CHECK(must(histogram.footprint()) > 1000);

    /* Of ten values, the fifth and, by .NET's rule, the sixth. */
    for (const bool dotnet : {false, true}) {
        picollo::double_histogram ten =
            must(picollo::double_histogram::create(dotnet ? picollo::double_options().dotnet_ranks() : picollo::double_options()));
        for (int i = 1; i <= 10; i++) ten.record(i);
        CHECK(std::fabs(must(must(ten.collect()).quantile(0.5)) - (dotnet ? 6 : 5)) < 0.01);
    }
}

static void arrays()
{
    picollo::histogram_array array = must(
        picollo::histogram_array::create(3, picollo::options().relative_error(0.01).mode(picollo::mode::single_writer)));
    CHECK_U64(3, array.size());
    array.record(2, 1000);
    array.record(3, 1000);
    picollo::histogram kept = must(array.at(2));
    FAILS(invalid_argument, array.at(3));
    FAILS(invalid_argument, picollo::histogram_array::create(0));
    CHECK(must(array.footprint()) > 3 * 1000);
    picollo::recorder recorder = must(kept.recorder());
    array = must(picollo::histogram_array::create(1));
    recorder.record(1000);
    CHECK_U64(2, must(kept.summary()).total_count());
}

static void counters()
{
    picollo::scalable_counter<> about;
    picollo::striped_counter exact = must(picollo::striped_counter::create());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20000; i++) {
                about.add();
                exact.add();
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    CHECK_U64(80000, exact.value());
    /* Seven standard deviations. */
    CHECK(about.value() > 75000 && about.value() < 85000);
    picollo::scalable_counter<20> few;
    few.add(1000);
    CHECK_U64(1000, few.value());
}

/* One of them, to use or to end; none where there are none. */
template <class T>
static T *pick(std::vector<T> &things, std::uint64_t random)
{
    return things.empty() ? nullptr : &things[random % things.size()];
}

template <class T>
static void drop(std::vector<T> &things, std::uint64_t random)
{
    if (T *which = pick(things, random)) {
        *which = std::move(things.back());
        things.pop_back();
    }
}

/* Everything is made, moved, used and ended in random order, on two threads. Memcheck and the sanitizers look on. */
static void any_order()
{
    std::vector<std::thread> threads;
    for (std::uint64_t seed = 1; seed <= 2; seed++) {
        threads.emplace_back([seed] {
            const picollo::options coarse = picollo::options().relative_error(0.1);
            std::vector<picollo::histogram> histograms;
            std::vector<picollo::histogram_array> arrays;
            std::vector<picollo::recorder> recorders;
            std::vector<picollo::snapshot> snapshots;
            std::vector<picollo::double_histogram> doubles;
            std::vector<picollo::double_snapshot> intervals;
            std::vector<picollo::registry> registries;
            std::uint64_t x = seed;
            for (int step = 0; step < 3000; step++) {
                x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                const std::uint64_t random = x >> 33, choice = random % 12, other = random / 12;
                picollo::histogram *histogram = pick(histograms, other);
                if (choice == 0) {
                    const picollo::mode mode = other % 2 == 0 ? picollo::mode::single_writer : picollo::mode::per_thread;
                    histograms.push_back(must(picollo::histogram::create(picollo::options(coarse).mode(mode))));
                } else if (choice == 1) {
                    arrays.push_back(must(picollo::histogram_array::create(
                        3, picollo::options(coarse).mode(picollo::mode::single_writer))));
                    histograms.push_back(must(arrays.back().at(other % 3)));
                } else if (choice == 2 && histogram != nullptr) {
                    recorders.push_back(must(histogram->recorder()));
                } else if (choice == 3 && histogram != nullptr) {
                    snapshots.push_back(must(histogram->snapshot()));
                } else if (choice == 4) {
                    doubles.push_back(must(picollo::double_histogram::create()));
                    doubles.back().record(static_cast<double>(step));
                    intervals.push_back(must(doubles.back().collect()));
                } else if (choice == 5 && histogram != nullptr) {
                    registries.push_back(must(picollo::registry::create()));
                    picollo::metric metric;
                    metric.name = "x";
                    must(registries.back().add(*histogram, metric));
                    must(registries.back().update());
                } else if (choice == 6) {
                    if (histogram != nullptr) histogram->record(random);
                    if (picollo::recorder *recorder = pick(recorders, other)) recorder->record(random);
                    if (picollo::histogram_array *array = pick(arrays, other)) array->record(other % 3, random);
                } else if (choice == 7) {
                    if (picollo::snapshot *snapshot = pick(snapshots, other)) must(snapshot->update());
                    if (picollo::double_snapshot *interval = pick(intervals, other)) must(interval->summary());
                } else if (choice == 8) {
                    drop(histograms, other);
                    drop(doubles, other);
                } else if (choice == 9) {
                    drop(arrays, other);
                    drop(intervals, other);
                } else if (choice == 10) {
                    drop(recorders, other);
                    drop(registries, other);
                } else {
                    drop(snapshots, other);
                }
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
}

int main()
{
    RUN(encodings);
    RUN(merging);
    RUN(layouts_and_steps);
    RUN(logs);
    RUN(broken_logs);
    RUN(comparing);
    RUN(benchmarks);
    RUN(pictures);
    RUN(doubles);
    RUN(arrays);
    RUN(counters);
    RUN(any_order);
    return report();
}
