/* Getting started: two distributions, their summaries, and what changed.
 *
 *   g++ -std=c++17 getting_started.cpp $(pkg-config --cflags --libs picollo)
 */
#include <cstdio>
#include <iostream>

#include <picollo.hpp>

/* Response times of a service, say, in microseconds: most are quick, some wait for others. */
class response_times {
public:
    response_times(std::uint64_t seed, std::uint64_t base, std::uint64_t spread, std::uint64_t divisor)
        : state_(seed), base_(base), spread_(spread), divisor_(divisor)
    {
    }

    std::uint64_t operator()()
    {
        state_ = state_ * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const std::uint64_t waiting = (state_ >> 20) % 64;
        return base_ + (state_ >> 40) % spread_ + waiting * waiting * waiting / divisor_;
    }

private:
    std::uint64_t state_, base_, spread_, divisor_;
};

int main()
{
    /* What is not set has a default; here we know what to expect, and 1 % is enough. */
    const picollo::options options = picollo::options().relative_error(0.01).range(2000, 12000);
    picollo::histogram before(options), after(options);

    /* Recording cannot fail. What is out of range is counted apart. */
    response_times first(1, 1990, 1500, 40), second(2, 1800, 1700, 36);
    for (int i = 0; i < 100000; i++) before.record(first());
    for (int i = 0; i < 150000; i++) after.record(second());

    const picollo::summary summary_before = before.summary(), summary_after = after.summary();
    std::cout << summary_before.table("Before") << '\n' << summary_after.table("After") << '\n';
    std::cout << summary_before.diff(summary_after, "What changed", "Before", "After") << '\n';

    /* On one line, for a log. */
    std::cout << summary_before.text("Before", picollo::format::line) << '\n';

    /* And the other way round: how many were done within 5 ms? */
    std::cout.flush();
    std::printf("%.2f %% of the second took at most 5,000 us.\n", after.snapshot().rank_of(5000, true));
}
