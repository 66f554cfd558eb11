/* Benchmarks in C++17: which of two pieces of code is faster. Include picollo.hpp. */
#ifndef PICOLLO_BENCHMARK_HPP
#define PICOLLO_BENCHMARK_HPP

#include <type_traits>
#include <vector>

#include "picollo_compare.h"
#include "picollo_perf.hpp"
#include "picollo_result.hpp"

PICOLLO_NAMESPACE {

/** Options: each method sets the field of picollo_benchmark_options or the flag PICOLLO_BENCHMARK_... of its name. */
class benchmark_options : public detail::options_of<picollo_benchmark_options> {
public:
    benchmark_options &budget(double seconds) noexcept { return native_.budget_seconds = seconds, *this; }
    benchmark_options &warm_up(double seconds) noexcept { return native_.warm_up_seconds = seconds, *this; }
    benchmark_options &sample(double seconds) noexcept { return native_.sample_seconds = seconds, *this; }
    benchmark_options &repetitions(std::uint64_t count) noexcept { return native_.repetitions = count, *this; }
    benchmark_options &blocks(std::uint32_t min, std::uint32_t max) noexcept
    {
        native_.min_blocks = min;
        native_.max_blocks = max;
        return *this;
    }
    benchmark_options &precision(double share) noexcept { return native_.precision = share, *this; }
    benchmark_options &confidence(double value) noexcept { return native_.confidence = value, *this; }
    benchmark_options &relative_threshold(double share) noexcept { return native_.relative_threshold = share, *this; }
    benchmark_options &resolution(double seconds) noexcept { return native_.resolution_seconds = seconds, *this; }
    benchmark_options &no_overhead() noexcept { return native_.flags |= PICOLLO_BENCHMARK_NO_OVERHEAD, *this; }
    benchmark_options &keep_disturbed() noexcept { return native_.flags |= PICOLLO_BENCHMARK_KEEP_DISTURBED, *this; }
};

/** Forces the compiler to compute a value that nobody uses. */
template <class T>
inline void keep(const T &value) noexcept
{
#ifdef __GNUC__
    __asm__ volatile("" : : "r"(&value) : "memory");
#else
    static const volatile void *volatile kept;
    kept = &value;
#endif
}

/** Runs two pieces of code alternately, in blocks, so slow changes of the machine affect both alike. The differences decide.
 *
 *     picollo::benchmark benchmark;
 *     benchmark.run([] { return a(); }, [] { return b(); });
 *     std::cout << benchmark.text("a and b", "a", "b");
 */
class benchmark : public detail::handle<picollo_benchmark, picollo_benchmark_free> {
public:
    using handle::handle;

    /** Also counts events. Unavailable events stay as entries without counts. */
    static outcome<benchmark> create(const benchmark_options &how = benchmark_options(), span<const event> events = {})
    {
        std::vector<picollo_event> native_events;
        for (const event &which : events) native_events.push_back(which.native());
        return detail::made_or_explained<benchmark>(picollo_benchmark_create, &how.native(), native_events.data(), native_events.size());
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    explicit benchmark(const benchmark_options &how = benchmark_options(), span<const event> events = {})
        : benchmark(create(how, events))
    {
    }
#endif

    /** Runs both until the difference is known well enough, or the budget is spent. The compiler cannot remove their results.
     * If a call takes less than the resolution, such as code that was removed, the flags have PICOLLO_BENCHMARK_NOTHING_A or
     * _B. */
    template <class A, class B>
    outcome<void> run(A &&a, B &&b)
    {
        picollo_error why = {};
        for (;;) {
            std::uint32_t which = 0;
            std::uint64_t repetitions = 0;
            picollo_status code = picollo_benchmark_next(native(), &which, &repetitions, &why);
            if (code == PICOLLO_END) return detail::done(PICOLLO_OK);
            if (code != PICOLLO_OK) return detail::done(code, &why);
            if (which == PICOLLO_BENCHMARK_A) repeat(a, repetitions);
            else if (which == PICOLLO_BENCHMARK_B) repeat(b, repetitions);
            else repeat([] {}, repetitions);
            code = picollo_benchmark_done(native(), &why);
            if (code != PICOLLO_OK) return detail::done(code, &why);
        }
    }

    outcome<picollo_benchmark_outcome> measured() const
    {
        picollo_benchmark_outcome found = {};
        const picollo_status code = picollo_benchmark_result(native(), &found, nullptr);
        return detail::filled(code, found);
    }

    /** Reports what else the machine did, and how many blocks were left out for it. Unknown numbers are NaN. If more than half
     * were disturbed and the interval is inconclusive, .blocks of measured() has PICOLLO_COMPARISON_NOISY, and no verdict. */
    outcome<picollo_benchmark_disturbance> noise() const
    {
        picollo_benchmark_disturbance found = {};
        picollo_benchmark_outcome result = {};
        const picollo_status code = picollo_benchmark_result(native(), &result, &found);
        return detail::filled(code, found);
    }

    outcome<picollo_benchmark_counts> counter(std::size_t index) const
    {
        return detail::answer<picollo_benchmark_counts>(picollo_benchmark_counter, native(), index);
    }

    /** The samples of PICOLLO_BENCHMARK_A or _B, in picoseconds per call. */
    outcome<histogram> samples(std::uint32_t which)
    {
        return detail::made<histogram>(picollo_benchmark_histogram_ref, native(), which);
    }

    /** The results as Markdown or for people; other formats are not supported. Allocates. */
    outcome<std::string> text(const char *title = "", const char *name_a = "Before", const char *name_b = "After",
                              format how = format::markdown) const
    {
        return detail::written(picollo_benchmark_format, native(), title, name_a, name_b, static_cast<std::uint32_t>(how));
    }

private:
    /* Each call has a separate, aligned function: the same loop at another address may take a third longer. */
    template <class Call>
#ifdef __GNUC__
    __attribute__((noinline, aligned(64)))
#elif defined(_MSC_VER)
    __declspec(noinline)
#endif
    static void repeat(Call &&call, std::uint64_t repetitions)
    {
        while (repetitions-- != 0) {
            if constexpr (std::is_void_v<decltype(call())>) call();
            else keep(call());
#ifdef __GNUC__
            /* The loop remains if the call is removed. Then nothing is compared with nothing. */
            __asm__ volatile("");
#endif
        }
    }
};

} } // namespace picollo

#endif /* PICOLLO_BENCHMARK_HPP */
