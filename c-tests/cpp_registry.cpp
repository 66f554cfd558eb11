/* Registries through picollo.hpp: what is written, exemplars, exports, texts of any bytes, many labels, forks. With exceptions and without. */
#include "cpp_test.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

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
        metric = picollo::metric();
        metric.name = "plain";
        metric.divisor = 0;
        FAILS(invalid_argument, registry.add(latency, metric));
        latency.record_n(500000, 3);
    }
    picollo::metric of_doubles;
    of_doubles.name = "skew";
    of_doubles.writes_created = false;
    must(registry.add(skew, of_doubles));
    skew.record(0.5);
    must(registry.update());
    const std::string text = must(registry.text());
    /* The histogram is held, though its owner is gone. */
    CHECK(text.find("request_seconds_count{method=\"GET\"} 3\n") != std::string::npos);
    CHECK(text.find("skew_count 1\n") != std::string::npos && text.find("skew_created") == std::string::npos);
    picollo::metric counted;
    counted.name = "hits";
    std::uint64_t hits_id = 0;
    picollo::metric_counter hits = must(registry.add_counter(counted, &hits_id));
    FAILS(invalid_argument, registry.add_counter(counted));
    counted.name = "depth";
    picollo::metric_gauge depth = must(registry.add_gauge(counted));
    FAILS(invalid_argument, registry.add_gauge(counted));
    hits.add();
    hits.add(4);
    depth.set(2);
    depth.add(-3.5);
    CHECK(hits.value() == 5 && depth.value() == -1.5);
    must(registry.update());
    const std::vector<unsigned char> plain = must(registry.encode(picollo::exposition::prometheus_text));
    const std::string lines(plain.begin(), plain.end());
    CHECK(lines.find("\nhits_total 5\n") != std::string::npos && lines.find("\ndepth -1.5\n") != std::string::npos);
    CHECK(!must(registry.encode(picollo::exposition::otlp)).empty());
    must(registry.remove(hits_id));
    must(registry.remove(id));
    FAILS(invalid_argument, registry.remove(id));
    CHECK(must(registry.text()).find("GET") == std::string::npos);
}

static void summaries()
{
    picollo::registry registry = must(picollo::registry::create());
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::metric metric;
    metric.name = "x";
    metric.summary = true;
    must(registry.add(histogram, metric));
    for (std::uint64_t value = 1; value <= 100; value++) histogram.record(value);
    must(registry.update());
    CHECK(must(registry.text()).find("x{quantile=\"0.99\"} 99.0\n") != std::string::npos);
}

static bool has(const std::vector<unsigned char> &bytes, const std::string &what)
{
    return std::search(bytes.begin(), bytes.end(), what.begin(), what.end()) != bytes.end();
}

static void exemplars_and_exports()
{
    picollo::registry registry = must(picollo::registry::create());
    picollo::metric metric;
    metric.name = "hits";
    metric.writes_created = false;
    std::uint64_t id = 0;
    picollo::metric_counter hits = must(registry.add_counter(metric, &id));
    hits.add(3);
    picollo::metric_exemplar slow[2];
    slow[0].value = 7;
    slow[0].when = std::chrono::system_clock::time_point(std::chrono::seconds(1500000000));
    slow[0].trace_id = {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c};
    slow[0].labels = {{"who", "me"}};
    must(registry.set_exemplars(id, slow));
    must(registry.update());
    const std::string line = "hits_total 3 # {trace_id=\"0af7651916cd43dd8448eb211c80319c\",who=\"me\"} 7.0 1500000000.000\n";
    CHECK(must(registry.text()).find(line) != std::string::npos);
    slow[1].labels = {{"who", std::string("m\0e", 3)}};
    FAILS(invalid_argument, registry.set_exemplars(id, slow));
    slow[1].labels = {{"who", std::string(126, 'm')}};
    FAILS(invalid_argument, registry.set_exemplars(id, slow));
    FAILS(invalid_argument, registry.set_exemplars(id + 1, {}));
    CHECK(must(registry.text()).find(line) != std::string::npos);
    must(registry.set_exemplars(id, {}));
    CHECK(must(registry.text()).find("# {") == std::string::npos);

    picollo::otlp_export delta = must(picollo::otlp_export::create(picollo::temporality::delta, {{"service.name", "shop"}}));
    picollo::otlp_export all = must(picollo::otlp_export::create());
    FAILS(invalid_argument, picollo::otlp_export::create(picollo::temporality::delta, {{std::string(1, '\0'), ""}}));
    FAILS(empty, delta.accept());
    CHECK(must(delta.request()).empty());
    /* Of a sum's point, a number of eight bytes in field 6. */
    const auto three = std::string("\x31\3\0\0\0\0\0\0\0", 9), five = std::string("\x31\5\0\0\0\0\0\0\0", 9);
    must(delta.update(registry));
    CHECK(has(must(delta.request()), "service.name") && has(must(delta.request()), "shop") && has(must(delta.request()), three));
    /* Not accepted: the next has all of it. */
    hits.add(2);
    must(delta.update(registry));
    CHECK(has(must(delta.request()), five));
    must(delta.accept());
    CHECK(must(delta.request()).empty());
    hits.add(3);
    must(delta.update(registry));
    CHECK(has(must(delta.request()), three));
    must(all.update(registry));
    CHECK(has(must(all.request()), std::string("\x31\x08\0\0\0\0\0\0\0", 9)) && !has(must(all.request()), "shop"));
    picollo::otlp_export moved = std::move(delta);
    must(moved.accept());
    FAILS(empty, moved.accept());
}

