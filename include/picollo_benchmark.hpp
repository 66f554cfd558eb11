/* Benchmarks in C++17: which of two pieces of code is faster. Include picollo.hpp. */
#ifndef PICOLLO_BENCHMARK_HPP
#define PICOLLO_BENCHMARK_HPP

#include <type_traits>
#include <vector>

#include "picollo_perf.hpp"
#include "picollo_result.hpp"

PICOLLO_NAMESPACE {

/** How to measure. */
class benchmark_options {
public:
    benchmark_options() noexcept : native_() { native_.struct_size = sizeof native_; }

    /** Seconds at most; 5 unless set. */
    benchmark_options &budget(double seconds) noexcept { return native_.budget_seconds = seconds, *this; }
    /** Seconds to warm up for; a tenth of the budget unless set. */
    benchmark_options &warm_up(double seconds) noexcept { return native_.warm_up_seconds = seconds, *this; }
    /** Seconds that a sample should take; 0.0002 unless set. */
    benchmark_options &sample(double seconds) noexcept { return native_.sample_seconds = seconds, *this; }
    /** Calls in a sample, instead of a time. */
    benchmark_options &repetitions(std::uint64_t count) noexcept { return native_.repetitions = count, *this; }
    /** Blocks before it may end for being precise enough, in the pilot and judged, and at most, of both; 0: the default. */
    benchmark_options &blocks(std::uint32_t min, std::uint32_t max) noexcept
    {
        native_.min_blocks = min;
        native_.max_blocks = max;
        return *this;
    }
    /** It ends with as many blocks as make half the interval of the difference about this share of A, or a tenth of the resolution; negative: only with the budget. */
    benchmark_options &precision(double share) noexcept { return native_.precision = share, *this; }
    benchmark_options &confidence(double value) noexcept { return native_.confidence = value, *this; }
    /** Differences up to this share of A do not matter; 0.01 unless set; negative: no such threshold. */
    benchmark_options &relative_threshold(double share) noexcept { return native_.relative_threshold = share, *this; }
    /** Seconds a call that cannot be told apart; half a nanosecond, or a hundredth of a call of nothing, unless set; negative: none. */
    benchmark_options &resolution(double seconds) noexcept { return native_.resolution_seconds = seconds, *this; }
    /** Subtract nothing: of samples so long that calling does not matter. */
    benchmark_options &no_overhead() noexcept { return native_.flags |= PICOLLO_BENCHMARK_NO_OVERHEAD, *this; }
    /** Count blocks that were disturbed from outside, too: where other programs belong to what is measured. */
    benchmark_options &keep_disturbed() noexcept { return native_.flags |= PICOLLO_BENCHMARK_KEEP_DISTURBED, *this; }

    const picollo_benchmark_options &native() const noexcept { return native_; }

private:
    picollo_benchmark_options native_;
};

/** A value that the compiler has to make, though nobody looks at it. */
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

/** Runs two pieces of code by turns, in blocks, so that what changes slowly falls on both alike, and judges the differences.
 *
 *     picollo::benchmark benchmark;
 *     benchmark.run([] { return a(); }, [] { return b(); });
 *     std::cout << benchmark.text("a and b", "a", "b");
 */
class benchmark {
public:
    explicit benchmark(picollo_benchmark *owned) noexcept : handle_(owned) {}

    /** Events are counted beside the time; those that are not available stay as entries without counts. */
    static outcome<benchmark> create(const benchmark_options &how = benchmark_options(), span<const event> events = {})
    {
        std::vector<picollo_event> native_events;
        for (const event &which : events) native_events.push_back(which.native());
        picollo_benchmark *made = nullptr;
        picollo_error why = {};
        const picollo_status code =
            picollo_benchmark_create(&how.native(), native_events.data(), native_events.size(), &made, &why);
        if (code != PICOLLO_OK) return detail::fail<benchmark>(code, &why);
        return benchmark(made);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    explicit benchmark(const benchmark_options &how = benchmark_options(), span<const event> events = {})
        : benchmark(create(how, events))
    {
    }
#endif

    /** Runs both until the difference is known well enough, or the budget is spent. What they return is kept from being left out.
     *  What takes less than can be told, as code that was left out, has PICOLLO_BENCHMARK_NOTHING_A or _B in the flags. */
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

    /** How it went; times in picoseconds, and those of .blocks for a call. */
    outcome<picollo_benchmark_outcome> measured() const
    {
        picollo_benchmark_outcome found = {};
        const picollo_status code = picollo_benchmark_result(native(), &found);
        return detail::filled(code, found);
    }

    /** What else the machine did, and how many blocks were left out for it; NaN is what is not known. Where too many were disturbed,
     *  .blocks of what was measured has PICOLLO_COMPARISON_NOISY, and no verdict. */
    outcome<picollo_benchmark_disturbance> noise() const
    {
        picollo_benchmark_disturbance found = {};
        const picollo_status code = picollo_benchmark_noise(native(), &found);
        return detail::filled(code, found);
    }

    /** How much of an event a call took, by the event's position. */
    outcome<picollo_benchmark_counts> counter(std::size_t index) const
    {
        picollo_benchmark_counts found = {};
        const picollo_status code = picollo_benchmark_counter(native(), index, &found);
        return detail::filled(code, found);
    }

    /** The samples of PICOLLO_BENCHMARK_A or _B: picoseconds a call. */
    outcome<histogram> samples(std::uint32_t which)
    {
        picollo_histogram *found = nullptr;
        const picollo_status code = picollo_benchmark_histogram_ref(native(), which, &found);
        if (code != PICOLLO_OK) return detail::fail<histogram>(code);
        return histogram(found);
    }

    /** How it went, as Markdown, or for people: no other format is written. Allocates. */
    outcome<std::string> text(const char *title = "", const char *name_a = "Before", const char *name_b = "After",
                              format how = format::markdown) const
    {
        return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return picollo_benchmark_format(native(), title, name_a, name_b, static_cast<std::uint32_t>(how), buffer,
                                            capacity, length);
        });
    }

    picollo_benchmark *native() const noexcept { return handle_.get(); }

private:
    /* For each call a function of its own, and aligned: the same loop elsewhere in memory may take a third longer. */
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
            /* The loop is there also where the call is not: nothing is then compared with nothing. */
            __asm__ volatile("");
#endif
        }
    }

    detail::handle<picollo_benchmark, picollo_benchmark_free> handle_;
};

} } // namespace picollo

#endif /* PICOLLO_BENCHMARK_HPP */
