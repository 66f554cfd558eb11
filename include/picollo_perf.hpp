/* Clocks and performance counters in C++17. Include picollo.hpp. */
#ifndef PICOLLO_PERF_HPP
#define PICOLLO_PERF_HPP

#include <chrono>
#include <initializer_list>
#include <vector>

#include "picollo_histogram.hpp"
#include "picollo_perf.h"

PICOLLO_NAMESPACE {

namespace detail {

/** Ticks as tenths of a nanosecond, rounded down: first whole seconds, then the rest. The result is the same for all equal
 * ticks, so times do not go back. No product overflows in practice: rest * 10^9 fits below 18 GHz, and the seconds for 29
 * years. */
constexpr std::int64_t tenths_of_nanos(std::uint64_t ticks, std::uint64_t hertz) noexcept
{
    const std::uint64_t seconds = ticks / hertz, rest = ticks % hertz * 1000000000;
    return static_cast<std::int64_t>(seconds * 10000000000 + rest / hertz * 10 + rest % hertz * 10 / hertz);
}

} // namespace detail

/** The processor's time stamp counter as a std::chrono clock, for scopes below the resolution of the system's clock. If the
 * counter cannot be trusted, the library uses the monotonic clock instead.
 *
 * It counts tenths of a nanosecond, which is finer than the ticks of any counter, for 29 years. It starts with the counter,
 * which is usually the start of the machine. */
struct tsc_clock {
    using rep = std::int64_t;
    using period = std::ratio<1, 10000000000>;
    using duration = std::chrono::duration<rep, period>;
    using time_point = std::chrono::time_point<tsc_clock>;
    static constexpr bool is_steady = true;

    /** Calibrates now instead of at the first use; takes a few milliseconds. */
    static outcome<void> init() { return detail::done(picollo_clock_init()); }
    static time_point now() noexcept
    {
        /* Without an operating system there is no clock: the frequency is unknown, and ticks are 0. */
        std::uint64_t hertz = 1;
        static_cast<void>(picollo_clock_frequency(PICOLLO_CLOCK_TSC, &hertz));
        return time_point(duration(detail::tenths_of_nanos(picollo_clock_ticks(PICOLLO_CLOCK_TSC), hertz)));
    }
};

/** An event that can be counted. */
class event {
public:
    /** `cycles`, `branch-misses`, `L1-dcache-load-misses`, `page-faults`, `r01c2`, `cpu/event=0x3c/`, `mem:0xADDRESS/8:w`. */
    static outcome<event> parse(const char *spec)
    {
        event made;
        picollo_error detail = {};
        const picollo_status code = picollo_event_parse(spec, &made.native_, &detail);
        return detail::filled(code, made, &detail);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    event(const char *spec) : event(parse(spec)) {}
#endif
    explicit event(const picollo_event &native) noexcept : native_(native) {}

    const char *name() const noexcept { return native_.name; }
    const picollo_event &native() const noexcept { return native_; }

private:
    event() noexcept : native_() {}

    picollo_event native_;
};

/** Options: each method sets the flag PICOLLO_SESSION_... or the field of picollo_session_options of its name. */
class session_options : public detail::options_of<picollo_session_options> {
public:
    session_options &pinned() noexcept { return flag(PICOLLO_SESSION_PINNED); }
    session_options &kernel() noexcept { return flag(PICOLLO_SESSION_KERNEL); }
    session_options &disabled() noexcept { return flag(PICOLLO_SESSION_DISABLED); }
    session_options &inherit() noexcept { return flag(PICOLLO_SESSION_INHERIT); }
    session_options &skip_unavailable() noexcept { return flag(PICOLLO_SESSION_SKIP_UNAVAILABLE); }
    session_options &ordered() noexcept { return flag(PICOLLO_SESSION_ORDERED); }
    session_options &subtract_overhead() noexcept { return flag(PICOLLO_SESSION_SUBTRACT); }
    session_options &thread(std::int32_t id) noexcept { return native_.thread = id, *this; }
    session_options &on_cpu(std::int32_t cpu) noexcept { return native_.cpu = cpu, flag(PICOLLO_SESSION_ON_CPU); }
    session_options &relative_error(double value) noexcept { return native_.relative_error = value, *this; }

private:
    session_options &flag(std::uint32_t bit) noexcept { return native_.flags |= bit, *this; }
};

/** How a session reads its counters. */
enum class read_mode : std::uint32_t { automatic = PICOLLO_READ_AUTO, syscall = PICOLLO_READ_SYSCALL };

/** Counters that are read together, each with a histogram. Only the thread that made the session may call `read()`. Everything
 * else, and `read(read_mode::syscall)`, is for any thread, one at a time. */
class session : public detail::handle<picollo_session, picollo_session_free> {
public:
    using handle::handle;

    static outcome<session> create(span<const event> events, const session_options &how = session_options())
    {
        std::vector<picollo_event> native_events;
        for (const event &one : events) native_events.push_back(one.native());
        return detail::made_or_explained<session>(picollo_session_create, &how.native(), native_events.data(), native_events.size());
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    /** `picollo::session session({"cycles", "instructions"});` */
    session(std::initializer_list<event> events, const session_options &how = session_options())
        : session(create(span<const event>(events.begin(), events.size()), how))
    {
    }
#endif
    outcome<picollo::event> event_at(std::size_t index) const
    {
        return detail::answer<picollo::event, picollo_event>(picollo_session_event, native(), index);
    }
    outcome<picollo_event_info> info(std::size_t index) const
    {
        return detail::answer<picollo_event_info>(picollo_session_event_info, native(), index);
    }

    outcome<void> enable() { return detail::done_or_explained(picollo_session_enable, native()); }
    outcome<void> disable() { return detail::done_or_explained(picollo_session_disable, native()); }
    outcome<void> calibrate() { return detail::done_or_explained(picollo_session_calibrate, native()); }
    outcome<void> reset() { return detail::done_or_explained(picollo_session_reset, native()); }

    outcome<void> read(read_mode how = read_mode::automatic)
    {
        picollo_error detail;
        const picollo_status code = picollo_session_read(native(), static_cast<std::uint32_t>(how), &detail);
        return detail::done(code, code == PICOLLO_OK ? nullptr : &detail);
    }
    /** Records the last reading, once: the deltas between the last two, or the counts since the base. */
    outcome<void> record(bool deltas = true) { return detail::done(picollo_session_record(native(), deltas)); }
    outcome<void> readings(span<picollo_reading> out, bool deltas = true) const
    {
        std::size_t length = 0;
        return detail::done(picollo_session_readings(native(), deltas, out.data(), out.size(), &length));
    }
    outcome<std::vector<picollo_reading>> readings(bool deltas = true) const
    {
        return detail::listed<picollo_reading>(picollo_session_readings, native(), deltas);
    }
    /** The histogram of a counter; it outlives the session. */
    outcome<picollo::histogram> histogram(std::size_t index)
    {
        return detail::made<picollo::histogram>(picollo_session_histogram_ref, native(), index);
    }
};

/** The performance counters of this machine, and what is missing. */
inline outcome<picollo_perf_info> probe()
{
    picollo_perf_info info = {};
    picollo_error detail = {};
    const picollo_status code = picollo_perf_probe(&info, &detail);
    return detail::filled(code, info, &detail);
}

/** Work of known length: 256 dependent additions, a cycle each, repeated as requested. */
inline void add_chain_256(std::uint64_t repetitions) noexcept
{
    picollo_work_add_chain_256(repetitions);
}

} } // namespace picollo

#endif /* PICOLLO_PERF_HPP */
