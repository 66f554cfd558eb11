/* Comparing snapshots in C++17: is B really faster than A, and by how much? Include picollo.hpp. */
#ifndef PICOLLO_COMPARE_HPP
#define PICOLLO_COMPARE_HPP

#include "picollo_result.hpp"
#include "picollo_snapshot.hpp"
#include "picollo_summary.hpp"

PICOLLO_NAMESPACE {

/** What a comparison amounts to: faster means that the newer values are smaller, by more than the margin. */
enum class verdict : std::uint32_t {
    no_evidence = PICOLLO_VERDICT_NO_EVIDENCE,
    faster = PICOLLO_VERDICT_FASTER,
    slower = PICOLLO_VERDICT_SLOWER
};

/** What to compare and what counts. */
class compare_options {
public:
    compare_options() noexcept : native_() { native_.struct_size = sizeof native_; }

    /** Which quantile, between 0 and 1; the median unless set. */
    compare_options &quantile(double value) noexcept { return native_.quantile = value, *this; }
    /** Of the intervals; 0.95 unless set. */
    compare_options &confidence(double value) noexcept { return native_.confidence = value, *this; }
    /** Differences up to this share of the older quantile do not matter; 0.01 unless set; negative: no such threshold. */
    compare_options &relative_threshold(double value) noexcept { return native_.relative_threshold = value, *this; }
    /** Differences up to this do not matter, in units of the values. */
    compare_options &absolute_threshold(double value) noexcept { return native_.absolute_threshold = value, *this; }
    /** How often the smallest detectable difference would be seen; 0.8 unless set. */
    compare_options &power(double value) noexcept { return native_.power = value, *this; }

    const picollo_compare_options &native() const noexcept { return native_; }

private:
    picollo_compare_options native_;
};

/** How one snapshot differs from an older one: a plain value. All numbers are those of picollo_comparison. */
class comparison : public picollo_comparison {
public:
    comparison(const picollo_comparison &native, const summary &before, const summary &after) noexcept
        : picollo_comparison(native), before_(before), after_(after)
    {
    }

    picollo::verdict verdict() const noexcept { return static_cast<picollo::verdict>(picollo_comparison::verdict); }
    /** One of PICOLLO_COMPARISON_.... */
    bool has(std::uint32_t flag) const noexcept { return (flags & flag) != 0; }
    const summary &before() const noexcept { return before_; }
    const summary &after() const noexcept { return after_; }

    /** What changed, with intervals, effects and the verdict, as text. Allocates. */
    outcome<std::string> text(const char *title = "", const char *before_name = "Before", const char *after_name = "After",
                              format how = format::markdown) const
    {
        return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return picollo_comparison_format(this, &before_.native(), &after_.native(), title, before_name, after_name,
                                             static_cast<std::uint32_t>(how), buffer, capacity, length);
        });
    }

private:
    summary before_, after_;
};

/** Compares `before`, the older, with `after`, the newer. Their layouts may differ. */
inline outcome<comparison> compare(const snapshot &before, const snapshot &after, const compare_options &how = compare_options())
{
    picollo_comparison found = {};
    picollo_summary a = {}, b = {};
    picollo_status code = picollo_compare(before.native(), after.native(), &how.native(), &found);
    if (code == PICOLLO_OK) code = picollo_snapshot_summary(before.native(), PICOLLO_VALUE_MIDPOINT, &a);
    if (code == PICOLLO_OK) code = picollo_snapshot_summary(after.native(), PICOLLO_VALUE_MIDPOINT, &b);
    return detail::filled(code, comparison(found, summary(a), summary(b)));
}

/** Compares two series, before[i] measured next to after[i], by the differences within pairs. */
inline outcome<picollo_block_comparison> compare_blocks(span<const double> before, span<const double> after,
                                                        const compare_options &how = compare_options())
{
    picollo_block_comparison found = {};
    picollo_status code = PICOLLO_ERR_INVALID_ARGUMENT;
    if (before.size() == after.size()) {
        code = picollo_compare_blocks(before.data(), after.data(), before.size(), &how.native(), &found);
    }
    return detail::filled(code, found);
}

namespace detail {
/** How many names there are in a text, with spaces between them. */
inline std::size_t names_in(const char *events) noexcept
{
    std::size_t names = 0;
    bool is_name = false;
    for (const char *at = events; at != nullptr && *at != 0; ++at) {
        const bool is_space = *at == ' ' || (*at >= '\t' && *at <= '\r');
        if (!is_space && !is_name) ++names;
        is_name = !is_space;
    }
    return names;
}
}

/**
 * Estimates a figure of many scopes: a formula of the sums of events, or a built-in figure as "ipc". `values` has a row for each scope and a
 * column for each of `events`, which are names with a space between each two; NaN where one was not counted.
 */
inline outcome<picollo_figure_estimate> figure(const char *formula, const char *events, span<const double> values, std::size_t scopes,
                                               double confidence = 0.95)
{
    picollo_figure_estimate found = {};
    const std::size_t columns = detail::names_in(events);
    picollo_status code = PICOLLO_ERR_INVALID_ARGUMENT;
    if (columns > 0 && values.size() % columns == 0 && values.size() / columns == scopes) {
        code = picollo_figure_compute(formula, events, values.data(), scopes, confidence, &found, nullptr);
    }
    return detail::filled(code, found);
}

/** A figure of the slowest scopes, and of all others. */
struct figure_tail {
    picollo_figure_estimate tail;
    picollo_figure_estimate rest;
};

/**
 * Estimates a figure of the slowest scopes, and of the rest. `durations` has one for each scope, in any unit; NaN: the scope is in neither.
 * `share` is how many are slow: at least one.
 */
inline outcome<figure_tail> figure_of_tail(const char *formula, const char *events, span<const double> values, span<const double> durations,
                                           double share = 0.01, double confidence = 0.95)
{
    figure_tail found = {};
    const std::size_t columns = detail::names_in(events), scopes = durations.size();
    picollo_status code = PICOLLO_ERR_INVALID_ARGUMENT;
    if (columns > 0 && values.size() % columns == 0 && values.size() / columns == scopes) {
        code = picollo_figure_compute_tail(formula, events, values.data(), durations.data(), scopes, share, confidence, &found.tail, &found.rest, nullptr);
    }
    return detail::filled(code, found);
}

} } // namespace picollo

#endif /* PICOLLO_COMPARE_HPP */
