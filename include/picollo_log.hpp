/* Logs of histograms (.hlog) in C++17. Include picollo.hpp. */
#ifndef PICOLLO_LOG_HPP
#define PICOLLO_LOG_HPP

#include <chrono>
#include <cmath>
#include <istream>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "picollo_log.h"
#include "picollo_result.hpp"
#include "picollo_snapshot.hpp"

PICOLLO_NAMESPACE {

/** The times and the complete tag of an interval of a log. */
struct log_interval {
    /** Seconds since 1970, or since the origin of the log's times. */
    double start_seconds = 0;
    double end_seconds = 0;
    /** The largest value in millions, as written in the log; NaN if it is not a number. */
    double max = 0;
    std::string tag;
};

/** Reads a log in memory.
 *
 *     picollo::log_reader reader(text);
 *     while (std::optional<picollo::log_interval> interval = reader.next()) use(*interval, reader.decode());
 *
 * A line that cannot be read is a separate failure: the next call continues after it. */
class log_reader {
public:
    /** Reads a text, which it keeps. Allocates. */
    static outcome<log_reader> create(std::string text)
    {
        auto kept = std::make_unique<const std::string>(std::move(text));
        picollo_log_reader *made = nullptr;
        const picollo_status code = picollo_log_reader_create(kept->data(), kept->size(), &made);
        if (code != PICOLLO_OK) return detail::fail<log_reader>(code);
        return log_reader(std::move(kept), made);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    explicit log_reader(std::string text) : log_reader(create(std::move(text))) {}
#endif

    /** Reads the rest of a stream, as bytes: open files with std::ios::binary. */
    static outcome<log_reader> create(std::istream &in)
    {
        return create(std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()));
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    explicit log_reader(std::istream &in) : log_reader(create(in)) {}
#endif

    log_reader(log_reader &&) noexcept = default;
    /* The previous reader is destroyed before the text that it reads. */
    log_reader &operator=(log_reader &&other) noexcept
    {
        handle_ = std::move(other.handle_);
        text_ = std::move(other.text_);
        read_ = other.read_;
        last_ = std::move(other.last_);
        max_counters_ = other.max_counters_;
        return *this;
    }

    /** Largest number of counters that decode() makes from now on; 0: PICOLLO_DEFAULT_MAX_COUNTERS. */
    log_reader &max_counters(std::uint64_t value) noexcept { return max_counters_ = value, *this; }

    /** The next interval, without its histogram; empty at the end of the log. */
    outcome<std::optional<log_interval>> next()
    {
        using found = std::optional<log_interval>;
        const picollo_status code = picollo_log_reader_next(native(), &read_);
        last_ = log_interval();
        if (code == PICOLLO_END) return found();
        if (code != PICOLLO_OK) return detail::fail<found>(code);
        log_interval interval{read_.start_seconds, read_.end_seconds, read_.max, {read_.tag, read_.tag_length}};
        last_ = interval;
        return found(std::move(interval));
    }

    /** The histogram of the interval that was read last, with its times and its tag. It outlives the reader. */
    outcome<snapshot> decode() const
    {
        picollo_snapshot *made = nullptr;
        const picollo_status code = picollo_log_reader_decode(native(), max_counters_, &made);
        if (code != PICOLLO_OK) return detail::fail<snapshot>(code);
        snapshot found(made);
        found.interval(last_.start_seconds, last_.end_seconds, last_.tag);
        return found;
    }

    /** Number of the line that was read last, from 1. */
    std::uint64_t line() const noexcept { return read_.line; }

    /** Start of the log in seconds since 1970; NaN while it is unknown, which is before the first interval. */
    double start_seconds() const noexcept { return read_.log_start_seconds; }

    picollo_log_reader *native() const noexcept { return handle_.native(); }

private:
    log_reader(std::unique_ptr<const std::string> text, picollo_log_reader *owned) noexcept
        : text_(std::move(text)), handle_(owned)
    {
    }

    /* Behind a pointer, so moving the reader does not move the text. It outlives the reader, which is destroyed first. */
    std::unique_ptr<const std::string> text_;
    detail::handle<picollo_log_reader, picollo_log_reader_free> handle_;
    /* The interval that was read last. Its tag belongs to the reader. */
    picollo_log_interval read_ = {std::nan(""), std::nan(""), std::nan(""), std::nan(""), std::nan(""), 0, 0, "", 0};
    log_interval last_;
    std::uint64_t max_counters_ = 0;
};

/** Writes a log. The histograms need HdrHistogram's buckets: options().significant_digits(3). */
class log_writer {
public:
    /** The stream must outlive the writer. */
    explicit log_writer(std::ostream &out) noexcept : out_(&out) {}

    /** Writes the first lines of a log, without a start if start_seconds (since 1970) is NaN. */
    outcome<void> header(double start_seconds = std::nan(""), const char *comment = nullptr)
    {
        return put([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return picollo_log_format_header(start_seconds, comment, buffer, capacity, length);
        });
    }

    /** Writes the line of an interval, with times in seconds since 1970 or since the start of the log. */
    outcome<void> write(const snapshot &counts, double start_seconds, double length_seconds, const char *tag = nullptr)
    {
        return put([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return picollo_log_format_interval(counts.native(), start_seconds, length_seconds, tag, buffer, capacity, length);
        });
    }
    /** The same with the snapshot's times and tag, which were read with it or set. Without times it fails with
     * invalid_argument. */
    outcome<void> write(const snapshot &counts)
    {
        return write(counts, counts.start_seconds(), counts.end_seconds() - counts.start_seconds(), counts.tag().c_str());
    }
    /** The same with the times and the tag of an interval that was read. */
    outcome<void> write(const snapshot &counts, const log_interval &as)
    {
        return write(counts, as.start_seconds, as.end_seconds - as.start_seconds, as.tag.c_str());
    }
    outcome<void> write(const snapshot &counts, std::chrono::system_clock::time_point start,
                        std::chrono::duration<double> length, const char *tag = nullptr)
    {
        const std::chrono::duration<double> since_epoch = start.time_since_epoch();
        return write(counts, since_epoch.count(), length.count(), tag);
    }

private:
    template <class Write>
    outcome<void> put(Write &&line)
    {
#ifdef PICOLLO_NO_EXCEPTIONS
        const result<std::string> text = detail::text(line);
        if (!text) return text.error();
        *out_ << *text;
        return outcome<void>();
#else
        *out_ << detail::text(line);
#endif
    }

    std::ostream *out_;
};

} } // namespace picollo

#endif /* PICOLLO_LOG_HPP */
