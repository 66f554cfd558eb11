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
    /** One thread at a time: a plain addition. Two that record at once lose counts. */
    single_writer = PICOLLO_MODE_SINGLE_WRITER,
    /** Many threads at high rates: a plain addition to counters of the thread's own. */
    per_thread = PICOLLO_MODE_THREAD_LOCAL,
    /** Many threads, little memory, approximate counts. */
    scalable = PICOLLO_MODE_SCALABLE,
    /** Many threads at high rates, and signal handlers: a plain addition to counters of the CPU; elsewhere than on Linux on x86-64
     * an atomic one. 64 bits, dense. */
    per_cpu = PICOLLO_MODE_PER_CPU
};

/** Durations as counts of a unit, rounded down. A negative one, or one that is not a number, is 0; one that does not fit is
 * UINT64_MAX, where std::chrono::duration_cast would make a negative one of it. */
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

/** Records without a call: for one thread at a time. In mode per_thread, the counters of that thread. */
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

    /** Counts a value once: about a nanosecond, in single_writer and in per_thread mode. */
    void record(std::uint64_t value) noexcept { picollo_recorder_record(&native_, value); }

    /** Counts a duration, in nanoseconds unless another unit is chosen: `record<std::chrono::microseconds>(time)`. */
    template <class Unit = std::chrono::nanoseconds, class Rep, class Period>
    void record(std::chrono::duration<Rep, Period> time) noexcept
    {
        record(count_of<Unit>(time));
    }

    const picollo_recorder &native() const noexcept { return native_; }

private:
    /* A copy, so that the address of the recorder itself goes nowhere: then a loop keeps its fields in registers, since no counter
     * can be one of them. */
    static void release(picollo_recorder copy) noexcept { picollo_recorder_release(&copy); }

    picollo_recorder native_;
};

/** Records without a call by atomic additions, from any number of threads. It borrows the histogram, which has to outlive it. */
class atomic_recorder {
public:
    /** Takes what was filled in. */
    explicit atomic_recorder(const picollo_atomic_recorder &borrowed) noexcept : native_(borrowed) {}

    /** Counts a value once. */
    void record(std::uint64_t value) const noexcept { picollo_atomic_recorder_record(&native_, value); }

    /** Counts a duration, in nanoseconds unless another unit is chosen. */
    template <class Unit = std::chrono::nanoseconds, class Rep, class Period>
    void record(std::chrono::duration<Rep, Period> time) const noexcept
    {
        record(count_of<Unit>(time));
    }

    const picollo_atomic_recorder &native() const noexcept { return native_; }

private:
    picollo_atomic_recorder native_;
};

/** What a histogram is made from. */
class options {
public:
    options() noexcept : native_() { native_.struct_size = sizeof native_; }

    /** Largest distance between a value and the midpoint of its bucket, in proportion; 0.001 unless set. */
    options &relative_error(double value) noexcept { return native_.relative_error = value, *this; }
    /** 0 to 5 decimal digits with HdrHistogram's buckets, instead of a relative error. */
    options &significant_digits(std::uint32_t value) noexcept
    {
        return native_.significant_digits = value == 0 ? PICOLLO_ZERO_DIGITS : value, *this;
    }
    /** The values to record; others are counted as underflow or overflow. */
    options &range(std::uint64_t min, std::uint64_t max) noexcept
    {
        native_.min_trackable = min;
        native_.max_trackable = max;
        return *this;
    }
    /** 32 or 64, which is the default. */
    options &counter_bits(std::uint32_t value) noexcept { return native_.counter_bits = value, *this; }
    /** Who may record: any number of threads, unless another mode is named here. */
    options &mode(picollo::mode value) noexcept { return native_.mode = static_cast<std::uint32_t>(value), *this; }
    /** Counters in small chunks on first touch, up to a limit in bytes; 0: none. */
    options &sparse(std::uint64_t max_bytes = 0) noexcept
    {
        native_.storage = PICOLLO_STORAGE_SPARSE;
        native_.max_bytes = max_bytes;
        return *this;
    }
    /** Half the memory, and no reset. */
    options &no_live_reset() noexcept { return native_.flags |= PICOLLO_HISTOGRAM_NO_LIVE_RESET, *this; }

    /** Up to the largest value that the array of an HdrHistogram of this range has room for. */
    options &whole_array() noexcept { return native_.flags |= PICOLLO_HISTOGRAM_WHOLE_ARRAY, *this; }

    /** HdrHistogram's lowest discernible value: counts in units of the largest power of two in it, and records more slowly. */
    options &unit(std::uint64_t value) noexcept { return native_.unit = value, *this; }

    /** The layout that a histogram will have. Makes none. */
    outcome<picollo::layout> layout() const
    {
        picollo::layout found = {};
        const picollo_status code = picollo_layout_of_options(&native_, &found);
        return detail::filled(code, found);
    }

    /** The memory that a histogram will take. Makes none. */
    outcome<picollo_footprint> footprint() const
    {
        picollo_footprint found = {};
        const picollo_status code = picollo_histogram_estimate(&native_, &found);
        return detail::filled(code, found);
    }

    const picollo_histogram_options &native() const noexcept { return native_; }

private:
    picollo_histogram_options native_;
};

/** Counts 64-bit values in buckets of a bounded relative error. */
class histogram {
public:
    /** Takes over a reference. */
    explicit histogram(picollo_histogram *owned) noexcept : handle_(owned) {}

