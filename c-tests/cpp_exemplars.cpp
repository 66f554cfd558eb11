/* Exemplars through picollo.hpp: what is kept, why it was slow, whose it is. Compiled with exceptions and without. */
#include "cpp_test.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<picollo::exemplars> && std::is_nothrow_move_constructible_v<picollo::exemplars>);
static_assert(!std::is_copy_constructible_v<picollo::exemplar_scope<>> && !std::is_move_constructible_v<picollo::exemplar_scope<>>);
static_assert(sizeof(picollo::exemplar) == sizeof(picollo_exemplar));

static const char *const trace = "0af7651916cd43dd8448eb211c80319c";

static picollo::exemplar_context context_of(std::uint64_t number)
{
    picollo::exemplar_context context;
    context.trace_id = {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c};
    context.words[1] = number;
    return context;
}

/* What is usual: a millisecond of waiting. Collectors have more controls than usual, so that there are enough. */
static const picollo::exemplars_options often = picollo::exemplars_options().controls(1000);

static void ordinary(picollo::exemplars &slow, int count = 200)
{
    for (int i = 0; i < count; i++) {
        auto timing = slow.scope();
        std::this_thread::sleep_for(1ms);
    }
}

static void spin(std::chrono::milliseconds time)
{
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) picollo::add_chain_256(100);
}

static bool nothing_is_known(const picollo::exemplar &one)
{
    return one.cause() == picollo::cause::not_known && !one.on_cpu() && !one.run_delay() && !one.window() && !one.excess() &&
        !one.voluntary_switches() && !one.minor_faults() && one.native().missing != PICOLLO_MISSING_NOTHING;
}

static void the_slowest_are_kept()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::exemplars slow = must(picollo::exemplars::create(histogram));
    FAILS(empty, slow.interval());
    FAILS(empty, slow.kept());
    FAILS(empty, slow.text());
    std::mt19937 source(20);
    std::vector<std::uint64_t> values;
    for (std::uint64_t i = 0; i < 5000; i++) {
        values.push_back(source() + std::uint64_t(1));
        slow.offer(values.back(), context_of(i));
    }
    must(slow.collect());
    const std::vector<picollo::exemplar> kept = must(slow.kept());
    std::vector<std::uint64_t> sorted = values;
    std::sort(sorted.rbegin(), sorted.rend());
    CHECK(kept.size() >= 16);
    for (std::size_t i = 0; i < 16 && i < kept.size(); i++) {
        CHECK(kept[i].value() == sorted[i] && values[kept[i].context().words[1]] == sorted[i]);
        CHECK(kept[i].trace_id() == trace && kept[i].span_id().empty());
        CHECK(nothing_is_known(kept[i]) && kept[i].native().missing == PICOLLO_MISSING_TIMED_ELSEWHERE && !kept[i].cpu());
    }
    const picollo_exemplar_interval told = must(slow.interval());
    CHECK(told.observations == 5000 && told.threshold == 0 && told.length == kept.size());
    CHECK(must(must(histogram.snapshot()).counts()).total == 5000);

    picollo::exemplars moved = std::move(slow);
    moved.offer(5);
    must(moved.collect());
    CHECK(must(moved.kept()).size() == 1 && must(moved.kept())[0].trace_id().empty());
}

