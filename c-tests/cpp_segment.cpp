/* picollo_segment.hpp. Compiled with exceptions and without. */
#include "cpp_test.hpp"

#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

static_assert(moves_only<picollo::segment>);

static char place[] = "/dev/shm/picollo-cpp-XXXXXX";

static picollo::metric request(const std::string &route)
{
    picollo::metric metric;
    metric.name = "request";
    metric.unit = "ns";
    metric.labels = {{"route", route}};
    return metric;
}

static void segments()
{
    picollo::segment_options how;
    how.name = "checkout";
    how.directory = place;
    how.max_bytes = 8 << 20;
    picollo::segment segment = must(picollo::segment::create(how));
    picollo::histogram latency = must(segment.histogram(request("/pay")));
    picollo::metric known_as;
    known_as.name = "requests";
    picollo::metric_counter requests = must(segment.counter(known_as));
    const std::string path = must(segment.path());
    {
        picollo::segment same = must(picollo::segment::attach(path));
        picollo::histogram other = must(same.histogram(request("/pay")));
        std::thread thread([&] {
            for (int i = 0; i < 1000; i++) other.record(1000);
        });
        for (int i = 0; i < 1000; i++) latency.record(1000);
        thread.join();
        requests.add(2000);
    }
    CHECK_U64(2000, must(latency.summary()).total_count());
    CHECK_U64(2000, requests.value());
    picollo::metric striped_as;
    striped_as.name = "striped";
    striped_as.striped = true;
    picollo::metric_counter striped = must(segment.counter(striped_as));
    striped.add(3);
    must(segment.counter(striped_as)).add(4);
    CHECK_U64(7, striped.value());
    striped_as.striped = false;
    FAILS(incompatible, segment.counter(striped_as));
    must(segment.retire(request("/pay")));
    FAILS(invalid_argument, segment.retire(request("/pay")));
    CHECK(must(picollo::segment::estimate(picollo::options().mode(picollo::mode::single_writer))) > 1000);

    must(segment.histogram(request("/")));
    FAILS(incompatible, segment.histogram(request("/"), picollo::options().relative_error(0.1)));
    FAILS(unsupported, segment.histogram(request("/x"), picollo::options().mode(picollo::mode::per_thread)));
    FAILS(incompatible, segment.counter(request("/")));
    FAILS(invalid_argument, segment.counter(picollo::metric()));
    FAILS(os, picollo::segment::attach(std::string(place) + "/nothing.1.2"));
}

/* Objects made without options. */
static void constructors()
{
#ifndef PICOLLO_NO_EXCEPTIONS
    CHECK_U64(0, picollo::double_snapshot().statistics().count);
    CHECK_U64(0, picollo::snapshot(digits().snapshot().layout()).counts().total);
    setenv("PICOLLO_DIR", place, 1);
    CHECK(picollo::segment(std::string("named")).path().find("/named.") != std::string::npos);
    unsetenv("PICOLLO_DIR");
#endif
}

static void remove_place()
{
    (void)rmdir(place);
}

int main()
{
    /* Registered before the library's own handler, which removes the files, so that it runs after it. */
    if (mkdtemp(place) == nullptr || std::atexit(remove_place) != 0) SKIPPED("no directory in /dev/shm");
    else {
        RUN(segments);
        RUN(constructors);
    }
    return report();
}