    static outcome<histogram> create(const options &how = options())
    {
        picollo_histogram *made = nullptr;
        const picollo_status code = picollo_histogram_create(&how.native(), &made);
        if (code != PICOLLO_OK) return detail::fail<histogram>(code);
        return histogram(made);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    histogram() : histogram(options()) {}
    explicit histogram(const options &how) : histogram(create(how)) {}
#endif

    /** Counts a value once. Never fails; see recorder() for the inlined form. */
    void record(std::uint64_t value) noexcept { picollo_histogram_record(native(), value); }
    void record_n(std::uint64_t value, std::uint64_t count) noexcept { picollo_histogram_record_n(native(), value, count); }
    /** Counts many values: the fastest way for those that are at hand. */
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
    /** Corrected for coordinated omission: also counts what a stalled caller did not send. */
    void record_corrected(std::uint64_t value, std::uint64_t expected_interval) noexcept
    {
        picollo_histogram_record_corrected(native(), value, expected_interval);
    }
    /** Counts a value within exact bounds; false, and an underflow or overflow, outside. */
    bool record_in_range(std::uint64_t value, std::uint64_t min, std::uint64_t max) noexcept
    {
        return picollo_histogram_record_in_range(native(), value, min, max) == PICOLLO_OK;
    }

    /** Starts over, at any time and from any thread. */
    outcome<void> reset() { return detail::done(picollo_histogram_reset(native())); }

    outcome<picollo::snapshot> snapshot() const
    {
        picollo_snapshot *made = nullptr;
        const picollo_status code = picollo_snapshot_create(native(), &made);
        if (code != PICOLLO_OK) return detail::fail<picollo::snapshot>(code);
        return picollo::snapshot(made);
    }

    /** For one reading; to read often, keep a snapshot and update it. */
    outcome<picollo::summary> summary(value_selection which = value_selection::midpoint) const
    {
        picollo_summary native_summary = {};
        const picollo_status code =
            picollo_histogram_summary(native(), static_cast<std::uint32_t>(which), &native_summary);
        return detail::filled(code, picollo::summary(native_summary));
    }

    /** Dense histograms made with mode::per_thread or mode::single_writer have one; others, so those of the default mode,
     * fail with status::unsupported. */
    outcome<picollo::recorder> recorder()
    {
        picollo_recorder filled = {};
        const picollo_status code = picollo_histogram_recorder(native(), PICOLLO_INLINE_VERSION, &filled);
        if (code != PICOLLO_OK) return detail::fail<picollo::recorder>(code);
        return picollo::recorder(filled);
    }

    /** Dense histograms of the default mode with counters of 64 bits have one; others fail with status::unsupported. */
    outcome<picollo::atomic_recorder> atomic_recorder()
    {
        picollo_atomic_recorder filled = {};
        const picollo_status code = picollo_histogram_atomic_recorder(native(), PICOLLO_INLINE_VERSION, &filled);
        if (code != PICOLLO_OK) return detail::fail<picollo::atomic_recorder>(code);
        return picollo::atomic_recorder(filled);
    }

    /** Adds all counts of a snapshot, of any layout. A kind of recording: as many threads may do it as may record. */
    outcome<picollo_merged> add(const picollo::snapshot &other, placement how = placement::midpoint)
    {
        picollo_merged merged = {};
        const picollo_status code =
            picollo_histogram_add(native(), other.native(), static_cast<std::uint32_t>(how), &merged);
        return detail::filled(code, merged);
    }

    /** Bytes of memory, now. */
    outcome<std::size_t> footprint() const
    {
        std::size_t bytes = 0;
        const picollo_status code = picollo_histogram_footprint(native(), &bytes);
        return detail::filled(code, bytes);
    }

    picollo_histogram *native() const noexcept { return handle_.get(); }

private:
    detail::handle<picollo_histogram, picollo_histogram_free> handle_;
};

/** Histograms alike in one block of memory, each on cache lines of its own: per endpoint, per core, per tenant. */
class histogram_array {
public:
    /** Takes over a reference. */
    explicit histogram_array(picollo_histogram_array *owned) noexcept : handle_(owned) {}

    static outcome<histogram_array> create(std::size_t size, const options &how = options())
    {
        picollo_histogram_array *made = nullptr;
        const picollo_status code = picollo_histogram_array_create(&how.native(), size, &made);
        if (code != PICOLLO_OK) return detail::fail<histogram_array>(code);
        return histogram_array(made);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    explicit histogram_array(std::size_t size, const options &how = options()) : histogram_array(create(size, how)) {}
#endif

    std::size_t size() const noexcept { return picollo_histogram_array_length(native()); }

    /** Counts a value once in one of them; nothing where there is none of this number. */
    void record(std::size_t index, std::uint64_t value) noexcept { picollo_histogram_array_record(native(), index, value); }

    /** One of them, which keeps the memory of all: to read, to take a recorder of (by mode), and to hold on to. */
    outcome<histogram> at(std::size_t index) const
    {
        picollo_histogram *found = nullptr;
        const picollo_status code = picollo_histogram_array_ref(native(), index, &found);
        if (code != PICOLLO_OK) return detail::fail<histogram>(code);
        return histogram(found);
    }

    /** Bytes of memory of all, now. */
    outcome<std::size_t> footprint() const
    {
        std::size_t bytes = 0;
        const picollo_status code = picollo_histogram_array_footprint(native(), &bytes);
        return detail::filled(code, bytes);
    }

    picollo_histogram_array *native() const noexcept { return handle_.get(); }

private:
    detail::handle<picollo_histogram_array, picollo_histogram_array_free> handle_;
};

/** Measures the time from here to the end of the block, and records it; the histogram or recorder outlives the scope.
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

    /** The time since the beginning; none, should the clock have been set back meanwhile. */
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
