/* Histograms, counters and gauges with names and labels, written for Prometheus and OpenTelemetry, in C++17; and counters that threads
 * share. Include picollo.hpp. */
#ifndef PICOLLO_REGISTRY_HPP
#define PICOLLO_REGISTRY_HPP

#include <cmath>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "picollo_double.hpp"
#include "picollo_histogram.hpp"
#include "picollo_result.hpp"

PICOLLO_NAMESPACE {

/** What a histogram is known as in a registry. Strings are UTF-8. */
struct metric {
    /** Letters, digits, underscores and colons, and no digit first: request_seconds. */
    std::string name;
    /** What it means, for people; the same for all of one name. */
    std::string help = {};
    /** Such as seconds, which the name has to end with, after an underscore; the same for all of one name. */
    std::string unit = {};
    /** Values and bounds are divided by this before they are written: 1e9 for nanoseconds that are to be seconds. */
    double divisor = 1;
    /** What tells histograms of one name apart: {{"method", "GET"}}. */
    std::vector<std::pair<std::string, std::string>> labels = {};
    /** Since when there are counts; the epoch, which is the default, stands for now. */
    std::chrono::system_clock::time_point created = {};
    /** Whether to tell since when there are counts. */
    bool writes_created = true;
    /** Whether Prometheus is to have a native histogram where its format has them. */
    bool native = false;
    /** How many exponential buckets may have counts before they become coarser; 0: 320. */
    std::uint32_t max_buckets = 0;
    /** Whether to write the counts since the last reset rather than all. */
    bool since_reset = false;
};

/** The formats of a registry. */
enum class exposition : std::uint32_t {
    openmetrics = PICOLLO_EXPOSITION_OPENMETRICS,
    prometheus_text = PICOLLO_EXPOSITION_PROMETHEUS_TEXT,
    prometheus_protobuf = PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF,
    otlp = PICOLLO_EXPOSITION_OTLP
};

/** A number that only grows, of a registry, which it may outlive. Any thread may call. */
class metric_counter {
public:
    explicit metric_counter(picollo_metric_counter *owned) noexcept : handle_(owned) {}

    /** One atomic addition. */
    void add(std::uint64_t count = 1) noexcept { picollo_metric_counter_add(native(), count); }

    std::uint64_t value() const noexcept
    {
        std::uint64_t count = 0;
        /* Refuses NULL alone. */
        static_cast<void>(picollo_metric_counter_read(native(), &count));
        return count;
    }

    picollo_metric_counter *native() const noexcept { return handle_.get(); }

private:
    detail::handle<picollo_metric_counter, picollo_metric_counter_free> handle_;
};

/** A number that goes up and down, of a registry, which it may outlive. Any thread may call. */
class metric_gauge {
public:
    explicit metric_gauge(picollo_metric_gauge *owned) noexcept : handle_(owned) {}

    void set(double value) noexcept { picollo_metric_gauge_set(native(), value); }
    /** Also what is negative. */
    void add(double value) noexcept { picollo_metric_gauge_add(native(), value); }

    double value() const noexcept
    {
        double number = 0;
        /* Refuses NULL alone. */
        static_cast<void>(picollo_metric_gauge_read(native(), &number));
        return number;
    }

    picollo_metric_gauge *native() const noexcept { return handle_.get(); }

private:
    detail::handle<picollo_metric_gauge, picollo_metric_gauge_free> handle_;
};

/** Histograms with names and labels, of which it holds references. Any thread may call. */
class registry {
public:
    /** The media type of text(). */
    static constexpr const char *media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    explicit registry(picollo_registry *owned) noexcept : handle_(owned) {}

    static outcome<registry> create()
    {
        picollo_registry *made = nullptr;
        const picollo_status code = picollo_registry_create(&made);
        if (code != PICOLLO_OK) return detail::fail<registry>(code);
        return registry(made);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    registry() : registry(create()) {}
#endif

    /** Adds a histogram, and tells its number. Bounds are the largest values of the buckets that are written, as recorded and
     * ascending; without, there is one below each power of four in range. */
    outcome<std::uint64_t> add(const histogram &what, const metric &known_as, span<const std::uint64_t> bounds = {})
    {
        return added(known_as, [&](const picollo_metric_options *native_metric, std::uint64_t *id) {
            return picollo_registry_add(native(), what.native(), native_metric, bounds.data(), bounds.size(), id);
        });
    }
    /** Of doubles, looked at since their last collection: to collect them otherwise starts the metric anew. */
    outcome<std::uint64_t> add(const double_histogram &what, const metric &known_as, span<const double> bounds = {})
    {
        return added(known_as, [&](const picollo_metric_options *native_metric, std::uint64_t *id) {
            return picollo_registry_add_double(native(), what.native(), native_metric, bounds.data(), bounds.size(), id);
        });
    }

    /** Adds a new counter. Its number goes to id, for remove. */
    outcome<metric_counter> add_counter(const metric &known_as, std::uint64_t *id = nullptr)
    {
        picollo_metric_counter *made = nullptr;
        const picollo_status code = status_of(known_as, [&](const picollo_metric_options *native_metric) {
            return picollo_registry_add_counter(native(), native_metric, &made, id);
        });
        if (code != PICOLLO_OK) return detail::fail<metric_counter>(code);
        return metric_counter(made);
    }

    /** Adds a new gauge. As add_counter. */
    outcome<metric_gauge> add_gauge(const metric &known_as, std::uint64_t *id = nullptr)
    {
        picollo_metric_gauge *made = nullptr;
        const picollo_status code = status_of(known_as, [&](const picollo_metric_options *native_metric) {
            return picollo_registry_add_gauge(native(), native_metric, &made, id);
        });
        if (code != PICOLLO_OK) return detail::fail<metric_gauge>(code);
        return metric_gauge(made);
    }

    outcome<void> remove(std::uint64_t id) { return detail::done(picollo_registry_remove(native(), id)); }

    /** Takes the counts of all metrics, of histograms since they were made, while others record and reset. */
    outcome<void> update() { return detail::done(picollo_registry_update(native())); }

    /** What the last update has taken, as OpenMetrics text. Allocates. */
    outcome<std::string> text() const
    {
        return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return picollo_registry_encode(native(), PICOLLO_EXPOSITION_OPENMETRICS, buffer, capacity, length);
        });
    }

    /** What the last update has taken, in a format, some of which are no text. Allocates. */
    outcome<std::vector<unsigned char>> encode(exposition format) const
    {
        std::vector<unsigned char> bytes;
        std::size_t length = 0;
        picollo_status code;
        /* Again where another thread has added to it meanwhile. */
        do {
            bytes.resize(length);
            code = picollo_registry_encode(native(), static_cast<std::uint32_t>(format), bytes.data(), bytes.size(), &length);
        } while (code == PICOLLO_ERR_BUFFER_TOO_SMALL);
        if (code != PICOLLO_OK) return detail::fail<std::vector<unsigned char>>(code);
        bytes.resize(length);
        return bytes;
    }

    picollo_registry *native() const noexcept { return handle_.get(); }

private:
    /* Takes what is said of metrics as registries do. */
    friend class segment;

    template <class Add>
    static outcome<std::uint64_t> added(const metric &known_as, Add &&add)
    {
        std::uint64_t id = 0;
        const picollo_status code =
            status_of(known_as, [&](const picollo_metric_options *native_metric) { return add(native_metric, &id); });
        return detail::filled(code, id);
    }

    template <class Add>
    static picollo_status status_of(const metric &known_as, Add &&add)
    {
        std::vector<picollo_label> labels;
        /* The library copies what it is given, but sees no further than a NUL. */
        bool whole = no_nul(known_as.name) && no_nul(known_as.help) && no_nul(known_as.unit);
        for (const auto &label : known_as.labels) {
            whole = whole && no_nul(label.first) && no_nul(label.second);
            labels.push_back({label.first.c_str(), label.second.c_str()});
        }
        picollo_metric_options options = PICOLLO_METRIC_OPTIONS_INIT;
        options.flags = (known_as.writes_created ? 0 : PICOLLO_METRIC_NO_CREATED) | (known_as.native ? PICOLLO_METRIC_NATIVE : 0) |
            (known_as.since_reset ? PICOLLO_METRIC_SINCE_RESET : 0);
        options.max_buckets = known_as.max_buckets;
        /* Zero is the library's word for one, and no divisor. */
        options.divisor = known_as.divisor == 0 ? std::nan("") : known_as.divisor;
        options.labels = labels.data();
        options.labels_length = labels.size();
        options.created_unix_nanos = count_of<std::chrono::nanoseconds>(known_as.created.time_since_epoch());
        options.name = known_as.name.c_str();
        options.help = known_as.help.c_str();
        options.unit = known_as.unit.c_str();
        return whole ? add(&options) : PICOLLO_ERR_INVALID_ARGUMENT;
    }

    static bool no_nul(const std::string &text) noexcept { return text.find('\0') == std::string::npos; }

    detail::handle<picollo_registry, picollo_registry_free> handle_;
};

