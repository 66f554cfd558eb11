/* Segments: histograms that others watch while the program runs, and what reads them, in C++17. Include picollo.hpp. Linux. */
#ifndef PICOLLO_SEGMENT_HPP
#define PICOLLO_SEGMENT_HPP

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "picollo_histogram.hpp"
#include "picollo_registry.hpp"
#include "picollo_result.hpp"
#include "picollo_snapshot.hpp"

PICOLLO_NAMESPACE {

/** What a segment is to be. Strings are UTF-8. */
struct segment_options {
    /** 1 to 64 letters, digits, _ and -; empty: as the program. */
    std::string name = {};
    /** Where it goes; made if it is not there. Empty: $PICOLLO_DIR, or a directory of this user's in memory. */
    std::string directory = {};
    /** The most that the file may come to take; 0: 128 MiB. Memory is taken as histograms are made. */
    std::uint64_t max_bytes = 0;
    /** Whether to leave the file at an orderly end of the process. */
    bool keep = false;
    /** Whether it may be in a directory that is not in memory: records may then wait for the disk. */
    bool on_disk = false;
    /** Whether histograms whose options name no mode have one set of cells, which all add to atomically, and not one for each CPU: less
     * memory, and less to read. */
    bool interlocked = false;
    /** Whether histograms can be reset, unless they are made without: three times the memory, and interlocked where no mode is named.
     * Per-CPU ones cannot. */
    bool live_reset = false;
};

/** A file in memory that histograms and counters lie in, for `picollo top`, `picollo show` and viewers to read while this program runs,
 * and after it crashed. What is asked for by the same name and labels is the same, in all processes that have the segment. Any thread
 * may call. What a segment gave out is there as long as the process. */
class segment {
public:
    explicit segment(picollo_segment *owned) noexcept : handle_(owned) {}

    static outcome<segment> create(const segment_options &how = {})
    {
        picollo_segment *made = nullptr;
        picollo_error why = {};
        picollo_segment_options options = PICOLLO_SEGMENT_OPTIONS_INIT;
        options.flags = (how.keep ? PICOLLO_SEGMENT_KEEP : 0) | (how.on_disk ? PICOLLO_SEGMENT_ON_DISK : 0) |
            (how.interlocked ? PICOLLO_SEGMENT_INTERLOCKED : 0) | (how.live_reset ? PICOLLO_SEGMENT_LIVE_RESET : 0);
        options.max_bytes = how.max_bytes;
        options.name = how.name.c_str();
        options.directory = how.directory.c_str();
        const picollo_status code = picollo_segment_create(&options, &made, &why);
        if (code != PICOLLO_OK) return detail::fail<segment>(code, &why);
        return segment(made);
    }

    /** One that another process has made; without a path that of the environment variable PICOLLO_SEGMENT. */
    static outcome<segment> attach(const std::string &path = {})
    {
        picollo_segment *made = nullptr;
        picollo_error why = {};
        const picollo_status code = picollo_segment_attach(path.c_str(), &made, &why);
        if (code != PICOLLO_OK) return detail::fail<segment>(code, &why);
        return segment(made);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    explicit segment(const segment_options &how) : segment(create(how)) {}
    explicit segment(const std::string &name) : segment(create(named(name))) {}
#endif

    /** Where it is, for attach in other processes. */
    outcome<std::string> path() const
    {
        return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return picollo_segment_path(native(), buffer, capacity, length);
        });
    }

    /** The histogram of this name and these labels: the one that there is, or a new one. Options that say nothing mean
     * 1 % from 1 to 3.6e12, an hour in nanoseconds. One in mode::single_writer is the thread's that made it. */
    outcome<picollo::histogram> histogram(const metric &known_as, const options &how = options())
    {
        picollo_histogram *made = nullptr;
        picollo_error why = {};
        const picollo_status code = registry::status_of(known_as, [&](const picollo_metric_options *native_metric) {
            return picollo_segment_histogram(native(), native_metric, &how.native(), &made, &why);
        });
        if (code != PICOLLO_OK) return detail::fail<picollo::histogram>(code, &why);
        return picollo::histogram(made);
    }

    /** The counter of this name and these labels: the one that there is, or a new one at zero. */
    outcome<metric_counter> counter(const metric &known_as)
    {
        picollo_metric_counter *made = nullptr;
        picollo_error why = {};
        const picollo_status code = registry::status_of(known_as, [&](const picollo_metric_options *native_metric) {
            return picollo_segment_counter(native(), native_metric, &made, &why);
        });
        if (code != PICOLLO_OK) return detail::fail<metric_counter>(code, &why);
        return metric_counter(made);
    }

    /** The striped counter of this name and these labels: the one that there is, or a new one at zero. The CPU chooses one of its sixteen
     * words, so that neither threads nor forked workers wait for each other. 1 KB. */
    outcome<picollo::striped_counter> striped_counter(const metric &known_as)
    {
        picollo_striped_counter *made = nullptr;
        picollo_error why = {};
        const picollo_status code = registry::status_of(known_as, [&](const picollo_metric_options *native_metric) {
            return picollo_segment_striped_counter(native(), native_metric, &made, &why);
        });
        if (code != PICOLLO_OK) return detail::fail<picollo::striped_counter>(code, &why);
        return picollo::striped_counter(made);
    }

    /** Takes what has this name and these labels out: viewers do not see it any more, unless they did before, and who asks for it gets a
     * new one. Objects of it stay what they are; its memory stays taken. */
    outcome<void> retire(const metric &known_as)
    {
        picollo_error why = {};
        const picollo_status code = registry::status_of(known_as, [&](const picollo_metric_options *native_metric) {
            return picollo_segment_retire(native(), native_metric, &why);
        });
        return detail::done(code, &why);
    }

    /** Bytes that a histogram takes in such a segment. */
    static outcome<std::uint64_t> estimate(const options &how = options(), const segment_options &of = {})
    {
        std::uint64_t bytes = 0;
        const std::uint32_t flags =
            (of.interlocked ? PICOLLO_SEGMENT_INTERLOCKED : 0) | (of.live_reset ? PICOLLO_SEGMENT_LIVE_RESET : 0);
        const picollo_status code = picollo_segment_estimate(&how.native(), flags, &bytes);
        return detail::filled(code, bytes);
    }

    picollo_segment *native() const noexcept { return handle_.get(); }

private:
    static segment_options named(const std::string &name)
    {
        segment_options how;
        how.name = name;
        return how;
    }

    detail::handle<picollo_segment, picollo_segment_free> handle_;
};

