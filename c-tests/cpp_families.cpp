/* Encodings, logs, comparisons, doubles, counters, registries and segments through picollo.hpp: each wrapper once,
 * ownership, and C++ additions. With exceptions and without. */
#include "cpp_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <vector>

template <class T>
constexpr bool moves_only =
    !std::is_copy_constructible_v<T> && std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>;

static_assert(moves_only<picollo::log_reader> && moves_only<picollo::double_histogram> && moves_only<picollo::double_snapshot>);
static_assert(moves_only<picollo::registry> && moves_only<picollo::metric_counter>);
static_assert(moves_only<picollo::benchmark> && moves_only<picollo::segment>);
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
        FAILS(corrupt, picollo::snapshot::decode(picollo::span<const unsigned char>(bytes.data(), bytes.size() - 1)));
    }
    FAILS(unsupported, must(picollo::snapshot::decode(must(snapshot.encode()))).update());
    FAILS(corrupt, picollo::snapshot::decode("nonsense"));
    FAILS(corrupt, picollo::snapshot::decode(picollo::span<const unsigned char>()));
    FAILS(out_of_memory, picollo::snapshot::decode(must(snapshot.encode()), 10));

    /* Consecutive encodings, in both kinds of view. */
    const std::string one = must(snapshot.encode_base64()), two = one + '\n' + one;
    std::size_t taken = 0;
    CHECK(one.rfind("HISTFAAA", 0) == 0);
    CHECK(same(snapshot, must(picollo::snapshot::decode_first(two, taken))) && taken == one.size() + 1);
    FAILS(corrupt, picollo::snapshot::decode_first(picollo::span<const unsigned char>(), taken));
    FAILS(out_of_memory, picollo::snapshot::decode_first(two, taken, 10));
    FAILS(incompatible, must(must(picollo::histogram::create()).snapshot()).encode(picollo::encoding::hdr_v2));
    CHECK(must(snapshot.hgrm()).find("Percentile") != std::string::npos);
    CHECK(must(snapshot.hgrm(5, 1, true)).rfind("\"Value\"", 0) == 0);
    FAILS(invalid_argument, snapshot.hgrm(5, -1));
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

    /* Reads a stream from its position, and writes it again with its times and tags. */
    std::istringstream file("junk\n" + out.str());
    file.ignore(5);
    picollo::log_reader first = must(picollo::log_reader::create(file));
    picollo::log_reader reader = std::move(first);
    CHECK(std::isnan(reader.start_seconds()));
    FAILS(empty, reader.decode());
    const char *const tags[] = {"A", "", long_tag.c_str()};
    const double starts[] = {1700000000.75, 1700000001.75, 1700000003.75};
    std::ostringstream copied, alone;
    picollo::log_writer copy(copied), by_itself(alone);
    for (int i = 0; i < 3; i++) {
        const std::optional<picollo::log_interval> interval = must(reader.next());
        CHECK(interval.has_value());
        if (!interval) return;
        CHECK_STRING(tags[i], interval->tag);
        CHECK(interval->start_seconds == starts[i] && interval->end_seconds == starts[i] + (i == 1 ? 2 : 1));
        const picollo::snapshot read = must(reader.decode());
        CHECK(same(snapshot, read));
        must(copy.write(read, *interval));
        /* The snapshot has them, and so have its copies. */
        const picollo::snapshot of_it = must(must(read.copy()).corrected(1 << 30));
        CHECK(of_it.tag() == tags[i] && of_it.start_seconds() == starts[i] && of_it.end_seconds() == interval->end_seconds);
        must(by_itself.write(of_it));
    }
    CHECK(reader.start_seconds() == 1700000000.5);
    CHECK(!must(reader.next()) && !must(reader.next()));
    CHECK_STRING(copied.str(), alone.str());

    CHECK(std::isnan(snapshot.start_seconds()) && std::isnan(snapshot.end_seconds()) && snapshot.tag().empty());
    FAILS(invalid_argument, by_itself.write(snapshot));
    picollo::snapshot of_ours = must(snapshot.copy());
    of_ours.interval(5, 7.5, "x");
    must(by_itself.write(of_ours));
    CHECK(alone.str().find("\nTag=x,5.000,2.500,") != std::string::npos);
    std::ostringstream by_clock;
    picollo::log_writer with_times(by_clock);
    must(with_times.write(snapshot, std::chrono::system_clock::time_point() + std::chrono::seconds(5), std::chrono::milliseconds(500)));
    CHECK(by_clock.str().rfind("5.000,0.500,", 0) == 0);
}