static void causes()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::exemplars_options options = often;
    picollo::exemplars slow = must(picollo::exemplars::create(histogram, options.threshold(30ms)));
    ordinary(slow);
    for (int i = 0; i < 5; i++) {
        auto timing = slow.scope();
        std::this_thread::sleep_for(60ms);
    }
    must(slow.collect());
    std::vector<picollo::exemplar> kept = must(slow.kept());
    CHECK(kept.size() >= 5);
    const picollo::cause waits = kept[0].run_delay() ? picollo::cause::own_waiting : picollo::cause::off_cpu;
    /* A machine that is busy may hold one of them back for longer than it waits. */
    CHECK(std::count_if(kept.begin(), kept.begin() + 5, [&](const picollo::exemplar &one) { return one.cause() == waits; }) >= 4);
    for (std::size_t i = 0; i < 5; i++) {
        const picollo::exemplar &one = kept[i];
        CHECK(one.is_slow() && one.value() >= 60000000 && one.on_cpu() && *one.on_cpu() < 20ms && one.excess() && *one.excess() > 20ms);
        CHECK(one.voluntary_switches() && *one.voluntary_switches() >= 1 && one.window() && *one.window() >= 59ms);
        CHECK(std::chrono::system_clock::now() - one.began() < 60s && std::chrono::system_clock::now() > one.began() + 59ms);
    }
    const picollo_exemplar_interval told = must(slow.interval());
    CHECK(told.observations == 205 && told.slow >= 5 && told.known >= 5 && told.controls >= 3 && told.excess_nanos > 0);
    const picollo_exemplar_share share = must(slow.share(waits));
    CHECK(share.share > 0.5 && share.share <= 1 && share.observations >= 4 && share.typical_nanos > 40000000);
    FAILS(invalid_argument, slow.share(static_cast<picollo::cause>(99)));
    CHECK(must(slow.text()).find(picollo::to_string(waits)) != std::string::npos);
    CHECK(must(slow.markdown()).find("| Cause | Excess |") != std::string::npos);
    const std::string html = must(slow.html());
    CHECK(html.compare(0, 8, "<section") == 0 && html.find("<td>" + std::string(picollo::to_string(waits)) + "</td>") != std::string::npos);
    const std::string json = must(slow.json());
    CHECK(json.front() == '{' && json.find('"' + std::string(picollo::to_string(waits)) + '"') != std::string::npos);

    for (int i = 0; i < 3; i++) {
        auto timing = slow.scope();
        spin(60ms);
    }
    must(slow.collect());
    kept = must(slow.kept());
    for (std::size_t i = 0; i < 3; i++) {
        const picollo::cause found = kept[i].cause();
        CHECK(found != picollo::cause::own_waiting && found != picollo::cause::off_cpu && kept[i].on_cpu());
        /* Else others had the CPU. */
        if (*kept[i].on_cpu() > 54ms) CHECK(found == picollo::cause::on_cpu || found == picollo::cause::more_instructions);
    }
}

/* Where they are refused, that is said, and nothing is lost. */
static void counters()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::exemplars_options options = often;
    picollo::exemplars slow = must(picollo::exemplars::create(histogram, options.threshold(30ms).counters()));
    CHECK(options.native().flags & PICOLLO_EXEMPLARS_COUNTERS);
    ordinary(slow);
    {
        auto timing = slow.scope();
        spin(60ms);
    }
    must(slow.collect());
    const picollo::exemplar kept = must(slow.kept())[0];
    CHECK(kept.instructions().has_value() == kept.cycles().has_value());
    if (kept.instructions()) CHECK(*kept.instructions() > 1000000 && *kept.cycles() > 1000000);
    if (must(slow.text()).find("Instructions were counted of 0 of") != std::string::npos)
        CHECK(!kept.instructions() && !kept.usual_ipc() && kept.cause() != picollo::cause::more_instructions);
}

/* The names are those of the library's table. */
static void names()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::exemplars slow = must(picollo::exemplars::create(histogram));
    must(slow.collect());
    const std::string json = must(slow.json());
    for (std::uint32_t number = PICOLLO_CAUSE_OWN_WAITING; number <= PICOLLO_CAUSE_UNEXPLAINED; number++) {
        const std::string name = picollo::to_string(static_cast<picollo::cause>(number));
        CHECK(json.find('"' + name + '"') != std::string::npos);
    }
    CHECK(picollo::to_string(picollo::cause::several) == std::string("several"));
    CHECK(picollo::to_string(picollo::cause::not_known) == std::string("not known"));
}