/** What is published in a segment under one name. */
struct segment_entry {
    bool is_histogram = false;
    bool is_counter = false;
    std::string name;
    /** The unit of its values as recorded; may be empty. */
    std::string unit;
    std::string help;
    std::vector<std::pair<std::string, std::string>> labels;
    /** Values are to be divided by this where they are exported. */
    double divisor = 1;
    /** Since when there are counts. */
    std::chrono::system_clock::time_point created;
    /** Bytes of memory that it takes. */
    std::uint64_t bytes = 0;
    /** In single-writer mode the process that writes it, as it sees itself; otherwise 0. */
    std::uint32_t writer_pid = 0;
    /** The program has taken it out since this viewer first saw it; what was counted before can still be read. */
    bool is_retired = false;
};

/** Reads a segment from outside, while its program runs or after it ended. Never writes to it. One thread at a time. */
class viewer {
public:
    explicit viewer(picollo_viewer *owned) noexcept : handle_(owned) {}

    static outcome<viewer> open(const std::string &path)
    {
        return made([&](picollo_viewer **out, picollo_error *why) { return picollo_viewer_open(path.c_str(), out, why); });
    }

    /** The segment that a text means: a path, a process, a segment's name, or a program's. Of several of these the one that lives. */
    static outcome<viewer> find(const std::string &target)
    {
        return made([&](picollo_viewer **out, picollo_error *why) { return picollo_viewer_find(target.c_str(), out, why); });
    }

    /** The paths of all segments of this user, each on a line, also of those that have ended. */
    static outcome<std::string> list() { return detail::text(picollo_viewer_list); }

