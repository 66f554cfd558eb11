/* Which observations of a histogram were slow, and why, in C++17. Include picollo.hpp. */
#ifndef PICOLLO_EXEMPLARS_HPP
#define PICOLLO_EXEMPLARS_HPP

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
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
    return picollo_cause_str(static_cast<std::uint32_t>(what));
}

/** What leads from an observation to its request. */
struct exemplar_context {
    /** The trace that it belongs to and the span in it, as in W3C's traceparent; zeroes are none. */
    std::array<std::uint8_t, 16> trace_id = {};
    std::array<std::uint8_t, 8> span_id = {};
    /** What the program likes, such as a request's number. */
    std::array<std::uint64_t, 2> words = {};

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

    /** From where on causes are told, in units as recorded; unless set P99 of the interval before, and in the first interval only those
     * that are kept. */
    exemplars_options &threshold(std::uint64_t value) noexcept { return native_.threshold = value, *this; }
    /** How many of the slowest are kept in an interval, 16 unless set. Beside them is the latest of each octave of values. */
    exemplars_options &slowest(std::uint32_t count) noexcept { return native_.slowest = count, *this; }
    /** For how many threads the kernel's account of waiting is kept open, 64 unless set; other threads' waiting is not split. */
    exemplars_options &threads(std::uint32_t count) noexcept { return native_.threads = count, *this; }
    /** For how many threads the kernel's records of switches are kept, where it permits that; 64 unless set. */
    exemplars_options &rings(std::uint32_t count) noexcept { return native_.rings = count, *this; }
    /** None of these records. */
    exemplars_options &no_rings() noexcept { return native_.flags |= PICOLLO_EXEMPLARS_NO_RING, *this; }
    /** How many slow observations a second and thread are looked into, 1,000 unless set; more are counted, and the slowest is never
     * lost. */
    exemplars_options &rate(std::uint32_t count) noexcept { return native_.rate = count, *this; }
    /** How many ordinary observations a second are looked into as well, to know what is usual; 20 unless set. */
    exemplars_options &controls(std::uint32_t count) noexcept { return native_.controls = count, *this; }

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
    /** That others may run on this thread before it ends, as with coroutines: no evidence is taken of the thread then. */
    void leaves_thread() noexcept { native_.flags |= PICOLLO_EXEMPLAR_SCOPE_NO_THREAD; }

private:
    picollo_exemplars *owner_;
    Lookup lookup_;
    bool ended_ = false;
    picollo_exemplar_scope native_;
};

/** An observation that was kept. What is not known is not there. */
class exemplar {
public:
    explicit exemplar(const picollo_exemplar &native) noexcept : native_(native) {}

    /** As recorded. */
    std::uint64_t value() const noexcept { return native_.value; }
    /** Why it was slow. */
    picollo::cause cause() const noexcept { return static_cast<picollo::cause>(native_.cause); }
    /** When it began. */
    std::chrono::system_clock::time_point began() const noexcept
    {
        const std::chrono::nanoseconds since(static_cast<std::int64_t>(native_.unix_nanos));
        return std::chrono::system_clock::time_point(std::chrono::duration_cast<std::chrono::system_clock::duration>(since));
    }
    std::uint32_t label() const noexcept { return native_.label; }
    exemplar_context context() const noexcept
    {
        exemplar_context found;
        std::copy(std::begin(native_.trace_id), std::end(native_.trace_id), found.trace_id.begin());
        std::copy(std::begin(native_.span_id), std::end(native_.span_id), found.span_id.begin());
        std::copy(std::begin(native_.words), std::end(native_.words), found.words.begin());
        return found;
    }
    /** The trace as W3C's traceparent has it, 32 hexadecimal digits; empty where there is none. Allocates. */
    std::string trace_id() const { return hex(native_.trace_id); }
    /** The span in it, 16 digits; empty where there is none. */
    std::string span_id() const { return hex(native_.span_id); }

    /** Everything, with what is known of it. */
    const picollo_exemplar &native() const noexcept { return native_; }

private:
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
