/* Comparing snapshots in C++17: is B really faster than A, and by how much? Include picollo.hpp. */
#ifndef PICOLLO_COMPARE_HPP
#define PICOLLO_COMPARE_HPP

#include "picollo_compare.h"
#include "picollo_result.hpp"
#include "picollo_snapshot.hpp"
#include "picollo_summary.hpp"

PICOLLO_NAMESPACE {

/** The verdict of a comparison. faster means that the newer values are smaller, by more than the margin. */
enum class verdict : std::uint32_t {
    no_evidence = PICOLLO_VERDICT_NO_EVIDENCE,
    faster = PICOLLO_VERDICT_FASTER,
    slower = PICOLLO_VERDICT_SLOWER
};

/** Options: each method sets the field of picollo_compare_options of its name. */
class compare_options : public detail::options_of<picollo_compare_options> {
public:
    compare_options &quantile(double value) noexcept { return native_.quantile = value, *this; }
    compare_options &confidence(double value) noexcept { return native_.confidence = value, *this; }
    compare_options &relative_threshold(double value) noexcept { return native_.relative_threshold = value, *this; }
    compare_options &absolute_threshold(double value) noexcept { return native_.absolute_threshold = value, *this; }
    compare_options &power(double value) noexcept { return native_.power = value, *this; }
};

/** The differences between a snapshot and an older one: a plain value with all numbers of picollo_comparison. */
class comparison : public picollo_comparison {
public:
    comparison(const picollo_comparison &native, const summary &before, const summary &after) noexcept
        : picollo_comparison(native), before_(before), after_(after)
    {
    }

    picollo::verdict verdict() const noexcept { return static_cast<picollo::verdict>(picollo_comparison::verdict); }
    /** Whether it has one of PICOLLO_COMPARISON_.... */
    bool has(std::uint32_t flag) const noexcept { return (flags & flag) != 0; }
    const summary &before() const noexcept { return before_; }
    const summary &after() const noexcept { return after_; }

    /** The changes, with intervals, effect sizes and the verdict, as text. Allocates. */
    outcome<std::string> text(const char *title = "", const char *before_name = "Before", const char *after_name = "After",
                              format how = format::markdown) const
    {
        const picollo_summary before = before_.native(), after = after_.native();
        return detail::written(picollo_comparison_format, this, &before, &after, title, before_name,
                               after_name, static_cast<std::uint32_t>(how));
    }

private:
    summary before_, after_;
};

/** Compares `before`, the older, with `after`, the newer. Their layouts may differ. */
inline outcome<comparison> compare(const snapshot &before, const snapshot &after, const compare_options &how = compare_options())
{
    picollo_comparison found = {};
    detail::default_percentiles<picollo_percentile> of_a = {}, of_b = {};
    picollo_summary a = {}, b = {};
    picollo_status code = picollo_compare(before.native(), after.native(), &how.native(), &found);
    if (code == PICOLLO_OK)
        code = picollo_snapshot_summary(before.native(), PICOLLO_VALUE_MIDPOINT, detail::default_ranks, of_a.size(), of_a.data(), &a);
    if (code == PICOLLO_OK)
        code = picollo_snapshot_summary(after.native(), PICOLLO_VALUE_MIDPOINT, detail::default_ranks, of_b.size(), of_b.data(), &b);
    return detail::filled(code, comparison(found, summary(a, of_a), summary(b, of_b)));
}

/** Compares two series by the differences within pairs: before[i] was measured next to after[i]. */
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
/** The number of names in a text, separated by spaces. */
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

/** Estimates a figure over many scopes by its name, such as "ipc", from the sums of events. `values` has a row for each scope
 * and a column for each of `events`, which are names separated by spaces. Missing counts are NaN. */
inline outcome<picollo_figure_estimate> figure(const char *name, const char *events, span<const double> values, std::size_t scopes,
                                               double confidence = 0.95)
{
    picollo_figure_estimate found = {};
    const std::size_t columns = detail::names_in(events);
    picollo_status code = PICOLLO_ERR_INVALID_ARGUMENT;
    if (columns > 0 && values.size() % columns == 0 && values.size() / columns == scopes) {
        code = picollo_figure_compute(name, events, values.data(), scopes, confidence, &found, nullptr);
    }
    return detail::filled(code, found);
}

} } // namespace picollo

#endif /* PICOLLO_COMPARE_HPP */