/** A counter of one word that many threads share: exact to 2^threshold_bits, from there on in random steps that grow with it, so
 * that the busier it is the less threads contend. 0.9 % for 13 bits. */
template <unsigned ThresholdBits = PICOLLO_SCALABLE_THRESHOLD_BITS>
class scalable_counter {
    static_assert(ThresholdBits >= 1 && ThresholdBits <= 31, "a threshold has 1 to 31 bits");

public:
    scalable_counter() noexcept = default;
    scalable_counter(const scalable_counter &) = delete;
    scalable_counter &operator=(const scalable_counter &) = delete;

    void add(std::uint64_t count = 1) noexcept { picollo_scalable_counter_add_n64(&word_, count, ThresholdBits); }
    /** What was counted, or about that. */
    std::uint64_t value() const noexcept { return picollo_counter_read64(&word_); }

private:
    std::uint64_t word_ = 0;
};

/** An exact counter that many threads share, of sixteen words. */
class striped_counter {
public:
    explicit striped_counter(picollo_striped_counter *owned) noexcept : handle_(owned) {}

    static outcome<striped_counter> create()
    {
        picollo_striped_counter *made = nullptr;
        const picollo_status code = picollo_striped_counter_create(&made);
        if (code != PICOLLO_OK) return detail::fail<striped_counter>(code);
        return striped_counter(made);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    striped_counter() : striped_counter(create()) {}
#endif

    void add(std::uint64_t count = 1) noexcept { picollo_striped_counter_add(native(), count); }

    /** The sum of the words; what is counted meanwhile may be in it or not. */
    std::uint64_t value() const noexcept
    {
        std::uint64_t count = 0;
        /* Refuses NULL alone. */
        static_cast<void>(picollo_striped_counter_read(native(), &count));
        return count;
    }

    picollo_striped_counter *native() const noexcept { return handle_.get(); }

private:
    detail::handle<picollo_striped_counter, picollo_striped_counter_free> handle_;
};

} } // namespace picollo

#endif /* PICOLLO_REGISTRY_HPP */
