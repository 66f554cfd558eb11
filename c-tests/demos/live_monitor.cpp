/* Live monitor: one thread works and records, another prints a line a second of what was recorded since the last one.
 * Neither waits for the other.
 *
 *   live_monitor [SECONDS]        default: 3
 */
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <thread>

#include <picollo.hpp>

/* Some work whose duration varies: sums of square roots, now and then a hundred times as many. */
static void work(std::uint32_t &seed)
{
    seed = seed * 1664525u + 1013904223u;
    const std::uint32_t steps = (seed >> 16) % 100 == 0 ? 20000 : 100 + (seed >> 20) % 200;
    double sum = 0;
    for (std::uint32_t i = 0; i < steps; i++) sum += std::sqrt(i);
    picollo::keep(sum);
}

int main(int argc, char **argv)
{
    const int seconds = argc > 1 ? std::atoi(argv[1]) : 3;
    /* One thread records, through a recorder. */
    picollo::histogram histogram(picollo::options().mode(picollo::mode::single_writer));
    picollo::snapshot snapshot = histogram.snapshot();
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        picollo::recorder recorder = histogram.recorder();
        std::uint32_t seed = 1;
        while (!stop) {
            picollo::scope timing(recorder);
            work(seed);
        }
    });

    for (int second = 1; second <= seconds; second++) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        /* What came since the last update; allocates nothing. */
        snapshot.update(picollo::since::previous_update);
        const std::string title = std::to_string(second) + " s, ns";
        std::cout << snapshot.summary().text(title.c_str(), picollo::format::line) << std::endl;
    }
    stop = true;
    writer.join();

    /* The deltas did not disturb the whole. */
    std::cout << histogram.summary().text("All, ns", picollo::format::line) << '\n';
}
