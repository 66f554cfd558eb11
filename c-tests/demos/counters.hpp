/* What the demos with performance counters share: a session of the events that this machine has, and why others are missing. */
#ifndef COUNTERS_HPP
#define COUNTERS_HPP

#include <array>
#include <iostream>
#include <optional>

#include <picollo.hpp>

inline constexpr std::array<const char *, 4> counters = {"cycles", "branch-misses", "task-clock", "page-faults"};

/* Those that cannot be counted stay in the session, and say why. */
inline picollo::session open_counters()
{
    return picollo::session({counters[0], counters[1], counters[2], counters[3]},
                            picollo::session_options().skip_unavailable());
}

inline void explain_missing(const picollo::session &session)
{
    const picollo_perf_info machine = picollo::probe();
    bool missing = false;
    for (std::size_t i = 0; i < counters.size(); i++) {
        const picollo_event_info info = session.info(i);
        if (info.status == PICOLLO_OK) continue;
        missing = true;
        /* Without a PMU the reason is the same for all, and the machine's is told in full below. */
        const char *reason = machine.pmu_available ? info.message : picollo_status_str(info.status);
        std::cout << "Not counted: " << counters[i] << " (" << session.event_at(i).name() << "): " << reason << '\n';
    }
    if (missing && !machine.pmu_available) std::cout << "Why: " << machine.explanation << ".\n";
    if (missing) std::cout << '\n';
}

/* What was recorded of a counter; none where nothing was. */
inline std::optional<picollo::summary> summary_of(picollo::session &session, std::size_t counter)
{
    const picollo::summary found = session.histogram(counter).summary();
    return found.total_count() != 0 ? std::optional<picollo::summary>(found) : std::nullopt;
}

#endif /* COUNTERS_HPP */
