/* picollo_picture.hpp. Compiled with exceptions and without. */
#include "cpp_test.hpp"

#include <vector>

static void pictures()
{
    picollo::histogram histogram = must(picollo::histogram::create());
    for (std::uint64_t i = 1; i < 1000; i++) histogram.record(i * i);
    const picollo::snapshot before = must(histogram.snapshot()), after = must(before.copy());
    CHECK_U64(30, must(picollo::sparkline(before, 30, true)).size());
    const std::string chart = must(picollo::chart(before, picollo::picture::percentiles, "Requests", "ns", 40, 5, true));
    CHECK(chart.find("Requests") != std::string::npos && std::count(chart.begin(), chart.end(), '\n') > 5);
    FAILS(invalid_argument, picollo::chart(before, picollo::picture::heat_map));
    const picollo::pictured both[] = {{&before, "before <1>"}, {&after}};
    const std::string svg = must(picollo::svg(both, picollo::picture::density, "Both", "ns", picollo::picture_options().dark().size(500, 300)));
    CHECK(svg.rfind("<svg", 0) == 0 && svg.find("before &lt;1") != std::string::npos && svg.find("500") != std::string::npos);
    CHECK(must(picollo::svg({}, picollo::picture::density)).find("no observations") != std::string::npos);
    CHECK(must(picollo::report(both, "Report")).find("<svg") != std::string::npos);
    const picollo::pictured missing[] = {{nullptr}};
    FAILS(null_pointer, picollo::report(missing));
}

int main()
{
    RUN(pictures);
    return report();
}
