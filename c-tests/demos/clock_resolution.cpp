/* Clock resolution: how finely the two clocks tell time, and what reading them costs. Reads each clock again and again and
 * records the differences.
 */
#include <cstdio>
#include <iostream>

#include <picollo.hpp>

constexpr int reads = 1000000;

template <class Clock>
static void measure(const char *name)
{
    /* Small whole numbers keep their values: up to 1,024 at the default error of 0.001. */
    picollo::histogram picos;
    int same = 0;
    auto last = Clock::now();
    for (int i = 0; i < reads; i++) {
        const auto now = Clock::now();
        same += now == last;
        picos.record<std::chrono::duration<std::uint64_t, std::pico>>(now - last);
        last = now;
    }
    std::printf("%s: %.2f %% of %d reads told the same time as the one before.\n", name, 100.0 * same / reads, reads);
    std::fflush(stdout);
    std::cout << picos.summary().text("Between two reads, ps", picollo::format::line) << "\n" << std::endl;
}

int main()
{
    /* Otherwise the first read would calibrate, and be the longest. */
    picollo::tsc_clock::init();
    measure<std::chrono::steady_clock>("std::chrono::steady_clock");
    measure<picollo::tsc_clock>("picollo::tsc_clock, the time stamp counter");
}
