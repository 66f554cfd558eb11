/* Segments: histograms that others watch while the program runs, in C++17. Include picollo.hpp. Linux. */
#ifndef PICOLLO_SEGMENT_HPP
#define PICOLLO_SEGMENT_HPP

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "picollo_histogram.hpp"
#include "picollo_registry.hpp"
#include "picollo_result.hpp"
#include "picollo_segment.h"
#include "picollo_snapshot.hpp"

PICOLLO_NAMESPACE {

/** Options of a segment; see picollo_segment_options and PICOLLO_SEGMENT_.... Strings are UTF-8. */
struct segment_options {
    std::string name = {};
    std::string directory = {};
    std::uint64_t max_bytes = 0;
    bool keep = false;
    bool on_disk = false;
    bool interlocked = false;
    bool live_reset = false;
};

/** A file in memory with histograms and counters, which `picollo top` and `picollo show` read while this program runs, and
 * after a crash. The same name and labels mean the same histogram in all processes that have the segment. Any thread may call.
 * The histograms and counters live as long as the process. */
class segment : public detail::handle<picollo_segment, picollo_segment_free> {
public:
    using handle::handle;

    static outcome<segment> create(const segment_options &how = {})
    {
        picollo_segment_options options = PICOLLO_SEGMENT_OPTIONS_INIT;
        options.flags = (how.keep ? PICOLLO_SEGMENT_KEEP : 0) | (how.on_disk ? PICOLLO_SEGMENT_ON_DISK : 0) | of_histograms(how);
        options.max_bytes = how.max_bytes;
        options.name = how.name.c_str();
        options.directory = how.directory.c_str();
        return detail::made_or_explained<segment>(picollo_segment_create, &options);
    }

    /** Opens a segment of another process. The default path is the environment variable PICOLLO_SEGMENT. */
    static outcome<segment> attach(const std::string &path = {})
    {
        return detail::made_or_explained<segment>(picollo_segment_attach, path.c_str());
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    explicit segment(const segment_options &how) : segment(create(how)) {}
    explicit segment(const std::string &name) : segment(create(named(name))) {}
#endif

    /** Its path, for attach in other processes. */
    outcome<std::string> path() const
    {
        return detail::written(picollo_segment_path, native());
    }

    /** Finds or makes the histogram with this name and these labels. By default it has 1 % from 1 to 3.6e12, an hour in
     * nanoseconds. In mode::single_writer only the thread that made it may record. */
    outcome<picollo::histogram> histogram(const metric &known_as, const options &how = options())
    {
        return detail::made_or_explained<picollo::histogram>([&](picollo_histogram **made, picollo_error *why) {
            return registry::status_of(known_as, [&](const picollo_metric_options *native_metric) {
                return picollo_segment_histogram(native(), native_metric, &how.native(), made, why);
            });
        });
    }

    /** Finds the counter with this name and these labels, or makes one at zero. With metric::striped neither threads nor forked
     * workers wait for each other. */
    outcome<metric_counter> counter(const metric &known_as)
    {
        return detail::made_or_explained<metric_counter>([&](picollo_metric_counter **made, picollo_error *why) {
            return registry::status_of(known_as, [&](const picollo_metric_options *native_metric) {
                return picollo_segment_counter(native(), native_metric, made, why);
            });
        });
    }

    /** Removes the metric with this name and these labels. New readers do not see it, and the next request makes a new one. Its
     * objects stay valid; its memory is not reused. */
    outcome<void> retire(const metric &known_as)
    {
        return detail::done_or_explained([&](picollo_error *why) {
            return registry::status_of(known_as, [&](const picollo_metric_options *native_metric) {
                return picollo_segment_retire(native(), native_metric, why);
            });
        });
    }

    /** Bytes that a histogram takes in such a segment. */
    static outcome<std::uint64_t> estimate(const options &how = options(), const segment_options &of = {})
    {
        return detail::answer<std::uint64_t>(picollo_segment_estimate, &how.native(), of_histograms(of));
    }

private:
    static std::uint32_t of_histograms(const segment_options &how) noexcept
    {
        return (how.interlocked ? PICOLLO_SEGMENT_INTERLOCKED : 0) | (how.live_reset ? PICOLLO_SEGMENT_LIVE_RESET : 0);
    }

    static segment_options named(const std::string &name)
    {
        segment_options how;
        how.name = name;
        return how;
    }
};

} } // namespace picollo

#endif /* PICOLLO_SEGMENT_HPP */