static void broken_logs()
{
    const std::string good = "0.1,1.0,0.0," + must(must(digits().snapshot()).encode_base64()) + "\n";
    picollo::log_reader reader = must(picollo::log_reader::create(good + "no interval\n" + good));
    CHECK(must(reader.next()));
    FAILS(corrupt, reader.next());
    CHECK_U64(2, reader.line());
    CHECK(must(reader.next()));
    reader.max_counters(10);
    FAILS(out_of_memory, reader.decode());
    reader.max_counters(0);
    const picollo::snapshot last = must(reader.decode());
    reader = must(picollo::log_reader::create(""));
    CHECK(!must(reader.next()));
    CHECK_U64(7, must(last.counts()).total);
}

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

static void pictures()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    for (std::uint64_t i = 1; i < 1000; i++) histogram.record(i * i);
    const picollo::snapshot before = must(histogram.snapshot()), after = must(before.copy());
    CHECK_U64(30, must(picollo::sparkline(before, 30, true)).size());
    const std::string chart = must(picollo::chart(before, picollo::picture::percentiles, "Requests", "ns", 40, 5, true));
    CHECK(chart.find("Requests") != std::string::npos && std::count(chart.begin(), chart.end(), '\n') > 5);
    FAILS(invalid_argument, picollo::chart(before, picollo::picture::heat_map));
    const picollo::pictured both[] = {{&before, "before <1>"}, {&after}};
    const std::string svg = must(picollo::svg(both, picollo::picture::density, "Both", "ns", picollo::picture_options().dark().size(500, 300)));
    CHECK(svg.rfind("<svg", 0) == 0 && svg.find("before &lt;1") != std::string::npos && svg.find("500") != std::string::npos);
    CHECK(must(picollo::svg({}, picollo::picture::density)).find("no observations") != std::string::npos);
    CHECK(must(picollo::report(both, "Report")).find("<svg") != std::string::npos);
    const picollo::pictured missing[] = {{nullptr}};
    FAILS(null_pointer, picollo::report(missing));
}

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

static void registries()
{
    picollo::registry registry = must(picollo::registry::create());
    picollo::double_histogram skew = must(picollo::double_histogram::create());
    std::uint64_t id = 0;
    {
        picollo::histogram latency = must(picollo::histogram::create());
        picollo::metric metric;
        metric.name = "request_seconds";
        metric.unit = "seconds";
        metric.divisor = 1e9;
        metric.labels = {{"method", "GET"}};
        const std::uint64_t bounds[] = {999999, 1000000000};
        id = must(registry.add(latency, metric, bounds));
        FAILS(invalid_argument, registry.add(latency, metric));
        metric.name = std::string("a\0b", 3);
        FAILS(invalid_argument, registry.add(latency, metric));
        metric = picollo::metric();
        metric.name = "plain";
        metric.divisor = 0;
        FAILS(invalid_argument, registry.add(latency, metric));
        metric.divisor = 1;
        metric.summary = true;
        must(registry.add(latency, metric));
        latency.record_n(500000, 3);
    }
    picollo::metric of_doubles;
    of_doubles.name = "skew";
    of_doubles.writes_created = false;
    must(registry.add(skew, of_doubles));
    skew.record(0.5);
    picollo::metric counted;
    counted.name = "hits";
    counted.striped = true;
    counted.writes_created = false;
    std::uint64_t hits_id = 0;
    picollo::metric_counter hits = must(registry.add_counter(counted, &hits_id));
    FAILS(invalid_argument, registry.add_counter(counted));
    counted = picollo::metric();
    counted.name = "depth";
    picollo::metric_gauge depth = must(registry.add_gauge(counted));
    FAILS(invalid_argument, registry.add_gauge(counted));
    hits.add();
    hits.add(4);
    depth.set(2);
    depth.add(-3.5);
    CHECK(hits.value() == 5 && depth.value() == -1.5);
    picollo::metric_exemplar slow[2];
    slow[0].value = 7;
    slow[0].when = std::chrono::system_clock::time_point(std::chrono::seconds(1500000000));
    slow[0].trace_id = {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c};
    slow[0].labels = {{"who", "me"}};
    must(registry.set_exemplars(hits_id, slow));
    slow[1].labels = {{"who", std::string("m\0e", 3)}};
    FAILS(invalid_argument, registry.set_exemplars(hits_id, slow));
    FAILS(invalid_argument, registry.set_exemplars(hits_id + 100, {}));
    must(registry.update());
    const std::string text = must(registry.text());
    /* The registry holds the histogram though its owner is gone. */
    CHECK(text.find("request_seconds_count{method=\"GET\"} 3\n") != std::string::npos);
    CHECK(text.find("plain{quantile=\"0.99\"} ") != std::string::npos);
    CHECK(text.find("skew_count 1\n") != std::string::npos && text.find("skew_created") == std::string::npos);
    CHECK(text.find("hits_total 5 # {trace_id=\"0af7651916cd43dd8448eb211c80319c\",who=\"me\"} 7.0 1500000000.000\n") != std::string::npos);
    const std::vector<unsigned char> plain = must(registry.encode(picollo::exposition::prometheus_text));
    CHECK(std::string(plain.begin(), plain.end()).find("\ndepth -1.5\n") != std::string::npos);
    CHECK(!must(registry.encode(picollo::exposition::otlp)).empty());
    must(registry.set_exemplars(hits_id, {}));
    must(registry.remove(id));
    FAILS(invalid_argument, registry.remove(id));
    CHECK(must(registry.text()).find("GET") == std::string::npos);
}

