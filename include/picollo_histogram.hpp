/* Histograms, recorders, arrays and scopes in C++17. Include picollo.hpp. */
#ifndef PICOLLO_HISTOGRAM_HPP
#define PICOLLO_HISTOGRAM_HPP

#include <chrono>
#include <limits>

#include "picollo_inline.h"
#include "picollo_result.hpp"
#include "picollo_snapshot.hpp"
#include "picollo_summary.hpp"

PICOLLO_NAMESPACE {

/** Who may record, and how. */
enum class mode : std::uint32_t {
    /** Any number of threads, and signal handlers: an atomic addition. The default. */
    interlocked = PICOLLO_MODE_INTERLOCKED,
    /** One thread at a time: a plain addition. Two threads that record at the same time lose counts. */
    single_writer = PICOLLO_MODE_SINGLE_WRITER,
    /** Many threads at high rates: a plain addition to the thread's own counters. */
    per_thread = PICOLLO_MODE_THREAD_LOCAL,
    /** Many threads at high rates, and signal handlers: a plain addition to counters of the CPU; on systems other than Linux on
     * x86-64 an atomic addition. 64 bits, dense. */
    per_cpu = PICOLLO_MODE_PER_CPU
};

/** Durations as counts of a unit, rounded down. A negative duration or NaN is 0. One that does not fit is UINT64_MAX, where
 * std::chrono::duration_cast would return a negative number. */
template <class Unit, class Rep, class Period>
constexpr std::uint64_t count_of(std::chrono::duration<Rep, Period> time) noexcept
{
    using ratio = std::ratio_divide<Period, typename Unit::period>;
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    constexpr std::uint64_t num = static_cast<std::uint64_t>(ratio::num), den = static_cast<std::uint64_t>(ratio::den);
    if (!(time.count() > Rep(0))) return 0;
    if constexpr (std::chrono::treat_as_floating_point<Rep>::value) {
        using wide = std::common_type_t<Rep, double>;
        const wide count = static_cast<wide>(time.count()) * static_cast<wide>(num) / static_cast<wide>(den);
        /* 2^64: the first that does not fit. */
        return count < static_cast<wide>(18446744073709551616.0) ? static_cast<std::uint64_t>(count) : most;
    } else {
        const std::uint64_t count = static_cast<std::uint64_t>(time.count());
        static_assert(num <= most / den, "the ratio of the two units is beyond 64 bits");
        /* The remainder is below den, so that its product fits. */
        const std::uint64_t whole = count / den, part = count % den * num / den;
        if (num != 1 && whole > (most - part) / num) return most;
        return whole * num + part;
    }
}

/** Records without a call, for one thread at a time: the writer of a recorder. Keep it in a local variable. */
class writer {
public:
    explicit writer(const picollo_writer &native) noexcept : native_(native) {}

    /** Counts a value once, in about a nanosecond. */
    void record(std::uint64_t value) const noexcept { picollo_writer_record(native_, value); }

    /** Counts a duration, in nanoseconds unless another unit is chosen: `record<std::chrono::microseconds>(time)`. */
    template <class Unit = std::chrono::nanoseconds, class Rep, class Period>
    void record(std::chrono::duration<Rep, Period> time) const noexcept
    {
        record(count_of<Unit>(time));
    }

private:
    picollo_writer native_;
};

/** Records without a call by atomic additions, from any number of threads: the writer of an atomic recorder. */
class atomic_writer {
public:
    explicit atomic_writer(const picollo_atomic_writer &native) noexcept : native_(native) {}

    /** Counts a value once. */
    void record(std::uint64_t value) const noexcept { picollo_atomic_writer_record(native_, value); }

    /** Counts a duration, in nanoseconds unless another unit is chosen. */
    template <class Unit = std::chrono::nanoseconds, class Rep, class Period>
    void record(std::chrono::duration<Rep, Period> time) const noexcept
    {
        record(count_of<Unit>(time));
    }

private:
    picollo_atomic_writer native_;
};

/** What recording without a call needs: for one thread at a time. In mode per_thread it has a separate shard of counters. */
class recorder {
public:
    /** Takes over a recorder that was filled in. */
    explicit recorder(const picollo_recorder &owned) noexcept : native_(owned) {}
    recorder(recorder &&other) noexcept : native_(std::exchange(other.native_, picollo_recorder())) {}
    recorder &operator=(recorder &&other) noexcept
    {
        if (this != &other) {
            release(native_);
            native_ = std::exchange(other.native_, picollo_recorder());
        }
        return *this;
    }
    ~recorder() { release(native_); }

    /** Records; a local variable, which the compiler keeps in registers. Valid until the recorder is destroyed. */
    picollo::writer writer() const noexcept { return picollo::writer(picollo_recorder_writer(&native_)); }

    const picollo_recorder &native() const noexcept { return native_; }

private:
    static void release(picollo_recorder copy) noexcept { picollo_recorder_release(&copy); }

    picollo_recorder native_;
};

/** What atomic additions without a call need, from any number of threads. It borrows the histogram, which must outlive it. */
class atomic_recorder {
public:
    /** Takes over an atomic recorder that was filled in. */
    explicit atomic_recorder(const picollo_atomic_recorder &borrowed) noexcept : native_(borrowed) {}

    /** Records; a local variable, which the compiler keeps in registers. Valid as long as the histogram. */
    picollo::atomic_writer writer() const noexcept { return picollo::atomic_writer(picollo_atomic_recorder_writer(&native_)); }

    const picollo_atomic_recorder &native() const noexcept { return native_; }

private:
    picollo_atomic_recorder native_;
};

/** Options: each method sets the field of picollo_histogram_options or the flag PICOLLO_HISTOGRAM_... of its name. */
class options : public detail::options_of<picollo_histogram_options> {
public:
    options &relative_error(double value) noexcept { return native_.relative_error = value, *this; }
    /** 0 to 5 decimal digits with HdrHistogram's buckets, instead of a relative error. */
    options &significant_digits(std::uint32_t value) noexcept
    {
        return native_.significant_digits = value == 0 ? PICOLLO_ZERO_DIGITS : value, *this;
    }
    options &range(std::uint64_t min, std::uint64_t max) noexcept
    {
        native_.min_trackable = min;
        native_.max_trackable = max;
        return *this;
    }
    options &counter_bits(std::uint32_t value) noexcept { return native_.counter_bits = value, *this; }
    options &mode(picollo::mode value) noexcept { return native_.mode = static_cast<std::uint32_t>(value), *this; }
    /** Counters in small chunks, allocated on first touch, up to a limit in bytes; 0: no limit. */
    options &sparse(std::uint64_t max_bytes = 0) noexcept
    {
        native_.storage = PICOLLO_STORAGE_SPARSE;
        native_.max_bytes = max_bytes;
        return *this;
    }
    options &no_live_reset() noexcept { return native_.flags |= PICOLLO_HISTOGRAM_NO_LIVE_RESET, *this; }

    options &whole_array() noexcept { return native_.flags |= PICOLLO_HISTOGRAM_WHOLE_ARRAY, *this; }

    options &unit(std::uint64_t value) noexcept { return native_.unit = value, *this; }

    /** The layout of a histogram with these options. Makes none. */
    outcome<picollo::layout> layout() const
    {
        return detail::answer<picollo::layout>(picollo_layout_of_options, &native_);
    }

    /** The memory of a histogram with these options. Makes none. */
    outcome<picollo_footprint> footprint() const
    {
        return detail::answer<picollo_footprint>(picollo_histogram_estimate, &native_);
    }
};

/** Counts 64-bit values in buckets with a bounded relative error. */
class histogram : public detail::handle<picollo_histogram, picollo_histogram_free> {
public:
    using handle::handle;

    static outcome<histogram> create(const options &how = options())
    {
        return detail::made<histogram>(picollo_histogram_create, &how.native());
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    histogram() : histogram(options()) {}
    explicit histogram(const options &how) : histogram(create(how)) {}
#endif

    /** Counts a value once. Never fails; see recorder() for the inlined form. */
    void record(std::uint64_t value) noexcept { picollo_histogram_record(native(), value); }
    void record_n(std::uint64_t value, std::uint64_t count) noexcept { picollo_histogram_record_n(native(), value, count); }
    void record(span<const std::uint64_t> values) noexcept
    {
        picollo_histogram_record_batch(native(), values.data(), values.size());
    }
    /** Counts a duration, in nanoseconds unless another unit is chosen. */
    template <class Unit = std::chrono::nanoseconds, class Rep, class Period>
    void record(std::chrono::duration<Rep, Period> time) noexcept
    {
        record(count_of<Unit>(time));
    }
    void record_corrected(std::uint64_t value, std::uint64_t expected_interval) noexcept
    {
        picollo_histogram_record_corrected(native(), value, expected_interval);
    }
    /** Counts a value within exact bounds. Outside it counts an underflow or overflow, and returns false. */
    bool record_in_range(std::uint64_t value, std::uint64_t min, std::uint64_t max) noexcept
    {
        return picollo_histogram_record_in_range(native(), value, min, max) == PICOLLO_OK;
    }

    outcome<void> reset() { return detail::done(picollo_histogram_reset(native())); }

    outcome<picollo::snapshot> snapshot() const
    {
        return detail::made<picollo::snapshot>(picollo_snapshot_create, native());
    }

    /** For a single reading. To read often, keep a snapshot and update it. */
    outcome<picollo::summary> summary(value_selection which = value_selection::midpoint) const
    {
        return detail::summarized<picollo_histogram>(picollo_histogram_summary, native(), static_cast<std::uint32_t>(which));
    }

    /** Only for dense histograms made with mode::per_thread or mode::single_writer. Others, including the default mode, fail
     * with status::unsupported. */
    outcome<picollo::recorder> recorder()
    {
        return detail::answer<picollo::recorder, picollo_recorder>(picollo_histogram_recorder, native(),
                                                                    std::uint32_t{PICOLLO_INLINE_VERSION});
    }

    /** Only for dense histograms of the default mode with 64-bit counters. Others fail with status::unsupported. */
    outcome<picollo::atomic_recorder> atomic_recorder()
    {
        return detail::answer<picollo::atomic_recorder, picollo_atomic_recorder>(picollo_histogram_atomic_recorder, native(),
                                                                                 std::uint32_t{PICOLLO_INLINE_VERSION});
    }

    outcome<picollo_merged> add(const picollo::snapshot &other, placement how = placement::midpoint)
    {
        return detail::answer<picollo_merged>(picollo_histogram_add, native(), other.native(), static_cast<std::uint32_t>(how));
    }

    outcome<std::size_t> footprint() const
    {
        return detail::answer<std::size_t>(picollo_histogram_footprint, native());
    }
};

/** Measures the time from here to the end of the block, and records it. The histogram or writer must outlive the scope.
 *
 *     picollo::scope timing(latency);                                                   // nanoseconds
 *     picollo::scope<picollo::histogram, std::chrono::microseconds> timing(latency);
 */
template <class Target = histogram, class Unit = std::chrono::nanoseconds, class Clock = std::chrono::steady_clock>
class scope {
public:
    explicit scope(Target &target) noexcept : target_(&target), start_(Clock::now()) {}
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope()
    {
        if (target_ != nullptr) target_->template record<Unit>(elapsed());
    }

    /** The time since the beginning; zero if the clock was set back. */
    typename Clock::duration elapsed() const noexcept
    {
        const typename Clock::duration time = Clock::now() - start_;
        return time < Clock::duration::zero() ? Clock::duration::zero() : time;
    }
    /** Records nothing. */
    void cancel() noexcept { target_ = nullptr; }

private:
    Target *target_;
    typename Clock::time_point start_;
};

} } // namespace picollo

#endif /* PICOLLO_HISTOGRAM_HPP */
