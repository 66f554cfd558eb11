/* picollo_registry.hpp: registries, counters, gauges and servers. Compiled with exceptions and without. */
#include "cpp_test.hpp"

#include <thread>
#include <vector>

static_assert(moves_only<picollo::registry> && moves_only<picollo::metric_counter> && moves_only<picollo::server>);
static_assert(!std::is_copy_constructible_v<picollo::scalable_counter<>> && sizeof(picollo::scalable_counter<>) == 8);

static void registries()
{
    picollo::registry registry = must(picollo::registry::create());
    picollo::double_histogram skew = must(picollo::double_histogram::create());
    std::uint64_t id = 0;
    {
        picollo::histogram latency = must(picollo::histogram::create());
        picollo::metric metric;
        metric.name = "request_seconds";
        metric.unit = "seconds";
        metric.divisor = 1e9;
        metric.labels = {{"method", "GET"}};
        const std::uint64_t bounds[] = {999999, 1000000000};
        id = must(registry.add(latency, metric, bounds));
        FAILS(invalid_argument, registry.add(latency, metric));
        metric.name = std::string("a\0b", 3);
        FAILS(invalid_argument, registry.add(latency, metric));
#ifndef PICOLLO_NO_EXCEPTIONS
        try {
            must(registry.add(latency, metric));
        } catch (const picollo::error &refusal) {
            CHECK(refusal.event_index() == -1);
        }
#endif
        metric = picollo::metric();
        metric.name = "plain";
        metric.divisor = -1;
        FAILS(invalid_argument, registry.add(latency, metric));
        /* 0 means 1. */
        metric.divisor = 0;
        metric.summary = true;
        must(registry.add(latency, metric));
        latency.record_n(500000, 3);
    }
    picollo::metric of_doubles;
    of_doubles.name = "skew";
    of_doubles.writes_created = false;
    must(registry.add(skew, of_doubles));
    skew.record(0.5);
    picollo::metric counted;
    counted.name = "hits";
    counted.striped = true;
    counted.writes_created = false;
    std::uint64_t hits_id = 0;
    picollo::metric_counter hits = must(registry.add_counter(counted, &hits_id));
    FAILS(invalid_argument, registry.add_counter(counted));
    counted = picollo::metric();
    counted.name = "depth";
    picollo::metric_gauge depth = must(registry.add_gauge(counted));
    FAILS(invalid_argument, registry.add_gauge(counted));
    hits.add();
    hits.add(4);
    depth.set(2);
    depth.add(-3.5);
    CHECK(hits.value() == 5 && depth.value() == -1.5);
    picollo::metric_exemplar slow[2];
    slow[0].value = 7;
    slow[0].when = std::chrono::system_clock::time_point(std::chrono::seconds(1500000000));
    slow[0].trace_id = {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c};
    slow[0].labels = {{"who", "me"}};
    must(registry.set_exemplars(hits_id, slow));
    slow[1].labels = {{"who", std::string("m\0e", 3)}};
    FAILS(invalid_argument, registry.set_exemplars(hits_id, slow));
    FAILS(invalid_argument, registry.set_exemplars(hits_id + 100, {}));
    must(registry.update());
    const std::string text = must(registry.text());
    /* The registry holds the histogram though its owner is gone. */
    CHECK(text.find("request_seconds_count{method=\"GET\"} 3\n") != std::string::npos);
    CHECK(text.find("plain{quantile=\"0.99\"} ") != std::string::npos);
    CHECK(text.find("skew_count 1\n") != std::string::npos && text.find("skew_created") == std::string::npos);
    CHECK(text.find("hits_total 5 # {trace_id=\"0af7651916cd43dd8448eb211c80319c\",who=\"me\"} 7.0 1500000000.000\n") != std::string::npos);
    const std::vector<unsigned char> plain = must(registry.encode(picollo::exposition::prometheus_text));
    CHECK(std::string(plain.begin(), plain.end()).find("\ndepth -1.5\n") != std::string::npos);
    CHECK(!must(registry.encode(picollo::exposition::otlp)).empty());
    must(registry.set_exemplars(hits_id, {}));
    must(registry.remove(id));
    FAILS(invalid_argument, registry.remove(id));
    CHECK(must(registry.text()).find("GET") == std::string::npos);
}

static void servers()
{
    picollo::registry registry = must(picollo::registry::create());
    picollo::server_options how;
    how.path = "/here";
    how.hosts = "a.example";
    how.connections = 2;
    how.timeout = std::chrono::milliseconds(2500);
    picollo::server server = must(picollo::server::start(registry, "127.0.0.1:0", how));
    const std::string address = must(server.address());
    CHECK(address.rfind("127.0.0.1:", 0) == 0);
    FAILS(os, picollo::server::start(registry, address));
    how.path = "here";
    FAILS(invalid_argument, picollo::server::start(registry, "0", how));
    server.stop();
    server.stop();
    CHECK(server.native() == nullptr);
    must(must(picollo::server::start(registry, address)).address());
}

static void scalable_counters()
{
    picollo::scalable_counter<> about;
    for (int i = 0; i < 80000; i++) about.add();
    /* Seven standard deviations. */
    CHECK(about.value() > 75000 && about.value() < 85000);
    picollo::scalable_counter<20> few;
    few.add(1000);
    CHECK_U64(1000, few.value());
}

int main()
{
    RUN(registries);
    RUN(servers);
    RUN(scalable_counters);
    return report();
}
