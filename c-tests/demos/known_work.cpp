/* Known work: 256 dependent additions take 256 cycles. What do the clocks and counters say?
 *
 * On a machine without performance counters it says which are missing and why, and shows what can be counted.
 */
#include <cstdio>

#include "counters.hpp"

constexpr int rounds = 10000;
constexpr std::uint64_t repetitions = 100;

int main()
{
    picollo::histogram by_system, by_tsc;
    picollo::session session = open_counters();
    explain_missing(session);
    session.calibrate();
    picollo::tsc_clock::init();

    std::cout << rounds << " times " << repetitions << " repetitions of 256 additions, each a cycle:\n";
    for (int round = 0; round < rounds; round++) {
        session.read();
        {
            picollo::scope in_nanos(by_system);
            picollo::scope<picollo::histogram, std::chrono::nanoseconds, picollo::tsc_clock> in_ticks(by_tsc);
            picollo::add_chain_256(repetitions);
        }
        session.read();
        /* What was counted between the two reads, each event into its histogram. */
        session.record();
    }

    const picollo::summary time = by_system.summary();
    std::cout << time.text("Time, ns", picollo::format::line) << '\n';
    std::cout << by_tsc.summary().text("By time stamp counter, ns", picollo::format::line) << '\n';
    for (std::size_t i = 0; i < counters.size(); i++) {
        const auto counted = summary_of(session, i);
        if (!counted) continue;
        std::cout << counted->text(counters[i], picollo::format::line) << '\n';
        std::cout << "    of which a pair of reads is " << session.info(i).overhead_syscall << '\n';
    }
    std::cout.flush();
    const double per_addition = static_cast<double>(time.p50().value) / static_cast<double>(repetitions * 256);
    std::printf("\nAn addition takes %.3f ns: that is a clock of about %.2f GHz.\n", per_addition, 1 / per_addition);
}
