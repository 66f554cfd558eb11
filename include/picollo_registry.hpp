/* Histograms, counters and gauges with names and labels, for Prometheus and OpenTelemetry, in C++17; and counters that threads
 * share. Include picollo.hpp. */
#ifndef PICOLLO_REGISTRY_HPP
#define PICOLLO_REGISTRY_HPP

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "picollo_counter.h"
#include "picollo_double.hpp"
#include "picollo_histogram.hpp"
#include "picollo_metrics.h"
#include "picollo_result.hpp"

PICOLLO_NAMESPACE {

/** The description of a metric; see picollo_metric_options and PICOLLO_METRIC_.... Strings are UTF-8. */
struct metric {
    std::string name;
    std::string help = {};
    std::string unit = {};
    double divisor = 1; /**< 0: 1. */
    /** Distinguishes metrics with the same name: {{"method", "GET"}}. */
    std::vector<std::pair<std::string, std::string>> labels = {};
    /** Time at which counting began; the epoch, which is the default, means now. */
    std::chrono::system_clock::time_point created = {};
    bool writes_created = true;
    bool native = false;
    std::uint32_t max_buckets = 0;
    bool since_reset = false;
    bool summary = false;
    bool striped = false;
};

/** The formats of a registry. */
enum class exposition : std::uint32_t {
    openmetrics = PICOLLO_EXPOSITION_OPENMETRICS,
    prometheus_text = PICOLLO_EXPOSITION_PROMETHEUS_TEXT,
    prometheus_protobuf = PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF,
    otlp = PICOLLO_EXPOSITION_OTLP
};

/** An observation that is written with a metric and leads further, for example to its trace; see picollo_metric_exemplar. */
struct metric_exemplar {
    double value = 0;
    /** Time of the observation; the epoch, which is the default, means unknown. */
    std::chrono::system_clock::time_point when = {};
    std::array<std::uint8_t, 16> trace_id = {};
    std::array<std::uint8_t, 8> span_id = {};
    std::vector<std::pair<std::string, std::string>> labels = {};
};

namespace detail {

/** Labels for the library, which copies them. They end at a NUL. */
class native_labels {
public:
    explicit native_labels(const std::vector<std::pair<std::string, std::string>> &labels)
    {
        for (const auto &label : labels) {
            whole_ = whole_ && no_nul(label.first) && no_nul(label.second);
            list_.push_back({label.first.c_str(), label.second.c_str()});
        }
    }

    static bool no_nul(const std::string &text) noexcept { return text.find('\0') == std::string::npos; }
    bool is_whole() const noexcept { return whole_; }
    const picollo_label *data() const noexcept { return list_.data(); }
    std::size_t size() const noexcept { return list_.size(); }

private:
    std::vector<picollo_label> list_;
    bool whole_ = true;
};

} // namespace detail

/** A number of a registry that only grows. It may outlive the registry. Any thread may call. */
class metric_counter : public detail::handle<picollo_metric_counter, picollo_metric_counter_free> {
public:
    using handle::handle;

    /** One atomic addition. */
    void add(std::uint64_t count = 1) noexcept { picollo_metric_counter_add(native(), count); }

    std::uint64_t value() const noexcept
    {
        std::uint64_t count = 0;
        /* Refuses NULL alone. */
        static_cast<void>(picollo_metric_counter_read(native(), &count));
        return count;
    }
};

/** A number of a registry that goes up and down. It may outlive the registry. Any thread may call. */
class metric_gauge : public detail::handle<picollo_metric_gauge, picollo_metric_gauge_free> {
public:
    using handle::handle;

    void set(double value) noexcept { picollo_metric_gauge_set(native(), value); }
    /** The value may be negative. */
    void add(double value) noexcept { picollo_metric_gauge_add(native(), value); }

    double value() const noexcept
    {
        double number = 0;
        /* Refuses NULL alone. */
        static_cast<void>(picollo_metric_gauge_read(native(), &number));
        return number;
    }
};

/** Metrics with names and labels. It holds references to them. Any thread may call. */
class registry : public detail::handle<picollo_registry, picollo_registry_free> {
public:
    using handle::handle;

    /** The media type of text(). */
    static constexpr const char *media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    static outcome<registry> create() { return detail::made<registry>(picollo_registry_create); }

#ifndef PICOLLO_NO_EXCEPTIONS
    registry() : registry(create()) {}
#endif

    /** Adds a histogram, and returns its id. Bounds are the largest values of the written buckets, as recorded and ascending.
     * By default there is one below each power of four in range. */
    outcome<std::uint64_t> add(const histogram &what, const metric &known_as, span<const std::uint64_t> bounds = {})
    {
        return added(known_as, [&](const picollo_metric_options *native_metric, std::uint64_t *id, picollo_error *why) {
            return picollo_registry_add(native(), what.native(), native_metric, bounds.data(), bounds.size(), id, why);
        });
    }
    /** Adds a histogram of doubles, which is read since its last collection. Collecting it elsewhere restarts the metric. */
    outcome<std::uint64_t> add(const double_histogram &what, const metric &known_as, span<const double> bounds = {})
    {
        return added(known_as, [&](const picollo_metric_options *native_metric, std::uint64_t *id, picollo_error *why) {
            return picollo_registry_add_double(native(), what.native(), native_metric, bounds.data(), bounds.size(), id, why);
        });
    }

    outcome<metric_counter> add_counter(const metric &known_as, std::uint64_t *id = nullptr)
    {
        return detail::made_or_explained<metric_counter>([&](picollo_metric_counter **made, picollo_error *why) {
            return status_of(known_as, [&](const picollo_metric_options *native_metric) {
                return picollo_registry_add_counter(native(), native_metric, made, id, why);
            });
        });
    }

    /** Adds a new gauge; see add_counter. */
    outcome<metric_gauge> add_gauge(const metric &known_as, std::uint64_t *id = nullptr)
    {
        return detail::made_or_explained<metric_gauge>([&](picollo_metric_gauge **made, picollo_error *why) {
            return status_of(known_as, [&](const picollo_metric_options *native_metric) {
                return picollo_registry_add_gauge(native(), native_metric, made, id, why);
            });
        });
    }

    outcome<void> set_exemplars(std::uint64_t id, span<const metric_exemplar> exemplars)
    {
        std::vector<detail::native_labels> labels;
        std::vector<picollo_metric_exemplar> list;
        /* Elements must not move, because pointers lead to them. */
        labels.reserve(exemplars.size());
        bool whole = true;
        for (std::size_t at = 0; at < exemplars.size(); at++) {
            const metric_exemplar &given = exemplars.data()[at];
            labels.emplace_back(given.labels);
            whole = whole && labels.back().is_whole();
            picollo_metric_exemplar one = {};
            one.value = given.value;
            one.unix_nanos = count_of<std::chrono::nanoseconds>(given.when.time_since_epoch());
            std::copy(given.trace_id.begin(), given.trace_id.end(), one.trace_id);
            std::copy(given.span_id.begin(), given.span_id.end(), one.span_id);
            one.labels = labels.back().data();
            one.labels_length = labels.back().size();
            list.push_back(one);
        }
        if (!whole) return detail::done(PICOLLO_ERR_INVALID_ARGUMENT);
        return detail::done_or_explained(picollo_registry_set_exemplars, native(), id, list.data(), list.size());
    }

    outcome<void> remove(std::uint64_t id) { return detail::done(picollo_registry_remove(native(), id)); }

    outcome<void> update() { return detail::done(picollo_registry_update(native())); }

    /** The counts of the last update as OpenMetrics text. Allocates. */
    outcome<std::string> text() const
    {
        return detail::written(picollo_registry_encode, native(), std::uint32_t{PICOLLO_EXPOSITION_OPENMETRICS});
    }

    /** The counts of the last update in a format, which may be binary. Allocates. */
    outcome<std::vector<unsigned char>> encode(exposition format) const
    {
        return detail::listed<unsigned char>(picollo_registry_encode, native(), static_cast<std::uint32_t>(format));
    }

private:
    /* It uses the registry's description of metrics. */
    friend class segment;

    template <class Add>
    static outcome<std::uint64_t> added(const metric &known_as, Add &&add)
    {
        std::uint64_t id = 0;
        picollo_error why = {};
        const picollo_status code =
            status_of(known_as, [&](const picollo_metric_options *native_metric) { return add(native_metric, &id, &why); });
        return detail::filled(code, id, &why);
    }

    template <class Add>
    static picollo_status status_of(const metric &known_as, Add &&add)
    {
        const detail::native_labels labels(known_as.labels);
        const auto no_nul = detail::native_labels::no_nul;
        const bool whole = labels.is_whole() && no_nul(known_as.name) && no_nul(known_as.help) && no_nul(known_as.unit);
        picollo_metric_options options = PICOLLO_METRIC_OPTIONS_INIT;
        options.flags = (known_as.writes_created ? 0 : PICOLLO_METRIC_NO_CREATED) | (known_as.native ? PICOLLO_METRIC_NATIVE : 0) |
            (known_as.since_reset ? PICOLLO_METRIC_SINCE_RESET : 0) | (known_as.summary ? PICOLLO_METRIC_SUMMARY : 0) |
            (known_as.striped ? PICOLLO_METRIC_STRIPED : 0);
        options.max_buckets = known_as.max_buckets;
        options.divisor = known_as.divisor;
        options.labels = labels.data();
        options.labels_length = labels.size();
        options.created_unix_nanos = count_of<std::chrono::nanoseconds>(known_as.created.time_since_epoch());
        options.name = known_as.name.c_str();
        options.help = known_as.help.c_str();
        options.unit = known_as.unit.c_str();
        return whole ? add(&options) : PICOLLO_ERR_INVALID_ARGUMENT;
    }
};

/** Options of a server; see picollo_server_options. Zero and empty mean the defaults. */
struct server_options {
    std::string path = {};
    /** Further names of a server on a loopback address, separated by commas. */
    std::string hosts = {};
    std::uint32_t connections = 0;
    /** Longest time to receive a request. */
    std::chrono::duration<double> timeout = {};
};

/** Serves a registry's metrics over HTTP in its own threads, until it is destroyed or stopped. It keeps the registry. */
class server : public detail::handle<picollo_server, picollo_server_stop> {
public:
    using handle::handle;

    /** The address is 127.0.0.1:9464 or another with a port; a port; or unix:PATH. Port 0 is one that is free. */
    static outcome<server> start(
        registry &of, const std::string &address = "127.0.0.1:9464", const server_options &how = {})
    {
        picollo_server_options options = PICOLLO_SERVER_OPTIONS_INIT;
        options.connections = how.connections;
        options.timeout_seconds = how.timeout.count();
        options.path = how.path.c_str();
        options.hosts = how.hosts.c_str();
        return detail::made_or_explained<server>(picollo_server_start, of.native(), address.c_str(), &options);
    }

#ifndef PICOLLO_NO_EXCEPTIONS
    explicit server(registry &of, const std::string &address = "127.0.0.1:9464", const server_options &how = {})
        : server(start(of, address, how))
    {
    }
#endif

    /** Its address with the port: 127.0.0.1:9464 or unix:PATH. */
    outcome<std::string> address() const { return detail::written(picollo_server_address, native()); }

    /** Ends it, and waits for its threads. May be called again. */
    void stop() noexcept { *this = server(nullptr); }
};

/** A counter of one word that many threads share. It is exact up to 2^threshold_bits. Above, it counts in random steps that
 * grow with it, so threads contend less the higher the count is. The error is 0.9 % for 13 bits. */
template <unsigned ThresholdBits = PICOLLO_SCALABLE_THRESHOLD_BITS>
class scalable_counter {
    static_assert(ThresholdBits >= 1 && ThresholdBits <= 31, "a threshold has 1 to 31 bits");

public:
    scalable_counter() noexcept = default;
    scalable_counter(const scalable_counter &) = delete;
    scalable_counter &operator=(const scalable_counter &) = delete;

    void add(std::uint64_t count = 1) noexcept { picollo_scalable_counter_add_n64(&word_, count, ThresholdBits); }
    /** The count, exact or approximate. */
    std::uint64_t value() const noexcept { return picollo_counter_read64(&word_); }

private:
    std::uint64_t word_ = 0;
};

} } // namespace picollo

#endif /* PICOLLO_REGISTRY_HPP */
