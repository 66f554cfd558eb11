/* Segments and viewers through picollo.hpp. With exceptions and without. */
#include "cpp_test.hpp"

#include <cstdlib>
#include <thread>
#include <type_traits>
#include <unistd.h>

static_assert(std::is_nothrow_move_constructible_v<picollo::segment> && !std::is_copy_constructible_v<picollo::segment>);
static_assert(std::is_nothrow_move_constructible_v<picollo::viewer> && !std::is_copy_constructible_v<picollo::viewer>);

static char place[] = "/dev/shm/picollo-cpp-XXXXXX";

static picollo::segment segment_of(const char *name)
{
    picollo::segment_options how;
    how.name = name;
    how.directory = place;
    how.max_bytes = 8 << 20;
    return must(picollo::segment::create(how));
}

static picollo::metric request(const std::string &route)
{
    picollo::metric metric;
    metric.name = "request";
    metric.unit = "ns";
    metric.labels = {{"route", route}};
    return metric;
}

static void published_is_viewed()
{
    picollo::segment segment = segment_of("checkout");
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
    {
        picollo::metric striped_as;
        striped_as.name = "striped";
        picollo::striped_counter striped = must(segment.striped_counter(striped_as));
        striped.add(3);
        must(segment.striped_counter(striped_as)).add(4);
        CHECK_U64(7, striped.value());
        CHECK_U64(7, must(must(picollo::viewer::open(path)).count(2)));
        FAILS(incompatible, segment.counter(striped_as));
        FAILS(incompatible, segment.striped_counter(known_as));
        must(segment.retire(striped_as));
    }
    picollo::viewer viewer = must(picollo::viewer::open(path));
    CHECK_STRING(path, must(viewer.path()));
    const std::vector<picollo::segment_entry> entries = must(viewer.entries());
    CHECK_U64(2, entries.size());
    CHECK(entries[0].is_histogram && !entries[0].is_counter && entries[0].name == "request" && entries[0].unit == "ns");
    CHECK(entries[0].labels.size() == 1 && entries[0].labels[0].second == "/pay" && entries[0].divisor == 1);
    CHECK(entries[0].created.time_since_epoch().count() > 0 && entries[0].bytes > 0 && entries[0].writer_pid == 0);
    CHECK(entries[1].is_counter);
    const picollo_segment_info info = must(viewer.info());
    CHECK(info.is_live == 1 && info.entries == 2 && info.pid == static_cast<std::uint32_t>(getpid()));
    CHECK_STRING("checkout", info.name);

    picollo::snapshot snapshot = must(viewer.snapshot(0));
    CHECK_U64(2000, must(snapshot.counts()).total);
    CHECK_U64(2000, must(viewer.count(1)));
    latency.record(5);
    must(viewer.update(0, snapshot, picollo::since::previous_update));
    CHECK_U64(1, must(snapshot.counts()).total);
    FAILS(unsupported, snapshot.update());
    FAILS(invalid_argument, viewer.snapshot(1));
    FAILS(invalid_argument, viewer.count(0));

    /* New ones are found; the old ones stay where they are. */
    must(segment.histogram(request("/buy"), picollo::options().mode(picollo::mode::single_writer)));
    must(viewer.refresh());
    CHECK_U64(3, must(viewer.entries()).size());
    must(segment.retire(request("/pay")));
    FAILS(invalid_argument, segment.retire(request("/pay")));
    must(viewer.refresh());
    CHECK(must(viewer.entries())[0].is_retired && !must(viewer.entries())[2].is_retired);
    CHECK_STRING("", must(viewer.faults()));
    const std::uint64_t bytes = must(picollo::segment::estimate(picollo::options().mode(picollo::mode::single_writer)));
    CHECK(bytes >= entries[0].bytes / 8 && bytes < entries[0].bytes + 4096);
    CHECK(must(viewer.entries())[2].writer_pid == static_cast<std::uint32_t>(getpid()));
}

static void refusals_say_why()
{
    picollo::segment segment = segment_of("refusals");
    must(segment.histogram(request("/")));
    FAILS(incompatible, segment.histogram(request("/"), picollo::options().relative_error(0.1)));
    FAILS(unsupported, segment.histogram(request("/x"), picollo::options().mode(picollo::mode::scalable)));
    FAILS(incompatible, segment.counter(request("/")));
    FAILS(invalid_argument, segment.counter(picollo::metric()));
    FAILS(os, picollo::viewer::open(std::string(place) + "/nothing"));
    FAILS(permission, picollo::viewer::open("/dev/null"));
    FAILS(invalid_argument, picollo::viewer::find("nobody-is-called-so"));
    FAILS(os, picollo::segment::attach(std::string(place) + "/nothing.1.2"));
    CHECK(must(picollo::viewer::list()).find(must(segment.path()) + "\n") != std::string::npos);
    CHECK_STRING(must(segment.path()), must(must(picollo::viewer::find("refusals")).path()));
}

static void remove_place()
{
    (void)rmdir(place);
}

int main()
{
    /* Before the library's own handler is there, which removes the files: it then runs after it. */
    if (mkdtemp(place) == nullptr || setenv("PICOLLO_DIR", place, 1) != 0 || std::atexit(remove_place) != 0) {
        SKIPPED("no directory in /dev/shm");
        return 0;
    }
    RUN(published_is_viewed);
    RUN(refusals_say_why);
    return report();
}
