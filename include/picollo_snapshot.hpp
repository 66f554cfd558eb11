/* Snapshots, their encodings, and their values in C++17. Include picollo.hpp. */
#ifndef PICOLLO_SNAPSHOT_HPP
#define PICOLLO_SNAPSHOT_HPP

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "picollo_compare.h"
#include "picollo_log.h"
#include "picollo_result.hpp"
#include "picollo_summary.hpp"

PICOLLO_NAMESPACE {

/** The encodings of snapshots. */
enum class encoding : std::uint32_t {
    hdr_v2 = PICOLLO_ENCODING_HDR_V2,
    hdr_v2_compressed = PICOLLO_ENCODING_HDR_V2_COMPRESSED,
    native = PICOLLO_ENCODING_NATIVE
};

/** Where a bucket's count goes in a merge: as a whole to the bucket of its midpoint; divided among all buckets that share
 * values with it; or as a whole to the bucket of its smallest value, as in the add of HdrHistogram. */
enum class placement : std::uint32_t {
    midpoint = PICOLLO_PLACEMENT_MIDPOINT,
    spread = PICOLLO_PLACEMENT_SPREAD,
    low_ends = PICOLLO_PLACEMENT_LOW_ENDS
};

/** The rule that maps values to counters. */
struct layout : picollo_layout {
    /** The bucket of a value, in range or not; its count is 0. */
    outcome<picollo::bucket> bucket_of(std::uint64_t value) const
    {
        return detail::answer<picollo::bucket>(picollo_layout_bucket_of, this, value);
    }

    /** The same blocks and the same unit over another range, for sums; see snapshot::create. */
    outcome<layout> with_range(std::uint64_t min, std::uint64_t max) const
    {
        return detail::answer<layout>(picollo_layout_with_range, this, min, max);
    }
};

/** The interval of an update. */
enum class since : std::uint32_t { reset = PICOLLO_SINCE_RESET, previous_update = PICOLLO_SINCE_PREVIOUS };

/** The counts of one moment, or of the interval between two. Keeps alive what it needs of its histogram. */
class snapshot : public detail::handle<picollo_snapshot, picollo_snapshot_free> {
public:
    using handle::handle;

    /** An empty one without a histogram, to merge others into. */
    static outcome<snapshot> create(const picollo_layout &of)
    {
        return detail::made<snapshot>(picollo_snapshot_create_from_layout, &of);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    explicit snapshot(const picollo_layout &of) : snapshot(create(of)) {}
#endif

    outcome<void> update(since start = since::reset)
    {
        return detail::done(picollo_snapshot_update(native(), static_cast<std::uint32_t>(start)));
    }

    outcome<picollo_counts> counts() const
    {
        return detail::answer<picollo_counts>(picollo_snapshot_counts, native());
    }

    outcome<picollo::percentile> percentile(double rank, value_selection which = value_selection::midpoint) const
    {
        return detail::answer<picollo::percentile>(picollo_snapshot_percentiles, native(), &rank, std::size_t{1},
                                                   static_cast<std::uint32_t>(which));
    }

    outcome<std::vector<picollo::percentile>> percentiles(span<const double> ranks, value_selection which = value_selection::midpoint) const
    {
        std::vector<picollo_percentile> native_values(ranks.size());
        std::vector<picollo::percentile> found;
        if (ranks.empty()) return found;
        const picollo_status code = picollo_snapshot_percentiles(native(), ranks.data(), ranks.size(),
                                                                 static_cast<std::uint32_t>(which), native_values.data());
        for (const picollo_percentile &value : native_values) found.push_back(picollo::percentile{value});
        return detail::filled(code, std::move(found));
    }

    outcome<void> percentile_values(span<const double> ranks, span<std::uint64_t> values,
                                    value_selection which = value_selection::midpoint) const
    {
        if (values.size() < ranks.size()) return detail::done(PICOLLO_ERR_BUFFER_TOO_SMALL);
        if (ranks.empty()) return detail::done(PICOLLO_OK);
        return detail::done(picollo_snapshot_percentile_values(native(), ranks.data(), ranks.size(),
                                                               static_cast<std::uint32_t>(which), values.data()));
    }

    outcome<double> rank_of(std::uint64_t value, bool interpolate = false) const
    {
        return detail::answer<double>(picollo_snapshot_rank_of_value, native(), value, interpolate);
    }

    outcome<bucket> bucket_of(std::uint64_t value) const
    {
        return detail::answer<bucket>(picollo_snapshot_bucket_of, native(), value);
    }

    /** The buckets in ascending order; unless `all`, only those with counts. Allocates. */
    outcome<std::vector<bucket>> buckets(bool all = false) const
    {
        return detail::listed<bucket>(picollo_snapshot_buckets, native(), !all);
    }

    outcome<picollo::summary> summary(value_selection which = value_selection::midpoint) const
    {
        return detail::summarized<picollo_snapshot>(picollo_snapshot_summary, native(), static_cast<std::uint32_t>(which));
    }

    /** The smallest and the largest recorded value; status::empty if nothing was recorded. */
    outcome<std::uint64_t> min(value_selection which = value_selection::midpoint) const { return value_at(0, which); }
    outcome<std::uint64_t> max(value_selection which = value_selection::midpoint) const { return value_at(100, which); }
    /** The value at a rank of 0 to 100: picollo::percentile without its bucket. */
    outcome<std::uint64_t> value_at(double rank, value_selection which = value_selection::midpoint) const
    {
        return detail::answer<std::uint64_t>(picollo_snapshot_percentile_values, native(), &rank, std::size_t{1},
                                             static_cast<std::uint32_t>(which));
    }
    /** Mean and population standard deviation of the buckets' midpoints; NaN if nothing was recorded. Each costs a summary. */
    outcome<double> mean() const { return figure(&picollo_summary::mean); }
    outcome<double> stddev() const { return figure(&picollo_summary::stddev); }

    /** Reads data in any encoding of HdrHistogram or in Picollo's, as bytes or as base64. Untrusted data is safe. */
    static outcome<snapshot> decode(span<const unsigned char> bytes, std::uint64_t max_counters = 0)
    {
        return decode(bytes.data(), bytes.size(), max_counters);
    }
    static outcome<snapshot> decode(std::string_view text, std::uint64_t max_counters = 0)
    {
        return decode(text.data(), text.size(), max_counters);
    }

    /** Reads the first of several consecutive encodings, of any kinds. `taken` becomes its length in bytes, which is where the
     * next one begins. A failure leaves it unchanged. */
    static outcome<snapshot> decode_first(span<const unsigned char> bytes, std::size_t &taken, std::uint64_t max_counters = 0)
    {
        return decode_first(bytes.data(), bytes.size(), taken, max_counters);
    }
    /** White space belongs to the text before it. */
    static outcome<snapshot> decode_first(std::string_view text, std::size_t &taken, std::uint64_t max_counters = 0)
    {
        return decode_first(text.data(), text.size(), taken, max_counters);
    }

    /** Encodes as bytes. HdrHistogram's encodings need HdrHistogram's buckets; see options::significant_digits. Allocates. */
    outcome<std::vector<unsigned char>> encode(encoding how = encoding::native) const
    {
        return detail::listed<unsigned char>(picollo_snapshot_encode, native(), static_cast<std::uint32_t>(how));
    }

    outcome<std::string> encode_base64(encoding how = encoding::hdr_v2_compressed) const
    {
        return detail::written(picollo_snapshot_encode_base64, native(), static_cast<std::uint32_t>(how));
    }

    outcome<std::string> hgrm(std::uint32_t ticks_per_half_distance = 5, double value_scale = 1, bool csv = false) const
    {
        return detail::written(picollo_snapshot_format_hgrm, native(), ticks_per_half_distance, value_scale, csv);
    }

    /** Beginning and end of the interval, in seconds since 1970 or since the origin of the log's times. They are NaN unless
     * they were read from a log or set. Copies keep times and tag, and log_writer::write writes them. No count depends on
     * them. */
    double start_seconds() const noexcept { return start_seconds_; }
    double end_seconds() const noexcept { return end_seconds_; }
    /** Distinguishes counts of the same time; "" unless it was read from a log or set. */
    const std::string &tag() const noexcept { return tag_; }
    /** Sets these three. */
    void interval(double start_seconds, double end_seconds, std::string tag = std::string())
    {
        start_seconds_ = start_seconds;
        end_seconds_ = end_seconds;
        tag_ = std::move(tag);
    }

    outcome<snapshot> copy() const { return derived(picollo_snapshot_copy); }

    outcome<snapshot> corrected(std::uint64_t expected_interval) const
    {
        return derived(picollo_snapshot_corrected, expected_interval);
    }

    outcome<picollo_merged> merge(const snapshot &other, placement how = placement::midpoint)
    {
        return detail::answer<picollo_merged>(picollo_snapshot_merge, native(), other.native(),
                                              static_cast<std::uint32_t>(how));
    }

    outcome<picollo_merged> subtract(const snapshot &other)
    {
        return detail::answer<picollo_merged>(picollo_snapshot_subtract, native(), other.native());
    }

    outcome<picollo::layout> layout() const
    {
        return detail::answer<picollo::layout>(picollo_snapshot_layout, native());
    }

    outcome<double> value_ratio() const { return detail::answer<double>(picollo_snapshot_value_ratio, native()); }

    outcome<std::uint64_t> count_between(std::uint64_t lowest, std::uint64_t highest) const
    {
        return detail::answer<std::uint64_t>(picollo_snapshot_count_between, native(), lowest, highest);
    }

    outcome<void> interpolated_values(span<const double> ranks, span<std::uint64_t> values) const
    {
        if (values.size() < ranks.size()) return detail::done(PICOLLO_ERR_BUFFER_TOO_SMALL);
        if (ranks.empty()) return detail::done(PICOLLO_OK);
        return detail::done(picollo_snapshot_interpolated_percentiles(native(), ranks.data(), ranks.size(), values.data()));
    }

    outcome<std::vector<picollo_step>> linear_steps(std::uint64_t width) const
    {
        return detail::listed<picollo_step>(picollo_snapshot_linear_steps, native(), width);
    }
    outcome<std::vector<picollo_step>> logarithmic_steps(std::uint64_t first, double base) const
    {
        return detail::listed<picollo_step>(picollo_snapshot_logarithmic_steps, native(), first, base);
    }
    outcome<std::vector<picollo_step>> percentile_steps(std::uint32_t ticks_per_half_distance = 5) const
    {
        return detail::listed<picollo_step>(picollo_snapshot_percentile_steps, native(), ticks_per_half_distance);
    }

    outcome<picollo_quantile_interval> quantile_interval(double quantile, double confidence = 0.95) const
    {
        return detail::answer<picollo_quantile_interval>(picollo_snapshot_quantile_interval, native(), quantile,
                                                         confidence);
    }

private:
    outcome<double> figure(double picollo_summary::*which) const
    {
        picollo_summary all = {};
        const picollo_status code = picollo_snapshot_summary(native(), PICOLLO_VALUE_MIDPOINT, nullptr, 0, nullptr, &all);
        return detail::filled(code, all.*which);
    }

    static outcome<snapshot> decode(const void *bytes, std::size_t length, std::uint64_t max_counters)
    {
        return detail::made<snapshot>(picollo_snapshot_decode, bytes, length, max_counters);
    }

    static outcome<snapshot> decode_first(const void *bytes, std::size_t length, std::size_t &taken, std::uint64_t max_counters)
    {
        picollo_snapshot *made = nullptr;
        const picollo_status code = picollo_snapshot_decode_first(bytes, length, max_counters, &made, &taken);
        if (code != PICOLLO_OK) return detail::fail<snapshot>(code);
        return snapshot(made);
    }

    /** Made from this one, with its times and its tag. */
    template <class... Parameters, class... Arguments>
    outcome<snapshot> derived(picollo_status (*call)(Parameters...), Arguments... arguments) const
    {
        picollo_snapshot *made = nullptr;
        const picollo_status code = call(native(), arguments..., &made);
        if (code != PICOLLO_OK) return detail::fail<snapshot>(code);
        snapshot found(made);
        found.interval(start_seconds_, end_seconds_, tag_);
        return found;
    }

    double start_seconds_ = std::nan("");
    double end_seconds_ = std::nan("");
    std::string tag_;
};

} } // namespace picollo

#endif /* PICOLLO_SNAPSHOT_HPP */
