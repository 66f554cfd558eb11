/* picollo_exemplars.hpp: what is kept and known, and which request it belongs to. Compiled with exceptions and without. */
#include "cpp_test.hpp"

#include <chrono>
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

/* Known values exist, and no others. */
static void accessors()
{
    picollo_exemplar native = {};
    native.cause = PICOLLO_CAUSE_OWN_WAITING;
    native.value = 1;
    native.unix_nanos = 2000000000;
    native.thread = 3;
    native.cpu = 4;
    native.is_slow = 1;
    native.excess_nanos = 5;
    native.window_nanos = 6;
    native.cpu_nanos = 7;
    native.run_delay_nanos = 8;
    native.off_nanos = 9;
    native.preempted_nanos = 10;
    native.fault_nanos = 11;
    native.instructions = 12;
    native.cycles = 13;
    native.usual_ipc = 1.5;
    native.voluntary = 14;
    native.involuntary = 15;
    native.minor_faults = 16;
    native.major_faults = 17;
    native.context.span_id[7] = 0xab;
    native.known = PICOLLO_KNOWN_ACCOUNTS | PICOLLO_KNOWN_RUN_DELAY | PICOLLO_KNOWN_RING | PICOLLO_KNOWN_FAULT_TIMES | PICOLLO_KNOWN_COUNTERS;
    const picollo::exemplar all(native);
    CHECK(all.native().known == native.known);
    picollo::no_context()();
    CHECK(all.cause() == picollo::cause::own_waiting && all.value() == 1 && all.began().time_since_epoch() == 2s && all.thread() == 3 && all.cpu() == 4u);
    CHECK(all.is_slow() && all.excess() == 5ns && all.window() == 6ns && all.on_cpu() == 7ns && all.run_delay() == 8ns && all.off_cpu() == 9ns);
    CHECK(all.preempted() == 10ns && all.page_faults() == 11ns && all.instructions() == 12u && all.cycles() == 13u && all.usual_ipc() == 1.5);
    CHECK(all.voluntary_switches() == 14u && all.involuntary_switches() == 15u && all.minor_faults() == 16u && all.major_faults() == 17u);
    CHECK(all.trace_id().empty() && all.span_id() == "00000000000000ab");
    native.known = 0;
    native.cause = PICOLLO_CAUSE_NOT_KNOWN;
    native.cpu = PICOLLO_CPU_UNKNOWN;
    native.usual_ipc = 0;
    const picollo::exemplar none(native);
    CHECK(!none.cpu() && !none.excess() && !none.window() && !none.on_cpu() && !none.run_delay() && !none.off_cpu() && !none.preempted());
    CHECK(!none.page_faults() && !none.instructions() && !none.cycles() && !none.usual_ipc() && !none.voluntary_switches());
    CHECK(!none.involuntary_switches() && !none.minor_faults() && !none.major_faults());
}

static void offers()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    FAILS(invalid_argument, picollo::exemplars::create(histogram, picollo::exemplars_options().slowest(1000000)));
    picollo::exemplars slow = must(picollo::exemplars::create(histogram, picollo::exemplars_options().slowest(0).slowest(3).no_ring()));
    FAILS(empty, slow.interval());
    FAILS(empty, slow.kept());
    FAILS(empty, slow.text());
    for (std::uint64_t i = 1; i <= 100; i++) CHECK(slow.offer(1000 + i, context_of(i)));
    must(slow.collect());
    const std::vector<picollo::exemplar> kept = must(slow.kept());
    CHECK(kept.size() >= 3);
    for (std::uint64_t i = 0; i < 3 && i < kept.size(); i++) CHECK(kept[i].value() == 1100 - i && kept[i].context().words[1] == 100 - i && kept[i].trace_id() == trace);
    const picollo_exemplar_interval interval = must(slow.interval());
    CHECK(interval.observations == 100 && interval.length == kept.size());
    CHECK_U64(100, must(must(histogram.snapshot()).counts()).total);

    picollo::exemplars moved = std::move(slow);
    moved.offer(5);
    must(moved.collect());
    CHECK(must(moved.kept()).size() == 1 && must(moved.kept())[0].trace_id().empty());
    const picollo_exemplars_options how =
        picollo::exemplars_options().counters().slowest(0).threshold(30ms).threads(1).rate(2).controls(3).native();
    CHECK(how.flags == (PICOLLO_EXEMPLARS_COUNTERS | PICOLLO_EXEMPLARS_NO_SLOWEST) && how.threshold == 30000000);
    CHECK(how.threads == 1 && how.rate == 2 && how.controls == 3);
}

static void texts()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::exemplars slow = must(picollo::exemplars::create(histogram));
    must(slow.prepare_thread());
    slow.offer(5);
    must(slow.collect());
    const std::string json = must(slow.json());
    for (std::uint32_t number = PICOLLO_CAUSE_OWN_WAITING; number <= PICOLLO_CAUSE_UNEXPLAINED; number++)
        CHECK(json.find('"' + std::string(picollo::to_string(static_cast<picollo::cause>(number))) + '"') != std::string::npos);
    CHECK(picollo::to_string(picollo::cause::several) == std::string("several") && picollo::to_string(picollo::cause::not_known) == std::string("not known"));
    CHECK(json.front() == '{' && !must(slow.text()).empty() && must(slow.markdown()).find("|") != std::string::npos);
    CHECK(must(slow.html()).rfind("<section", 0) == 0);
    CHECK(must(slow.share(picollo::cause::own_waiting)).share <= 1);
    FAILS(invalid_argument, slow.share(static_cast<picollo::cause>(99)));
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
        timing.shares_thread();
        timing.cancel();
    }
    must(slow.collect());
    CHECK(must(slow.kept())[0].label() == 7);
    CHECK(must(slow.interval()).observations == 4 && must(must(histogram.snapshot()).counts()).total == 4);
    {
        auto timing = slow.scope();
        timing.label(9);
        CHECK(timing.end());
        timing.annotate(context_of(5));
    }
    must(slow.collect());
    const picollo::exemplar slowest = must(slow.kept())[0];
    CHECK(slowest.context().words[1] == 5 && slowest.label() == 9);

    /* With the metric of the histogram. */
    picollo::registry registry = must(picollo::registry::create());
    picollo::metric metric;
    metric.name = "request_seconds";
    const std::uint64_t id = must(registry.add(histogram, metric));
    must(slow.publish(registry, id));
    FAILS(invalid_argument, slow.publish(registry, id + 1));
    must(registry.update());
    CHECK(must(registry.text()).find(std::string("trace_id=\"") + trace) != std::string::npos);
}

int main()
{
    RUN(accessors);
    RUN(offers);
    RUN(texts);
    RUN(scopes);
    return report();
}
