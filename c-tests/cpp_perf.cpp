/* picollo_perf.hpp: clocks, events and sessions. Compiled with exceptions and without. */
#include "cpp_test.hpp"

#include <sys/mman.h>
#include <thread>
#include <type_traits>
#include <vector>

static_assert(!std::is_copy_constructible_v<picollo::session> && std::is_nothrow_move_constructible_v<picollo::session>);
static_assert(std::chrono::steady_clock::is_steady && picollo::tsc_clock::is_steady);
static_assert(sizeof(picollo::event) == sizeof(picollo_event));

/* Times since the machine's start grow with every tick, for decades and at any rate. */
constexpr bool grows_and_stays_positive(std::uint64_t hertz)
{
    const std::uint64_t day = 86400;
    /* 64 bits of picoseconds would have overflowed here, signed and unsigned. */
    for (const std::uint64_t seconds : {std::uint64_t{0}, 107 * day, 214 * day, 29 * 365 * day}) {
        const std::uint64_t ticks = seconds * hertz;
        const std::int64_t here = picollo::detail::tenths_of_nanos(ticks, hertz);
        if (here != static_cast<std::int64_t>(seconds * 10000000000) || here < 0) return false;
        if (picollo::detail::tenths_of_nanos(ticks + hertz, hertz) - here != 10000000000) return false;
        for (std::uint64_t tick = 1; tick < 100; tick++) {
            const std::int64_t later = picollo::detail::tenths_of_nanos(ticks + tick, hertz) - here;
            if (later != static_cast<std::int64_t>(tick * 10000000000 / hertz)) return false;
        }
        /* To the last tick of a second. */
        const std::uint64_t last = 10000000000 - (10000000000 + hertz - 1) / hertz;
        if (picollo::detail::tenths_of_nanos(ticks + hertz - 1, hertz) - here != static_cast<std::int64_t>(last)) return false;
    }
    return true;
}
static_assert(grows_and_stays_positive(24000000) && grows_and_stays_positive(1000000000));
static_assert(grows_and_stays_positive(2299998512) && grows_and_stays_positive(6000000001));
static_assert(picollo::detail::tenths_of_nanos(0, 1) == 0);

/* Touches pages for the first time. */
static void fault(std::size_t pages)
{
    void *memory = mmap(nullptr, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (std::size_t i = 0; i < pages; i++) static_cast<volatile char *>(memory)[i * 4096] = 1;
    munmap(memory, pages * 4096);
}

static std::vector<picollo::event> software()
{
    std::vector<picollo::event> events;
    for (const char *name : {"page-faults", "task-clock"}) events.push_back(must(picollo::event::parse(name)));
    return events;
}

static void clocks()
{
    must(picollo::tsc_clock::init());
    const auto start = std::chrono::steady_clock::now();
    const auto ticks = picollo::tsc_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto tsc = picollo::tsc_clock::now() - ticks;
    const auto steady = std::chrono::steady_clock::now() - start;
    CHECK(tsc >= std::chrono::milliseconds(19) && tsc <= steady + std::chrono::milliseconds(1));
    const std::uint64_t before = picollo_clock_ticks(PICOLLO_CLOCK_TSC);
    const auto now = picollo::tsc_clock::now().time_since_epoch();
    const std::uint64_t after = picollo_clock_ticks(PICOLLO_CLOCK_TSC);
    CHECK(picollo_clock_convert(PICOLLO_CLOCK_TSC, before, PICOLLO_UNIT_NANOS) <= picollo::count_of<std::chrono::nanoseconds>(now));
    CHECK(picollo_clock_convert(PICOLLO_CLOCK_TSC, after, PICOLLO_UNIT_NANOS) >= picollo::count_of<std::chrono::nanoseconds>(now));
}

static void events()
{
    const picollo::event event = must(picollo::event::parse("page-faults"));
    CHECK_TEXT("Software:PageFaults", event.name());
    FAILS(no_such_event, picollo::event::parse("nonsense"));
#ifdef PICOLLO_NO_EXCEPTIONS
    CHECK(strstr(picollo::event::parse("nonsense").error().message(), "nonsense") != nullptr);
#else
    try {
        picollo::event unknown("nonsense");
        CHECK(false);
    } catch (const picollo::error &why) {
        CHECK(strstr(why.what(), "nonsense") != nullptr);
    }
#endif
}

static void page_faults()
{
    picollo::session session = must(picollo::session::create(software()));
    CHECK_STRING("Software:TaskClock", must(session.event_at(1)).name());
    CHECK(must(session.info(0)).status == PICOLLO_OK);
    for (int i = 0; i < 10; i++) {
        must(session.read(picollo::read_mode::syscall));
        fault(100);
        must(session.read());
        must(session.record());
    }
    picollo::histogram faults = must(session.histogram(0));
    const picollo::summary summary = must(faults.summary());
    CHECK_U64(10, summary.total_count());
    CHECK(summary.p0().value >= 100);
    const std::vector<picollo_reading> deltas = must(session.readings());
    CHECK(deltas.size() == 2 && deltas[0].value >= 100 && deltas[1].value > 0);
    picollo_reading totals[2];
    must(session.readings(totals, false));
    CHECK(totals[0].value >= 1000);
    FAILS(empty, session.record());
    must(session.calibrate());
    must(session.reset());
    CHECK_U64(0, must(faults.summary()).total_count());
    must(session.disable());
    must(session.enable());

    /* The recorded values outlive the session. */
    must(session.read());
    must(session.record());
    session = must(picollo::session::create(software(), picollo::session_options().disabled().relative_error(0.01)));
    CHECK_U64(1, must(faults.summary()).total_count());
    fault(10);
    must(session.read());
    CHECK_U64(0, must(session.readings(false))[0].raw);
}

static void missing_counters()
{
    const picollo_perf_info machine = must(picollo::probe());
    if (machine.pmu_available) {
        SKIPPED("this machine has performance counters");
        return;
    }
    CHECK(machine.explanation[0] != 0);
    std::vector<picollo::event> events = software();
    events.push_back(must(picollo::event::parse("branch-misses")));
    FAILS(no_such_event, picollo::session::create(events));
#ifdef PICOLLO_NO_EXCEPTIONS
    const auto refused = picollo::session::create(events);
    const picollo::failure &why = refused.error();
    const std::string message = why.message();
#else
    std::string message;
    picollo::error why{picollo::failure(PICOLLO_OK)};
    try {
        picollo::session({"page-faults", "task-clock", "branch-misses"});
    } catch (const picollo::error &thrown) {
        why = thrown;
        message = thrown.what();
    }
#endif
    CHECK(why.event_index() == 2 && why.os_errno() == 2 && message.find("BranchMisses") != std::string::npos);

    picollo::session session = must(picollo::session::create(events, picollo::session_options().skip_unavailable()));
    CHECK(must(session.info(2)).status == PICOLLO_ERR_NO_SUCH_EVENT);
    must(session.read());
    CHECK(must(session.readings())[2].status == PICOLLO_ERR_NO_SUCH_EVENT);
    FAILS(invalid_argument, picollo::session::create(picollo::span<const picollo::event>()));
}

int main()
{
    RUN(clocks);
    RUN(events);
    RUN(page_faults);
    RUN(missing_counters);
    return report();
}
