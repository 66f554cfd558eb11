/* Buckets, percentiles, summaries and their text in C++17. Include picollo.hpp. */
#ifndef PICOLLO_SUMMARY_HPP
#define PICOLLO_SUMMARY_HPP

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ostream>

#include "picollo_result.hpp"

PICOLLO_NAMESPACE {

/** Which value stands for all values of a bucket. */
enum class value_selection : std::uint32_t { midpoint = PICOLLO_VALUE_MIDPOINT, lower = PICOLLO_VALUE_LOWER, upper = PICOLLO_VALUE_UPPER };

/** The formats of text. */
enum class format : std::uint32_t {
    markdown = PICOLLO_TEXT_MARKDOWN,
    line = PICOLLO_TEXT_LINE,
    json = PICOLLO_TEXT_JSON,
    /** For people: short, with units; see print. */
    human = PICOLLO_TEXT_HUMAN
};

/** A title followed by a unit, as text for people expects it: `Latency (ns)`. */
inline std::string titled(const std::string &title, const std::string &unit)
{
    return unit.empty() ? title : title + " (" + unit + ")";
}

/** A run of values that share one count: lower to upper, both included. */
struct bucket : picollo_bucket {};

/** The smallest value that at least `rank` per cent of all recorded values do not exceed, with its bucket. */
struct percentile : picollo_percentile {};

namespace detail {
/** Writes the text of a call to a stream, or sets its failbit. Allocates. */
template <class... Parameters, class... Arguments>
inline std::ostream &print(std::ostream &out, picollo_status (*call)(Parameters...), Arguments... arguments)
{
    std::size_t length = 0;
    picollo_status code = call(arguments..., nullptr, 0, &length);
    std::string text(length + 1, '\0');
    if (code == PICOLLO_ERR_BUFFER_TOO_SMALL) code = call(arguments..., &text[0], text.size(), &length);
    if (code != PICOLLO_OK) out.setstate(std::ios_base::failbit);
    return out.write(text.data(), static_cast<std::streamsize>(length));
}
} // namespace detail

/** `P99=9,152 [138 / 519]: [9,088, 9,216) 386`: rank and value, and the bucket; of nothing, `P99=n/a`. */
inline std::ostream &operator<<(std::ostream &out, const percentile &p)
{
    return detail::print(out, picollo_percentile_format, &p);
}

/** `[138 / 519]: [9,088, 9,216) 386`: storage and logical index, half-open range, count. */
inline std::ostream &operator<<(std::ostream &out, const bucket &b)
{
    percentile whole = {};
    whole.target_count = 1;
    whole.bucket = b;
    char text[192] = {};
    std::size_t length = 0;
    if (picollo_percentile_format(&whole, text, sizeof text, &length) != PICOLLO_OK) out.setstate(std::ios_base::failbit);
    const char *space = std::strchr(text, ' ');
    return out << (space != nullptr ? space + 1 : text);
}

namespace detail {
constexpr double default_ranks[] = PICOLLO_DEFAULT_RANKS;

/** The position of a rank among the default ones. Others do not compile in a constant, and are out of range elsewhere. */
constexpr std::size_t rank_index(double rank)
{
    std::size_t at = 0;
    while (default_ranks[at] < rank) at++;
    return at;
}

template <class Percentile>
using default_percentiles = std::array<Percentile, PICOLLO_DEFAULT_RANKS_LENGTH>;
} // namespace detail

/** Totals, mean, deviation and the usual percentiles of one moment: a plain value. */
class summary {
public:
    summary() noexcept : native_(), percentiles_()
    {
        native_.mean = native_.stddev = std::nan("");
        for (std::size_t i = 0; i < percentiles_.size(); i++) percentiles_[i].rank = detail::default_ranks[i];
    }
    /** Copies the percentiles, which are those at PICOLLO_DEFAULT_RANKS. */
    summary(const picollo_summary &native, const detail::default_percentiles<picollo_percentile> &percentiles) noexcept
        : native_(native), percentiles_(percentiles) {}

    std::uint64_t total_count() const noexcept { return native_.total_count; }
    std::uint64_t underflow_count() const noexcept { return native_.underflow_count; }
    std::uint64_t overflow_count() const noexcept { return native_.overflow_count; }
    std::uint64_t lost_count() const noexcept { return native_.lost_count; }
    /** NaN when empty, and so is the deviation. */
    double mean() const noexcept { return native_.mean; }
    double stddev() const noexcept { return native_.stddev; }
    double relative_error() const noexcept { return native_.relative_error; }
    std::uint64_t min_trackable() const noexcept { return native_.min_trackable; }
    std::uint64_t max_trackable() const noexcept { return native_.max_trackable; }
    std::chrono::system_clock::time_point time() const noexcept
    {
        const std::chrono::nanoseconds since_epoch(native_.timestamp_unix_nanos);
        return std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(since_epoch));
    }

    percentile p0() const noexcept { return percentile{percentiles_[detail::rank_index(0)]}; }
    percentile p1() const noexcept { return percentile{percentiles_[detail::rank_index(1)]}; }
    percentile p5() const noexcept { return percentile{percentiles_[detail::rank_index(5)]}; }
    percentile p10() const noexcept { return percentile{percentiles_[detail::rank_index(10)]}; }
    percentile p25() const noexcept { return percentile{percentiles_[detail::rank_index(25)]}; }
    percentile p50() const noexcept { return percentile{percentiles_[detail::rank_index(50)]}; }
    percentile p75() const noexcept { return percentile{percentiles_[detail::rank_index(75)]}; }
    percentile p90() const noexcept { return percentile{percentiles_[detail::rank_index(90)]}; }
    percentile p92_5() const noexcept { return percentile{percentiles_[detail::rank_index(92.5)]}; }
    percentile p95() const noexcept { return percentile{percentiles_[detail::rank_index(95)]}; }
    percentile p97_5() const noexcept { return percentile{percentiles_[detail::rank_index(97.5)]}; }
    percentile p99() const noexcept { return percentile{percentiles_[detail::rank_index(99)]}; }
    percentile p99_9() const noexcept { return percentile{percentiles_[detail::rank_index(99.9)]}; }
    percentile p99_99() const noexcept { return percentile{percentiles_[detail::rank_index(99.99)]}; }
    percentile p99_999() const noexcept { return percentile{percentiles_[detail::rank_index(99.999)]}; }
    percentile p100() const noexcept { return percentile{percentiles_[detail::rank_index(100)]}; }
    /** Those at PICOLLO_DEFAULT_RANKS, ascending. */
    const detail::default_percentiles<picollo_percentile> &percentiles() const noexcept { return percentiles_; }

    /** As text. `title` is UTF-8. */
    outcome<std::string> text(const char *title, format how) const
    {
        const picollo_summary all = native();
        return detail::written(picollo_summary_format, &all, title, static_cast<std::uint32_t>(how));
    }
    /** A Markdown table. */
    outcome<std::string> table(const char *title = "") const { return text(title, format::markdown); }
    /** For people, in a unit such as `ns`. Writes to `out`, with a line break at the end. */
    void print(std::ostream &out, const std::string &title = "", const std::string &unit = "") const
    {
        const picollo_summary all = native();
        detail::print(out, picollo_summary_format, &all, titled(title, unit).c_str(), std::uint32_t{PICOLLO_TEXT_HUMAN}) << '\n';
    }

    /** How `after` differs from this summary, as text. */
    outcome<std::string> diff(const summary &after, const char *title = "", const char *this_name = "Before",
                              const char *after_name = "After", format how = format::markdown) const
    {
        const picollo_summary before = native(), later = after.native();
        return detail::written(picollo_summary_format_diff, &before, &later, title, this_name, after_name,
                               static_cast<std::uint32_t>(how));
    }

    /** Refers to the percentiles of this object. */
    picollo_summary native() const noexcept
    {
        picollo_summary all = native_;
        all.percentiles = percentiles_.data();
        all.percentiles_length = percentiles_.size();
        return all;
    }

private:
    picollo_summary native_;
    detail::default_percentiles<picollo_percentile> percentiles_;
};

namespace detail {
/** Returns the summary that a call fills in, with the percentiles at PICOLLO_DEFAULT_RANKS. */
template <class Handle>
inline outcome<summary> summarized(picollo_status (*call)(const Handle *, std::uint32_t, const double *, std::size_t,
                                                          picollo_percentile *, picollo_summary *),
                                   const Handle *handle, std::uint32_t which)
{
    default_percentiles<picollo_percentile> percentiles = {};
    picollo_summary found = {};
    const picollo_status code = call(handle, which, default_ranks, percentiles.size(), percentiles.data(), &found);
    return filled(code, summary(found, percentiles));
}
} // namespace detail

/** The summary for people, without title and unit: a few lines, without a line break at the end. */
inline std::ostream &operator<<(std::ostream &out, const summary &value)
{
    const picollo_summary all = value.native();
    return detail::print(out, picollo_summary_format, &all, "", std::uint32_t{PICOLLO_TEXT_HUMAN});
}

} } // namespace picollo

#endif /* PICOLLO_SUMMARY_HPP */
