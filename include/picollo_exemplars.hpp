/* Which observations of a histogram were slow, and why, in C++17. Include picollo.hpp. */
#ifndef PICOLLO_EXEMPLARS_HPP
#define PICOLLO_EXEMPLARS_HPP

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "picollo_histogram.hpp"
#include "picollo_registry.hpp"
#include "picollo_result.hpp"
#include "picollo_why.h"

PICOLLO_NAMESPACE {

/** Why an observation took longer than usual: see PICOLLO_CAUSE_.... */
enum class cause : std::uint32_t {
    own_waiting = PICOLLO_CAUSE_OWN_WAITING,
    run_queue = PICOLLO_CAUSE_RUN_QUEUE,
    run_queue_or_quota = PICOLLO_CAUSE_RUN_QUEUE_OR_QUOTA,
    throttled = PICOLLO_CAUSE_THROTTLED,
    off_cpu = PICOLLO_CAUSE_OFF_CPU,
    page_faults = PICOLLO_CAUSE_PAGE_FAULTS,
    more_instructions = PICOLLO_CAUSE_MORE_INSTRUCTIONS,
    slower_instructions = PICOLLO_CAUSE_SLOWER_INSTRUCTIONS,
    on_cpu = PICOLLO_CAUSE_ON_CPU,
    unexplained = PICOLLO_CAUSE_UNEXPLAINED,
    several = PICOLLO_CAUSE_SEVERAL,
    not_known = PICOLLO_CAUSE_NOT_KNOWN
};

/** The name in the table. */
inline const char *to_string(cause what) noexcept
{
    switch (what) {
    case cause::own_waiting: return "own waiting";
    case cause::run_queue: return "run queue";
    case cause::run_queue_or_quota: return "run queue or quota";
    case cause::throttled: return "throttled";
    case cause::off_cpu: return "off CPU, not split";
    case cause::page_faults: return "page faults";
    case cause::more_instructions: return "more instructions";
    case cause::slower_instructions: return "slower instructions";
    case cause::on_cpu: return "on CPU, cause not known";
    case cause::unexplained: return "unexplained";
    case cause::several: return "several";
    case cause::not_known: break;
    }
    return "not known";
}

/** Links an observation to its request. */
struct exemplar_context {
    /** Its trace and its span in that trace, as in W3C's traceparent. Zeroes mean that there is no trace or span. */
    std::array<std::uint8_t, 16> trace_id = {};
    std::array<std::uint8_t, 8> span_id = {};
    /** Free for the program, such as the number of a request. */
    std::array<std::uint64_t, 2> words = {};

    exemplar_context() noexcept = default;
    explicit exemplar_context(const picollo_exemplar_context &native) noexcept
    {
        std::copy(std::begin(native.trace_id), std::end(native.trace_id), trace_id.begin());
        std::copy(std::begin(native.span_id), std::end(native.span_id), span_id.begin());
        std::copy(std::begin(native.words), std::end(native.words), words.begin());
    }

    picollo_exemplar_context native() const noexcept
    {
        picollo_exemplar_context context = {};
        std::copy(trace_id.begin(), trace_id.end(), context.trace_id);
        std::copy(span_id.begin(), span_id.end(), context.span_id);
        std::copy(words.begin(), words.end(), context.words);
        return context;
    }
};

/** Options: each method sets the field of picollo_exemplars_options or the flag PICOLLO_EXEMPLARS_... of its name. */
class exemplars_options : public detail::options_of<picollo_exemplars_options> {
public:
    exemplars_options &threshold(std::uint64_t value) noexcept { return native_.threshold = value, *this; }
    /** The same in nanoseconds, which is what scopes record. */
    template <class Rep, class Period>
    exemplars_options &threshold(std::chrono::duration<Rep, Period> time) noexcept
    {
        return threshold(count_of<std::chrono::nanoseconds>(time));
    }
    exemplars_options &slowest(std::uint32_t count) noexcept
    {
        native_.flags = count == 0 ? native_.flags | PICOLLO_EXEMPLARS_NO_SLOWEST : native_.flags & ~std::uint32_t(PICOLLO_EXEMPLARS_NO_SLOWEST);
        return native_.slowest = count, *this;
    }
    exemplars_options &threads(std::uint32_t count) noexcept { return native_.threads = count, *this; }
    exemplars_options &rate(std::uint32_t count) noexcept { return native_.rate = count, *this; }
    exemplars_options &controls(std::uint32_t count) noexcept { return native_.controls = count, *this; }
    exemplars_options &no_ring() noexcept { return native_.flags |= PICOLLO_EXEMPLARS_NO_RING, *this; }
    exemplars_options &counters() noexcept { return native_.flags |= PICOLLO_EXEMPLARS_COUNTERS, *this; }
};

/** Has no context. */
struct no_context {
    void operator()() const noexcept {}
};

/** Measures the time from here to the end of the block, and records it. If it is slow, it is kept with its causes.
 * exemplars::scope makes it; it cannot be moved, and stays on one thread. */
template <class Lookup = no_context>
class exemplar_scope {
public:
    exemplar_scope(picollo_exemplars *owner, std::uint32_t label, Lookup lookup) noexcept(std::is_nothrow_move_constructible_v<Lookup>)
        : owner_(owner), lookup_(std::move(lookup))
    {
        picollo_exemplars_begin(owner_, &native_);
        native_.label = label;
    }
    exemplar_scope(const exemplar_scope &) = delete;
    exemplar_scope &operator=(const exemplar_scope &) = delete;
    ~exemplar_scope() { end(); }

    /** Records now instead of at the end of the block, and returns whether the observation is kept. A second call does nothing. */
    bool end() noexcept
    {
        if (ended_) return false;
        ended_ = true;
        if (picollo_exemplars_end(owner_, &native_) != PICOLLO_EXEMPLAR_KEPT) return false;
        if constexpr (!std::is_same_v<Lookup, no_context>) annotate(lookup_());
        return true;
    }

    /** Gives a kept observation its context. If a slower one has replaced it, nothing happens. */
    void annotate(const exemplar_context &context) noexcept
    {
        const picollo_exemplar_context native_context = context.native();
        static_cast<void>(picollo_exemplars_annotate(owner_, &native_, &native_context));
    }

    /** Records nothing. */
    void cancel() noexcept { ended_ = true; }
    /** Sets the kind of the observation. Each kind has its own usual values. */
    void label(std::uint32_t value) noexcept { native_.label = value; }
    /** Declares that others may run on this thread before it ends, as with coroutines. Then the thread provides no evidence. */
    void shares_thread() noexcept { native_.thread = nullptr; }

private:
    picollo_exemplars *owner_;
    Lookup lookup_;
    bool ended_ = false;
    picollo_exemplar_scope native_;
};

/** A time that may be unknown. */
using optional_nanos = std::optional<std::chrono::nanoseconds>;

/** An observation that was kept; see picollo_exemplar. Unknown numbers are empty. */
class exemplar {
public:
    explicit exemplar(const picollo_exemplar &native) noexcept : native_(native) {}

    std::uint64_t value() const noexcept { return native_.value; }
    picollo::cause cause() const noexcept { return static_cast<picollo::cause>(native_.cause); }
    bool is_slow() const noexcept { return native_.is_slow != 0; }
    std::chrono::system_clock::time_point began() const noexcept { return std::chrono::system_clock::time_point(std::chrono::duration_cast<std::chrono::system_clock::duration>(
            std::chrono::nanoseconds(static_cast<std::int64_t>(native_.unix_nanos)))); }
    std::uint32_t label() const noexcept { return native_.label; }
    std::int32_t thread() const noexcept { return native_.thread; }
    std::optional<std::uint32_t> cpu() const noexcept { return known(native_.cpu != PICOLLO_CPU_UNKNOWN, native_.cpu); }

    exemplar_context context() const noexcept { return exemplar_context(native_.context); }
    /** The trace as in W3C's traceparent, 32 hexadecimal digits; empty without a trace. Allocates. */
    std::string trace_id() const { return hex(native_.context.trace_id); }
    /** The span in it, 16 digits; empty without a span. */
    std::string span_id() const { return hex(native_.context.span_id); }

    optional_nanos excess() const noexcept
    {
        return nanos(cause() != picollo::cause::several && cause() != picollo::cause::not_known, native_.excess_nanos);
    }
    optional_nanos window() const noexcept { return nanos(knows(PICOLLO_KNOWN_ACCOUNTS), native_.window_nanos); }
    optional_nanos on_cpu() const noexcept { return nanos(knows(PICOLLO_KNOWN_ACCOUNTS), native_.cpu_nanos); }
    optional_nanos run_delay() const noexcept { return nanos(knows(PICOLLO_KNOWN_RUN_DELAY), native_.run_delay_nanos); }
    optional_nanos off_cpu() const noexcept { return nanos(knows(PICOLLO_KNOWN_RING), native_.off_nanos); }
    optional_nanos preempted() const noexcept { return nanos(knows(PICOLLO_KNOWN_RING), native_.preempted_nanos); }
    optional_nanos page_faults() const noexcept { return nanos(knows(PICOLLO_KNOWN_FAULT_TIMES), native_.fault_nanos); }
    std::optional<std::uint64_t> instructions() const noexcept { return executed(native_.instructions); }
    std::optional<std::uint64_t> cycles() const noexcept { return executed(native_.cycles); }
    std::optional<double> usual_ipc() const noexcept { return known(native_.usual_ipc != 0, native_.usual_ipc); }
    std::optional<std::uint32_t> voluntary_switches() const noexcept { return counted(native_.voluntary); }
    std::optional<std::uint32_t> involuntary_switches() const noexcept { return counted(native_.involuntary); }
    std::optional<std::uint32_t> minor_faults() const noexcept { return counted(native_.minor_faults); }
    std::optional<std::uint32_t> major_faults() const noexcept { return counted(native_.major_faults); }

    /** All fields, with the bits that show which ones are known. */
    const picollo_exemplar &native() const noexcept { return native_; }

private:
    bool knows(std::uint32_t what) const noexcept { return (native_.known & what) != 0; }
    std::optional<std::uint32_t> counted(std::uint32_t count) const noexcept { return known(knows(PICOLLO_KNOWN_ACCOUNTS), count); }
    std::optional<std::uint64_t> executed(std::uint64_t count) const noexcept { return known(knows(PICOLLO_KNOWN_COUNTERS), count); }

    template <class T>
    static std::optional<T> known(bool is_known, T what) noexcept
    {
        if (!is_known) return std::nullopt;
        return what;
    }
    static optional_nanos nanos(bool is_known, std::uint64_t time) noexcept
    {
        return known(is_known, std::chrono::nanoseconds(static_cast<std::int64_t>(time)));
    }

    template <std::size_t N>
    static std::string hex(const std::uint8_t (&bytes)[N])
    {
        std::string digits;
        if (std::all_of(bytes, bytes + N, [](std::uint8_t byte) { return byte == 0; })) return digits;
        for (const std::uint8_t byte : bytes) {
            digits += "0123456789abcdef"[byte / 16];
            digits += "0123456789abcdef"[byte % 16];
        }
        return digits;
    }

    picollo_exemplar native_;
};

/** Keeps the slowest observations of a histogram, with links to their requests, and explains why they were slow. It holds a
 * reference to the histogram. Any thread may call. Results belong to the interval that was collected last. Linux only.
 *
 *     picollo::exemplars slow(latency);
 *     {
 *         auto timing = slow.scope();          // records into the histogram, in nanoseconds
 *         handle(request);
 *     }
 *     slow.collect();
 *     std::cout << slow.text();                // why those above P99 were slow, and the slowest with their traces
 */
class exemplars : public detail::handle<picollo_exemplars, picollo_exemplars_free> {
public:
    using handle::handle;

    static outcome<exemplars> create(const histogram &of, const exemplars_options &how = exemplars_options())
    {
        return detail::made_or_explained<exemplars>(picollo_exemplars_create, of.native(), &how.native());
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    explicit exemplars(const histogram &of, const exemplars_options &how = exemplars_options()) : exemplars(create(of, how)) {}
#endif

    /** Measures from here to the end of the block. The label distinguishes up to 16 kinds of observations, because each may
     * have other usual values. The collector must outlive the scope. */
    exemplar_scope<> scope(std::uint32_t label = 0) noexcept { return exemplar_scope<>(native(), label, no_context()); }
    /** The same. If the observation is kept, its context is computed at the end: `slow.scope([&] { return context_of(request);
     * })`. The function must not throw. */
    template <class Lookup, class = std::enable_if_t<std::is_invocable_r_v<exemplar_context, Lookup &>>>
    exemplar_scope<Lookup> scope(Lookup lookup, std::uint32_t label = 0)
    {
        return exemplar_scope<Lookup>(native(), label, std::move(lookup));
    }

    /** Records a value that was timed elsewhere, and returns whether it is kept. It has no evidence about its thread. */
    bool offer(std::uint64_t value) noexcept { return picollo_exemplars_offer(native(), value, nullptr) == PICOLLO_EXEMPLAR_KEPT; }
    bool offer(std::uint64_t value, const exemplar_context &context) noexcept
    {
        const picollo_exemplar_context native_context = context.native();
        return picollo_exemplars_offer(native(), value, &native_context) == PICOLLO_EXEMPLAR_KEPT;
    }

    outcome<void> prepare_thread() { return detail::done_or_explained(picollo_exemplars_prepare_thread, native()); }

    outcome<void> collect() { return detail::done_or_explained(picollo_exemplars_collect, native()); }

    outcome<picollo_exemplar_interval> interval() const
    {
        return detail::answer<picollo_exemplar_interval>(picollo_exemplars_interval, native());
    }

    outcome<picollo_exemplar_share> share(cause of) const
    {
        return detail::answer<picollo_exemplar_share>(picollo_exemplars_share, native(), static_cast<std::uint32_t>(of));
    }

    /** The observations that were kept: the slowest first, then the latest of each octave of values. Allocates. */
    outcome<std::vector<exemplar>> kept() const
    {
        std::vector<exemplar> found;
        picollo_exemplar one = {};
        picollo_status code;
        while ((code = picollo_exemplars_get(native(), found.size(), &one)) == PICOLLO_OK) found.emplace_back(one);
        if (code != PICOLLO_END) return detail::fail<std::vector<exemplar>>(code);
        return found;
    }

    outcome<std::string> text() const { return format(PICOLLO_TEXT_HUMAN); }
    outcome<std::string> markdown() const { return format(PICOLLO_TEXT_MARKDOWN); }
    outcome<std::string> html() const { return format(PICOLLO_TEXT_HTML); }
    outcome<std::string> json() const { return format(PICOLLO_TEXT_JSON); }

    /** Replaces the exemplars of a registry's histogram by what was kept, with traces and causes. */
    outcome<void> publish(registry &where, std::uint64_t id) const
    {
        return detail::done_or_explained(picollo_exemplars_publish, native(), where.native(), id);
    }

private:
    outcome<std::string> format(std::uint32_t form) const
    {
        return detail::written(picollo_exemplars_format, native(), form);
    }
};

} } // namespace picollo

#endif /* PICOLLO_EXEMPLARS_HPP */
