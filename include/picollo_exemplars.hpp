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

PICOLLO_NAMESPACE {

/** Where the time went that a slow observation took more than is usual. */
enum class cause : std::uint32_t {
    /** Off the CPU, by a call of its own. */
    own_waiting = PICOLLO_CAUSE_OWN_WAITING,
    /** Ready, and not running: preempted, or woken late. */
    run_queue = PICOLLO_CAUSE_RUN_QUEUE,
    /** The same, and the group of processes was also held back by its quota of CPU time. */
    run_queue_or_quota = PICOLLO_CAUSE_RUN_QUEUE_OR_QUOTA,
    /** Held back by the quota. */
    throttled = PICOLLO_CAUSE_THROTTLED,
    /** Off the CPU, and no more is known than that. */
    off_cpu = PICOLLO_CAUSE_OFF_CPU,
    /** The kernel's handling of pages that were not there. */
    page_faults = PICOLLO_CAUSE_PAGE_FAULTS,
    /** More work than usual. */
    more_instructions = PICOLLO_CAUSE_MORE_INSTRUCTIONS,
    /** The same work, slower. */
    slower_instructions = PICOLLO_CAUSE_SLOWER_INSTRUCTIONS,
    /** On the CPU, and no more is known than that. */
    on_cpu = PICOLLO_CAUSE_ON_CPU,
    /** What is left of the time. */
    unexplained = PICOLLO_CAUSE_UNEXPLAINED,
    /** None has more than half. */
    several = PICOLLO_CAUSE_SEVERAL,
    /** There is no evidence, or nothing usual to compare it with. */
    not_known = PICOLLO_CAUSE_NOT_KNOWN
};

/** As the table calls it. */
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

/** What leads from an observation to its request. */
struct exemplar_context {
    /** The trace that it belongs to and the span in it, as in W3C's traceparent; zeroes are none. */
    std::array<std::uint8_t, 16> trace_id = {};
    std::array<std::uint8_t, 8> span_id = {};
    /** What the program likes, such as a request's number. */
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

/** How exemplars are kept. */
class exemplars_options {
public:
    exemplars_options() noexcept : native_() { native_.struct_size = sizeof native_; }

    /** Above it an observation is slow, as recorded; unless set P99 of the interval before, and in the first interval the slowest. */
    exemplars_options &threshold(std::uint64_t value) noexcept { return native_.threshold = value, *this; }
    /** The same in nanoseconds, which is what scopes record. */
    template <class Rep, class Period>
    exemplars_options &threshold(std::chrono::duration<Rep, Period> time) noexcept
    {
        return threshold(count_of<std::chrono::nanoseconds>(time));
    }
    /** How many of the slowest are kept in an interval, up to 65,536; 16 unless set. Beside them is the latest of each octave of values. */
    exemplars_options &slowest(std::uint32_t count) noexcept
    {
        native_.flags = count == 0 ? native_.flags | PICOLLO_EXEMPLARS_NO_SLOWEST : native_.flags & ~std::uint32_t(PICOLLO_EXEMPLARS_NO_SLOWEST);
        return native_.slowest = count, *this;
    }
    /** For how many threads of the process the kernel's account of the run queue is kept open, 64 unless set; the waiting of others is
     * not split. */
    exemplars_options &threads(std::uint32_t count) noexcept { return native_.threads = count, *this; }
    /** How many slow observations a thread looks into in a second, 1,000 unless set; more are counted, and the slowest is never lost. */
    exemplars_options &rate(std::uint32_t count) noexcept { return native_.rate = count, *this; }
    /** How many ordinary observations are looked into in a second, to know what is usual; 20 unless set. */
    exemplars_options &controls(std::uint32_t count) noexcept { return native_.controls = count, *this; }
    /** Without the kernel's records of context switches and page faults, which make some times more precise. */
    exemplars_options &no_ring() noexcept { return native_.flags |= PICOLLO_EXEMPLARS_NO_RING, *this; }

    const picollo_exemplars_options &native() const noexcept { return native_; }

private:
    picollo_exemplars_options native_;
};

/** Has no context. */
struct no_context {
    void operator()() const noexcept {}
};

/** Measures the time from here to the end of the block, records it, and keeps it with its causes where it is slow. Made by
 * exemplars::scope; it stays where it was made, on one thread. */
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

    /** Records now rather than at the end of the block, and tells whether the observation is kept. A second time does nothing. */
    bool end() noexcept
    {
        if (ended_) return false;
        ended_ = true;
        if (picollo_exemplars_end(owner_, &native_) != PICOLLO_EXEMPLAR_KEPT) return false;
        if constexpr (!std::is_same_v<Lookup, no_context>) annotate(lookup_());
        return true;
    }

    /** Gives a kept observation its context. Where a slower one has taken its place meanwhile, nothing happens. */
    void annotate(const exemplar_context &context) noexcept
    {
        const picollo_exemplar_context native_context = context.native();
        static_cast<void>(picollo_exemplars_annotate(owner_, &native_, &native_context));
    }

    /** Records nothing. */
    void cancel() noexcept { ended_ = true; }
    /** Which kind of observation it is: what is usual is known by kind. */
    void label(std::uint32_t value) noexcept { native_.label = value; }
    /** That others may run on this thread before it ends, as with coroutines: then nothing is taken of the thread. */
    void shares_thread() noexcept { native_.thread = nullptr; }

private:
    picollo_exemplars *owner_;
    Lookup lookup_;
    bool ended_ = false;
    picollo_exemplar_scope native_;
};

/** A time that may not be known. */
using optional_nanos = std::optional<std::chrono::nanoseconds>;

/** An observation that was kept. What is not known is not there. */
class exemplar {
public:
    explicit exemplar(const picollo_exemplar &native) noexcept : native_(native) {}

    /** As recorded. */
    std::uint64_t value() const noexcept { return native_.value; }
    /** Why it was slow, or took what it took. */
    picollo::cause cause() const noexcept { return static_cast<picollo::cause>(native_.cause); }
    /** Whether it is above the threshold of its interval. */
    bool is_slow() const noexcept { return native_.is_slow != 0; }
    /** When it began. */
    std::chrono::system_clock::time_point began() const noexcept { return std::chrono::system_clock::time_point(std::chrono::duration_cast<std::chrono::system_clock::duration>(
            std::chrono::nanoseconds(static_cast<std::int64_t>(native_.unix_nanos)))); }
    /** Of which kind it is. */
    std::uint32_t label() const noexcept { return native_.label; }
    /** The kernel's id of the thread that it ended on. */
    std::int32_t thread() const noexcept { return native_.thread; }
    /** The CPU that it ended on. */
    std::optional<std::uint32_t> cpu() const noexcept { return known(native_.cpu != PICOLLO_CPU_UNKNOWN, native_.cpu); }

    exemplar_context context() const noexcept { return exemplar_context(native_.context); }
    /** The trace as W3C's traceparent has it, 32 hexadecimal digits; empty where there is none. Allocates. */
    std::string trace_id() const { return hex(native_.context.trace_id); }
    /** The span in it, 16 digits; empty where there is none. */
    std::string span_id() const { return hex(native_.context.span_id); }

    /** What of its length is in excess of what is usual, for its cause. */
    optional_nanos excess() const noexcept
    {
        return nanos(cause() != picollo::cause::several && cause() != picollo::cause::not_known, native_.excess_nanos);
    }
    /** How long the window is that what follows is of: it ends with the observation, and begins up to 300 microseconds before it, or further where that holds many others. */
    optional_nanos window() const noexcept { return nanos(knows(PICOLLO_KNOWN_ACCOUNTS), native_.window_nanos); }
    /** How long the thread ran in it. */
    optional_nanos on_cpu() const noexcept { return nanos(knows(PICOLLO_KNOWN_ACCOUNTS), native_.cpu_nanos); }
    /** How long it was ready and did not run. */
    optional_nanos run_delay() const noexcept { return nanos(knows(PICOLLO_KNOWN_RUN_DELAY), native_.run_delay_nanos); }
    /** How long it was off the CPU, and what of that although it did not wait for anything. */
    optional_nanos off_cpu() const noexcept { return nanos(knows(PICOLLO_KNOWN_RING), native_.off_nanos); }
    optional_nanos preempted() const noexcept { return nanos(knows(PICOLLO_KNOWN_RING), native_.preempted_nanos); }
    /** How long handling page faults took. */
    optional_nanos page_faults() const noexcept { return nanos(knows(PICOLLO_KNOWN_FAULT_TIMES), native_.fault_nanos); }
    /** How often the thread gave the CPU up, to wait, and how often it was taken off. */
    std::optional<std::uint32_t> voluntary_switches() const noexcept { return counted(native_.voluntary); }
    std::optional<std::uint32_t> involuntary_switches() const noexcept { return counted(native_.involuntary); }
    /** Page faults without reading from a disk, and with. */
    std::optional<std::uint32_t> minor_faults() const noexcept { return counted(native_.minor_faults); }
    std::optional<std::uint32_t> major_faults() const noexcept { return counted(native_.major_faults); }

    /** Everything, with the bits of what is known. */
    const picollo_exemplar &native() const noexcept { return native_; }

private:
    bool knows(std::uint32_t what) const noexcept { return (native_.known & what) != 0; }
    std::optional<std::uint32_t> counted(std::uint32_t count) const noexcept { return known(knows(PICOLLO_KNOWN_ACCOUNTS), count); }

    static std::optional<std::uint32_t> known(bool is_known, std::uint32_t number) noexcept
    {
        if (!is_known) return std::nullopt;
        return number;
    }
    static optional_nanos nanos(bool is_known, std::uint64_t time) noexcept
    {
        if (!is_known) return std::nullopt;
        return std::chrono::nanoseconds(static_cast<std::int64_t>(time));
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

/** Keeps the slowest observations of a histogram, with what leads to their requests, and tells why they were slow. It holds the histogram.
 * Any thread may call; what tells of an interval tells of the one that was collected last. Linux.
 *
 *     picollo::exemplars slow(latency);
 *     {
 *         auto timing = slow.scope();          // records into the histogram, in nanoseconds
 *         handle(request);
 *     }
 *     slow.collect();
 *     std::cout << slow.text();                // why those above P99 were slow, and the slowest with their traces
 */
class exemplars {
public:
    /** Takes over a reference. */
    explicit exemplars(picollo_exemplars *owned) noexcept : handle_(owned) {}

    static outcome<exemplars> create(const histogram &of, const exemplars_options &how = exemplars_options())
    {
        picollo_exemplars *made = nullptr;
        picollo_error why = {};
        const picollo_status code = picollo_exemplars_create(of.native(), &how.native(), &made, &why);
        if (code != PICOLLO_OK) return detail::fail<exemplars>(code, &why);
        return exemplars(made);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    explicit exemplars(const histogram &of, const exemplars_options &how = exemplars_options()) : exemplars(create(of, how)) {}
#endif

    /** Measures from here to the end of the block. The label tells kinds of observations apart, up to 16, as what is usual of one may not
     * be of another. The collector outlives the scope. */
    exemplar_scope<> scope(std::uint32_t label = 0) noexcept { return exemplar_scope<>(native(), label, no_context()); }
    /** The same; where the observation is kept, its context is looked up at the end: `slow.scope([&] { return context_of(request); })`.
     * That has to throw nothing. */
    template <class Lookup, class = std::enable_if_t<std::is_invocable_r_v<exemplar_context, Lookup &>>>
    exemplar_scope<Lookup> scope(Lookup lookup, std::uint32_t label = 0)
    {
        return exemplar_scope<Lookup>(native(), label, std::move(lookup));
    }

    /** Records a value that was timed elsewhere; tells whether it is kept. Nothing is known then of where its time went. */
    bool offer(std::uint64_t value) noexcept { return picollo_exemplars_offer(native(), value, nullptr) == PICOLLO_EXEMPLAR_KEPT; }
    bool offer(std::uint64_t value, const exemplar_context &context) noexcept
    {
        const picollo_exemplar_context native_context = context.native();
        return picollo_exemplars_offer(native(), value, &native_context) == PICOLLO_EXEMPLAR_KEPT;
    }

    /** Opens the kernel's account of the calling thread now, rather than at its first slow observation. */
    outcome<void> prepare_thread()
    {
        picollo_error why = {};
        const picollo_status code = picollo_exemplars_prepare_thread(native(), &why);
        return detail::done(code, &why);
    }

    /** Ends the interval, and begins the next one. */
    outcome<void> collect()
    {
        picollo_error why = {};
        const picollo_status code = picollo_exemplars_collect(native(), &why);
        return detail::done(code, &why);
    }

    /** What was counted. A threshold of 0 was not known: then the slowest are slow. */
    outcome<picollo_exemplar_interval> interval() const
    {
        picollo_exemplar_interval told = {};
        const picollo_status code = picollo_exemplars_interval(native(), &told);
        return detail::filled(code, told);
    }

    /** What a cause has of the excess. */
    outcome<picollo_exemplar_share> share(cause of) const
    {
        picollo_exemplar_share told = {};
        const picollo_status code = picollo_exemplars_share(native(), static_cast<std::uint32_t>(of), &told);
        return detail::filled(code, told);
    }

    /** What was kept: the slowest first, then the latest of each octave of values. Allocates. */
    outcome<std::vector<exemplar>> kept() const
    {
        std::vector<exemplar> found;
        picollo_exemplar one = {};
        picollo_status code;
        while ((code = picollo_exemplars_get(native(), found.size(), &one)) == PICOLLO_OK) found.emplace_back(one);
        if (code != PICOLLO_END) return detail::fail<std::vector<exemplar>>(code);
        return found;
    }

    /** For people: the answer, the causes, and the slowest with what leads to their requests. Allocates. */
    outcome<std::string> text() const { return format(PICOLLO_TEXT_HUMAN); }
    /** For reports: the same in tables, as Markdown. Allocates. */
    outcome<std::string> markdown() const { return format(PICOLLO_TEXT_MARKDOWN); }
    /** For programs: all of it, exactly. Allocates. */
    outcome<std::string> json() const { return format(PICOLLO_TEXT_JSON); }

    /** Has what was kept written with a histogram of a registry from now on, with its traces and causes. */
    outcome<void> publish(registry &where, std::uint64_t id) const
    {
        return detail::done(picollo_exemplars_publish(native(), where.native(), id));
    }

    picollo_exemplars *native() const noexcept { return handle_.get(); }

private:
    outcome<std::string> format(std::uint32_t form) const
    {
        return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return picollo_exemplars_format(native(), form, buffer, capacity, length);
        });
    }

    detail::handle<picollo_exemplars, picollo_exemplars_free> handle_;
};

} } // namespace picollo

#endif /* PICOLLO_EXEMPLARS_HPP */
