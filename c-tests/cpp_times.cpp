/* Durations, scopes and their units through picollo.hpp. Compiled with exceptions and without. */
#include "cpp_test.hpp"

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static const picollo::options single_writer = picollo::options().mode(picollo::mode::single_writer);

static void durations()
{
    picollo::histogram histogram = must(picollo::histogram::create(single_writer));
    histogram.record(2us);
    CHECK_U64(2000, must(histogram.summary()).p100().bucket.lower / 8 * 8);
    histogram.record<std::chrono::microseconds>(3ms);
    histogram.record<std::chrono::milliseconds>(-5s);
    picollo::recorder recorder = must(histogram.recorder());
    const picollo::writer writer = recorder.writer();
    writer.record(7ns);
    writer.record<std::chrono::duration<std::uint64_t, std::ratio<60>>>(2h);
    const std::vector<picollo::bucket> buckets = must(must(histogram.snapshot()).buckets());
    CHECK_U64(5, buckets.size());
    const std::uint64_t expected[] = {0, 7, 120, 2000, 3000};
    for (std::size_t i = 0; i < 5; i++) CHECK(expected[i] >= buckets[i].lower && expected[i] <= buckets[i].upper);
}

/* std::chrono::duration_cast would turn some of these into negative numbers. */
static void durations_that_do_not_fit()
{
    using std::chrono::duration;
    using nanos = std::chrono::nanoseconds;
    using picos = duration<std::int64_t, std::pico>;
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    static_assert(picollo::count_of<nanos>(7ns) == 7 && picollo::count_of<nanos>(-7ns) == 0 && picollo::count_of<nanos>(2ms) == 2000000);
    static_assert(picollo::count_of<std::chrono::milliseconds>(nanos::max()) == 9223372036854);
    static_assert(picollo::count_of<nanos>(nanos::max()) == most / 2 && picollo::count_of<nanos>(nanos::min()) == 0);
    static_assert(picollo::count_of<picos>(std::chrono::hours(5124)) == 18446400000000000000u);
    static_assert(picollo::count_of<picos>(std::chrono::hours(5125)) == most);
    static_assert(picollo::count_of<nanos>(std::chrono::hours::max()) == most);
    static_assert(picollo::count_of<nanos>(std::chrono::hours::min()) == 0);
    using thirds = duration<std::uint64_t, std::ratio<1, 3>>;
    static_assert(picollo::count_of<nanos>(thirds(2)) == 666666666 && picollo::count_of<nanos>(thirds(most)) == most);
    static_assert(picollo::count_of<duration<std::uint64_t, std::ratio<2>>>(thirds(most)) == most / 6);
    CHECK_U64(2500000, picollo::count_of<nanos>(duration<double, std::milli>(2.5)));
    CHECK_U64(2, picollo::count_of<std::chrono::seconds>(duration<float>(2.9f)));
    CHECK_U64(most, picollo::count_of<nanos>(duration<double>(1e30)));
    CHECK_U64(most, picollo::count_of<nanos>(duration<double>(std::numeric_limits<double>::infinity())));
    CHECK_U64(0, picollo::count_of<nanos>(duration<double>(-std::numeric_limits<double>::infinity())));
    CHECK_U64(0, picollo::count_of<nanos>(duration<double>(std::nan(""))));
    picollo::histogram histogram = must(picollo::histogram::create());
    histogram.record<picos>(std::chrono::hours(5125));
    CHECK(must(histogram.summary()).p100().bucket.upper == most);
}

/* A clock that is set back while a scope runs. */
struct set_back {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<set_back>;
    static constexpr bool is_steady = false;
    static time_point now() noexcept { return time_point(duration(time -= 1000)); }
    static inline rep time = 1000000;
};

static void scopes_do_not_last_less_than_nothing()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    {
        picollo::scope<picollo::histogram, std::chrono::nanoseconds, set_back> timing(histogram);
        CHECK(timing.elapsed() == 0ns);
    }
    CHECK_U64(1, must(histogram.summary()).total_count());
    CHECK_U64(0, must(histogram.summary()).p100().value);
}

static void scopes()
{
    picollo::histogram nanos = must(picollo::histogram::create()), micros = must(picollo::histogram::create()),
                       ticks = must(picollo::histogram::create(single_writer));
    picollo::recorder recorder = must(ticks.recorder());
    picollo::writer writer = recorder.writer();
    {
        picollo::scope timing(nanos);
        picollo::scope<picollo::histogram, std::chrono::microseconds> coarse(micros);
        picollo::scope<picollo::writer, std::chrono::nanoseconds, std::chrono::system_clock> other(writer);
        std::this_thread::sleep_for(5ms);
        CHECK(timing.elapsed() >= 5ms);
        picollo::scope never(nanos);
        never.cancel();
    }
    CHECK_U64(1, must(nanos.summary()).total_count());
    CHECK(must(nanos.summary()).p0().value >= 4990000 && must(nanos.summary()).p0().value < 5000000000);
    CHECK(must(micros.summary()).p0().value >= 4990 && must(micros.summary()).p0().value < 5000000);
    CHECK(must(ticks.summary()).p0().value >= 4900000);
}

int main()
{
    RUN(durations);
    RUN(durations_that_do_not_fit);
    RUN(scopes);
    RUN(scopes_do_not_last_less_than_nothing);
    return report();
}
