/* One program, linked from an object with exceptions and one without: compiled twice, the second time with MIXED_RESULTS. */
#ifdef MIXED_RESULTS

#include <picollo.hpp>

std::uint64_t count_with_results()
{
    picollo::result<picollo::histogram> histogram = picollo::histogram::create();
    histogram->record(1);
    return histogram->summary()->total_count();
}

#else

#include "cpp_test.hpp"

std::uint64_t count_with_results();

static void both_kinds()
{
    picollo::histogram histogram;
    histogram.record(1);
    histogram.record(2);
    CHECK_U64(2, histogram.summary().total_count());
    CHECK_U64(1, count_with_results());
}

int main()
{
    RUN(both_kinds);
    return report();
}

#endif