    outcome<std::string> path() const
    {
        return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return picollo_viewer_path(native(), buffer, capacity, length);
        });
    }

    /** Which entries are left out, since they cannot be believed or are of another version, and why: each on a line. */
    outcome<std::string> faults() const
    {
        return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return picollo_viewer_faults(native(), buffer, capacity, length);
        });
    }

    /** Looks for entries that have come since. Those that there were keep their positions. */
    outcome<void> refresh()
    {
        picollo_error why = {};
        const picollo_status code = picollo_viewer_refresh(native(), &why);
        return detail::done(code, &why);
    }

    /** What is published, as of the last look. */
    outcome<std::vector<segment_entry>> entries() const
    {
        std::size_t length = 0;
        picollo_status code = picollo_viewer_length(native(), &length);
        std::vector<segment_entry> all;
        for (std::size_t i = 0; code == PICOLLO_OK && i < length; i++) {
            picollo_segment_entry one = {};
            code = picollo_viewer_entry(native(), i, &one);
            if (code == PICOLLO_OK) all.push_back(entry_of(one));
        }
        return detail::filled(code, std::move(all));
    }

    /** What the segment says of itself, now. */
    outcome<picollo_segment_info> info() const
    {
        picollo_segment_info told = {};
        picollo_error why = {};
        const picollo_status code = picollo_viewer_info(native(), &told, &why);
        return detail::filled(code, told, &why);
    }

    /** Takes the counts of a histogram, by its position among the entries. snapshot::update knows no histogram then, and fails: update
     * it here. */
    outcome<picollo::snapshot> snapshot(std::size_t index)
    {
        picollo_snapshot *made = nullptr;
        picollo_error why = {};
        const picollo_status code = picollo_viewer_snapshot(native(), index, PICOLLO_SINCE_RESET, &made, &why);
        if (code != PICOLLO_OK) return detail::fail<picollo::snapshot>(code, &why);
        return picollo::snapshot(made);
    }

    /** Takes the counts of now into a snapshot of this or another viewer of the segment. */
    outcome<void> update(std::size_t index, picollo::snapshot &what, since start = since::reset)
    {
        picollo_snapshot *same = what.native();
        picollo_error why = {};
        const picollo_status code =
            picollo_viewer_snapshot(native(), index, static_cast<std::uint32_t>(start), &same, &why);
        return detail::done(code, &why);
    }

    /** Reads a counter. */
    outcome<std::uint64_t> count(std::size_t index) const
    {
        std::uint64_t found = 0;
        picollo_error why = {};
        const picollo_status code = picollo_viewer_counter(native(), index, &found, &why);
        return detail::filled(code, found, &why);
    }

    picollo_viewer *native() const noexcept { return handle_.get(); }

private:
    template <class Make>
    static outcome<viewer> made(Make &&make)
    {
        picollo_viewer *out = nullptr;
        picollo_error why = {};
        const picollo_status code = make(&out, &why);
        if (code != PICOLLO_OK) return detail::fail<viewer>(code, &why);
        return viewer(out);
    }

    static segment_entry entry_of(const picollo_segment_entry &one)
    {
        segment_entry entry;
        entry.is_histogram = one.kind == PICOLLO_ENTRY_HISTOGRAM;
        entry.is_counter = one.kind == PICOLLO_ENTRY_COUNTER;
        entry.name = one.name;
        entry.unit = one.unit;
        entry.help = one.help;
        for (std::size_t i = 0; i < one.labels_length; i++) entry.labels.emplace_back(one.labels[i].name, one.labels[i].value);
        entry.divisor = one.divisor;
        entry.created = std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::nanoseconds(one.created_unix_nanos)));
        entry.bytes = one.bytes;
        entry.writer_pid = one.writer_pid;
        entry.is_retired = one.is_retired != 0;
        return entry;
    }

    detail::handle<picollo_viewer, picollo_viewer_free> handle_;
};

} } // namespace picollo

#endif /* PICOLLO_SEGMENT_HPP */
