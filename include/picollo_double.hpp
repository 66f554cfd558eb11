/* Histograms of doubles in C++17. Include picollo.hpp. */
#ifndef PICOLLO_DOUBLE_HPP
#define PICOLLO_DOUBLE_HPP

#include <ostream>
#include <vector>

#include "picollo_double.h"
#include "picollo_result.hpp"
#include "picollo_summary.hpp"

PICOLLO_NAMESPACE {

/** Statistics and the usual percentiles of doubles: a plain value. */
class double_summary {
public:
    /** Copies the percentiles, which are those at PICOLLO_DEFAULT_RANKS. */
    double_summary(const picollo_double_summary &native, const detail::default_percentiles<picollo_double_percentile> &percentiles) noexcept
        : native_(native), percentiles_(percentiles) {}

    const picollo_double_statistics &statistics() const noexcept { return native_.statistics; }
    /** Those at PICOLLO_DEFAULT_RANKS, ascending. */
    const detail::default_percentiles<picollo_double_percentile> &percentiles() const noexcept { return percentiles_; }
    const picollo_double_percentile &p0() const noexcept { return percentiles_[detail::rank_index(0)]; }
    const picollo_double_percentile &p50() const noexcept { return percentiles_[detail::rank_index(50)]; }
    const picollo_double_percentile &p90() const noexcept { return percentiles_[detail::rank_index(90)]; }
    const picollo_double_percentile &p95() const noexcept { return percentiles_[detail::rank_index(95)]; }
    const picollo_double_percentile &p99() const noexcept { return percentiles_[detail::rank_index(99)]; }
    const picollo_double_percentile &p99_9() const noexcept { return percentiles_[detail::rank_index(99.9)]; }
    const picollo_double_percentile &p100() const noexcept { return percentiles_[detail::rank_index(100)]; }

    /** As text. Allocates. */
    outcome<std::string> text(const char *title, format how) const
    {
        const picollo_double_summary all = native();
        return detail::written(picollo_double_summary_format, &all, title, static_cast<std::uint32_t>(how));
    }
    /** A Markdown table. */
    outcome<std::string> table(const char *title = "") const { return text(title, format::markdown); }

    /** Refers to the percentiles of this object. */
    picollo_double_summary native() const noexcept
    {
        picollo_double_summary all = native_;
        all.percentiles = percentiles_.data();
        all.percentiles_length = percentiles_.size();
        return all;
    }

private:
    picollo_double_summary native_;
    detail::default_percentiles<picollo_double_percentile> percentiles_;
};

/** The summary for people, without title and unit: a few lines, without a line break at the end. */
inline std::ostream &operator<<(std::ostream &out, const double_summary &value)
{
    const picollo_double_summary all = value.native();
    return detail::print(out, picollo_double_summary_format, &all, "", std::uint32_t{PICOLLO_TEXT_HUMAN});
}

/** Counts of doubles in one interval. Holds no reference to the histogram that they were taken from. */
class double_snapshot : public detail::handle<picollo_double_snapshot, picollo_double_snapshot_free> {
public:
    using handle::handle;

    /** An empty one. */
    static outcome<double_snapshot> create()
    {
        return detail::made<double_snapshot>(picollo_double_snapshot_create, nullptr);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    double_snapshot() : double_snapshot(create()) {}
#endif

    outcome<picollo_double_statistics> statistics() const
    {
        return detail::answer<picollo_double_statistics>(picollo_double_snapshot_statistics, native());
    }

    outcome<double> quantile(double which) const
    {
        return detail::answer<double>(picollo_double_snapshot_quantiles, native(), &which, std::size_t{1});
    }
    outcome<void> quantiles(span<const double> which, span<double> values) const
    {
        if (values.size() < which.size()) return detail::done(PICOLLO_ERR_BUFFER_TOO_SMALL);
        return detail::done(picollo_double_snapshot_quantiles(native(), which.data(), which.size(), values.data()));
    }

    outcome<double_summary> summary() const
    {
        detail::default_percentiles<picollo_double_percentile> percentiles = {};
        picollo_double_summary found = {};
        const picollo_status code =
            picollo_double_snapshot_summary(native(), detail::default_ranks, percentiles.size(), percentiles.data(), &found);
        return detail::filled(code, double_summary(found, percentiles));
    }

    outcome<std::vector<picollo_double_bucket>> buckets() const
    {
        return detail::listed<picollo_double_bucket>(picollo_double_snapshot_buckets, native());
    }

    outcome<void> merge(const double_snapshot &other)
    {
        return detail::done(picollo_double_snapshot_merge(native(), other.native()));
    }
};

/** Options: each method sets the field of picollo_double_options or the flag PICOLLO_DOUBLE_... of its name. */
class double_options : public detail::options_of<picollo_double_options> {
public:
    double_options &relative_error(double value) noexcept { return native_.relative_error = value, *this; }
    double_options &max_bytes(std::uint64_t value) noexcept { return native_.max_bytes = value, *this; }
    double_options &dotnet_ranks() noexcept { return native_.flags |= PICOLLO_DOUBLE_DOTNET_RANKS, *this; }
    double_options &exact_sum() noexcept { return native_.flags |= PICOLLO_DOUBLE_EXACT_SUM, *this; }
};

/** Counts doubles of both signs and all magnitudes within a relative error. Any number of threads may record. */
class double_histogram : public detail::handle<picollo_double_histogram, picollo_double_histogram_free> {
public:
    using handle::handle;

    static outcome<double_histogram> create(const double_options &how = double_options())
    {
        return detail::made<double_histogram>(picollo_double_histogram_create, &how.native());
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    double_histogram() : double_histogram(double_options()) {}
    explicit double_histogram(const double_options &how) : double_histogram(create(how)) {}
#endif

    void record(double value) noexcept { picollo_double_histogram_record(native(), value); }
    void record_n(double value, std::uint64_t count) noexcept { picollo_double_histogram_record_n(native(), value, count); }
    void record(span<const double> values) noexcept
    {
        picollo_double_histogram_record_batch(native(), values.data(), values.size());
    }

    outcome<double_snapshot> collect()
    {
        picollo_double_snapshot *made = nullptr;
        picollo_status code = picollo_double_snapshot_create(nullptr, &made);
        double_snapshot taken(made);
        if (code == PICOLLO_OK) code = picollo_double_snapshot_update(made, native(), 1);
        if (code != PICOLLO_OK) return detail::fail<double_snapshot>(code);
        return taken;
    }
    /** The same into an existing snapshot, which keeps its memory. */
    outcome<void> collect(double_snapshot &into) { return detail::done(picollo_double_snapshot_update(into.native(), native(), 1)); }
    /** The same without a snapshot: writes the values at quantiles of 0 to 1. They are NaN if nothing was recorded. */
    outcome<picollo_double_statistics> collect(span<const double> quantiles, span<double> values)
    {
        picollo_double_statistics found = {};
        picollo_status code = PICOLLO_ERR_BUFFER_TOO_SMALL;
        if (values.size() >= quantiles.size()) {
            code = picollo_double_histogram_collect(native(), quantiles.data(), quantiles.size(), values.data(), &found);
        }
        return detail::filled(code, found);
    }
    /** Copies what was recorded since the last collection, and leaves it there. */
    outcome<double_snapshot> peek() const
    {
        return detail::made<double_snapshot>(picollo_double_snapshot_create, native());
    }

    outcome<void> add(const double_snapshot &other)
    {
        return detail::done(picollo_double_histogram_add(native(), other.native()));
    }

    outcome<std::size_t> footprint() const
    {
        return detail::answer<std::size_t>(picollo_double_histogram_footprint, native());
    }
};

} } // namespace picollo

#endif /* PICOLLO_DOUBLE_HPP */