/* Whatever bytes: refused where they cannot be, and one line where they can. */
static void hostile_texts()
{
    picollo::registry registry = must(picollo::registry::create());
    picollo::metric metric;
    for (const char *bad : {"\xff", "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\xc3"}) {
        for (int place = 0; place < 5; place++) {
            metric = picollo::metric();
            metric.name = place == 0 ? bad : "x";
            if (place == 1) metric.labels = {{bad, "b"}};
            if (place == 2) metric.labels = {{"b", bad}};
            if (place == 3) metric.help = bad;
            if (place == 4) metric.unit = bad;
            FAILS(invalid_argument, registry.add_counter(metric));
        }
    }
    for (const char *bad : {"a\n", "a\"b", "a{b", "\xc3\xa9", " ", ""}) {
        metric = picollo::metric();
        metric.name = bad;
        FAILS(invalid_argument, registry.add_gauge(metric));
    }
    metric = picollo::metric();
    metric.name = "x";
    metric.help = "\x01\r\n\"\\}# {\xf4\x8f\xbf\xbf";
    metric.labels = {{"a", metric.help}};
    metric.writes_created = false;
    must(registry.add_counter(metric));
    CHECK(must(registry.text()) == "# TYPE x counter\n# HELP x \x01\r\\n\\\"\\\\}# {\xf4\x8f\xbf\xbf\n"
                                   "x_total{a=\"\x01\r\\n\\\"\\\\}# {\xf4\x8f\xbf\xbf\"} 0\n# EOF\n");
}

static void a_thousand_label_sets()
{
    picollo::registry registry = must(picollo::registry::create());
    picollo::histogram histogram = must(picollo::histogram::create());
    picollo::metric metric;
    metric.name = "x";
    std::vector<std::uint64_t> ids;
    for (int number = 0; number < 1000; number++) {
        metric.labels = {{"a", std::to_string(number)}, {"b", std::to_string(number % 7)}};
        ids.push_back(must(registry.add(histogram, metric)));
    }
    FAILS(invalid_argument, registry.add(histogram, metric));
    histogram.record_n(5, 3);
    must(registry.update());
    const std::string text = must(registry.text());
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find("\nx_count{", at)) != std::string::npos; at++) {
        const std::string number = std::to_string(found), line = "\nx_count{a=\"" + number + "\",b=\"" + std::to_string(found % 7) + "\"} 3\n";
        CHECK(text.compare(at, line.size(), line) == 0);
        found++;
    }
    CHECK_U64(1000, found);
    CHECK(text.find("# TYPE", 1) == std::string::npos);
    for (const std::uint64_t id : ids) must(registry.remove(id));
    CHECK(must(registry.text()) == "# EOF\n");
}

/* A child goes on with its copy, and its parent's is not touched. */
static void a_forked_registry()
{
    if (is_quick()) {
        SKIPPED("in the child, memcheck misses what belonged to the parent");
        return;
    }
    picollo::registry registry = must(picollo::registry::create());
    picollo::otlp_export otlp = must(picollo::otlp_export::create(picollo::temporality::delta));
    picollo::metric metric;
    metric.name = "hits";
    picollo::metric_counter hits = must(registry.add_counter(metric));
    hits.add(1);
    must(otlp.update(registry));
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        hits.add(1);
        metric.name = "more";
        bool right = must(registry.add_counter(metric)).value() == 0;
        must(otlp.accept());
        must(otlp.update(registry));
        right = right && must(registry.text()).find("hits_total 2\n") != std::string::npos && !must(otlp.request()).empty();
        _exit(right ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    must(registry.update());
    const std::string text = must(registry.text());
    CHECK(text.find("hits_total 1\n") != std::string::npos && text.find("more") == std::string::npos);
    must(otlp.accept());
}

int main()
{
    RUN(registries);
    RUN(summaries);
    RUN(exemplars_and_exports);
    RUN(hostile_texts);
    RUN(a_thousand_label_sets);
    RUN(a_forked_registry);
    return report();
}