static void scalable_counters()
{
    picollo::scalable_counter<> about;
    for (int i = 0; i < 80000; i++) about.add();
    /* Seven standard deviations. */
    CHECK(about.value() > 75000 && about.value() < 85000);
    picollo::scalable_counter<20> few;
    few.add(1000);
    CHECK_U64(1000, few.value());
}

static char place[] = "/dev/shm/picollo-cpp-XXXXXX";

static picollo::metric request(const std::string &route)
{
    picollo::metric metric;
    metric.name = "request";
    metric.unit = "ns";
    metric.labels = {{"route", route}};
    return metric;
}

static void segments()
{
    picollo::segment_options how;
    how.name = "checkout";
    how.directory = place;
    how.max_bytes = 8 << 20;
    picollo::segment segment = must(picollo::segment::create(how));
    picollo::histogram latency = must(segment.histogram(request("/pay")));
    picollo::metric known_as;
    known_as.name = "requests";
    picollo::metric_counter requests = must(segment.counter(known_as));
    const std::string path = must(segment.path());
    {
        picollo::segment same = must(picollo::segment::attach(path));
        picollo::histogram other = must(same.histogram(request("/pay")));
        std::thread thread([&] {
            for (int i = 0; i < 1000; i++) other.record(1000);
        });
        for (int i = 0; i < 1000; i++) latency.record(1000);
        thread.join();
        requests.add(2000);
    }
    CHECK_U64(2000, must(latency.summary()).total_count());
    CHECK_U64(2000, requests.value());
    picollo::metric striped_as;
    striped_as.name = "striped";
    striped_as.striped = true;
    picollo::metric_counter striped = must(segment.counter(striped_as));
    striped.add(3);
    must(segment.counter(striped_as)).add(4);
    CHECK_U64(7, striped.value());
    striped_as.striped = false;
    FAILS(incompatible, segment.counter(striped_as));
    must(segment.retire(request("/pay")));
    FAILS(invalid_argument, segment.retire(request("/pay")));
    CHECK(must(picollo::segment::estimate(picollo::options().mode(picollo::mode::single_writer))) > 1000);

    must(segment.histogram(request("/")));
    FAILS(incompatible, segment.histogram(request("/"), picollo::options().relative_error(0.1)));
    FAILS(unsupported, segment.histogram(request("/x"), picollo::options().mode(picollo::mode::per_thread)));
    FAILS(incompatible, segment.counter(request("/")));
    FAILS(invalid_argument, segment.counter(picollo::metric()));
    FAILS(os, picollo::segment::attach(std::string(place) + "/nothing.1.2"));
}

/* Objects made without options. */
static void constructors()
{
#ifndef PICOLLO_NO_EXCEPTIONS
    CHECK_U64(0, picollo::double_snapshot().statistics().count);
    CHECK_U64(0, picollo::snapshot(digits().snapshot().layout()).counts().total);
    setenv("PICOLLO_DIR", place, 1);
    CHECK(picollo::segment(std::string("named")).path().find("/named.") != std::string::npos);
    unsetenv("PICOLLO_DIR");
#endif
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

static void remove_place()
{
    (void)rmdir(place);
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
    RUN(registries);
    RUN(scalable_counters);
    RUN(options_are_set_by_their_names);
    /* Registered before the library's own handler, which removes the files, so that it runs after it. */
    if (mkdtemp(place) == nullptr || std::atexit(remove_place) != 0) SKIPPED("no directory in /dev/shm");
    else {
        RUN(segments);
        RUN(constructors);
    }
    return report();
}