static void scopes()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::exemplars slow = must(picollo::exemplars::create(histogram, picollo::exemplars_options().slowest(1)));
    std::uint64_t asked = 0, kept = 0;
    for (const auto time : {30ms, 0ms, 0ms, 60ms}) {
        auto timing = slow.scope([&] { return context_of(++asked); }, 7);
        std::this_thread::sleep_for(time);
        kept += timing.end() ? 1 : 0;
        CHECK(!timing.end());
    }
    CHECK(asked == kept && kept >= 2);
    {
        auto timing = slow.scope();
        timing.cancel();
    }
    must(slow.collect());
    picollo::exemplar slowest = must(slow.kept())[0];
    CHECK(slowest.trace_id() == trace && slowest.context().words[1] == asked && slowest.label() == 7);
    CHECK(must(slow.interval()).observations == 4 && must(must(histogram.snapshot()).counts()).total == 4);
    {
        auto timing = slow.scope();
        timing.label(9);
        CHECK(timing.end());
        timing.annotate(context_of(5));
    }
    must(slow.collect());
    slowest = must(slow.kept())[0];
    CHECK(slowest.context().words[1] == 5 && slowest.label() == 9);
}

static void of_others_threads_nothing_is_known()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::exemplars_options options = often;
    picollo::exemplars slow = must(picollo::exemplars::create(histogram, options.slowest(2)));
    ordinary(slow, 100);
    {
        auto timing = slow.scope();
        std::thread other([&] {
            spin(50ms);
            timing.end();
        });
        other.join();
    }
    {
        auto timing = slow.scope();
        timing.shares_thread();
        spin(50ms);
    }
    must(slow.collect());
    const std::vector<picollo::exemplar> kept = must(slow.kept());
    for (std::size_t i = 0; i < 2; i++) CHECK(kept[i].value() >= 50000000 && nothing_is_known(kept[i]));
}

static void threads()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::exemplars slow = must(picollo::exemplars::create(histogram));
    std::vector<std::thread> all;
    for (std::uint64_t first = 1; first <= 4; first++) {
        all.emplace_back([&slow, first] {
            for (std::uint64_t i = 0; i < 50000; i++) slow.offer(4 * i + first);
        });
    }
    for (std::thread &one : all) one.join();
    must(slow.collect());
    /* Of those that come at once some are only counted, but never the slowest. */
    CHECK(must(slow.kept())[0].value() == 200000);
    CHECK(must(slow.interval()).observations == 200000);
    must(slow.prepare_thread());
}

static void publishing()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::registry registry = must(picollo::registry::create());
    picollo::metric metric;
    metric.name = "request_seconds";
    metric.divisor = 1e9;
    const std::uint64_t id = must(registry.add(histogram, metric));
    picollo::exemplars slow = must(picollo::exemplars::create(histogram, often));
    FAILS(empty, slow.publish(registry, id));
    ordinary(slow);
    {
        auto timing = slow.scope([] { return context_of(1); });
        std::this_thread::sleep_for(300ms);
    }
    must(slow.collect());
    must(slow.publish(registry, id));
    FAILS(invalid_argument, slow.publish(registry, id + 1));
    must(registry.update());
    const std::string text = must(registry.text());
    const std::string cause = picollo::to_string(must(slow.kept())[0].cause());
    CHECK(text.find(std::string("trace_id=\"") + trace) != std::string::npos && text.find("cause=\"" + cause) != std::string::npos);
}

static void refusals()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    FAILS(invalid_argument, picollo::exemplars::create(histogram, picollo::exemplars_options().slowest(1000000)));
    picollo::exemplars none = must(picollo::exemplars::create(histogram, picollo::exemplars_options().slowest(0).no_ring()));
    {
        auto timing = none.scope();
    }
    must(none.collect());
    CHECK(must(none.kept()).size() == 1);  // that of its octave
    for (std::uint64_t i = 0; i < 100; i++) none.offer(600 + i);
    must(none.collect());
    CHECK(must(none.kept()).size() <= 1);
    const picollo::exemplars_options some = picollo::exemplars_options().slowest(0).slowest(3);
    CHECK(some.native().flags == 0 && some.native().slowest == 3);
}

int main()
{
    RUN(the_slowest_are_kept);
    RUN(causes);
    RUN(counters);
    RUN(names);
    RUN(scopes);
    RUN(of_others_threads_nothing_is_known);
    RUN(threads);
    RUN(publishing);
    RUN(refusals);
    return report();
}
