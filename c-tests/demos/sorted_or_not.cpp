/* Sorted or not: the same sum over the same million bytes, before and after sorting them. The sum branches on each byte;
 * when they are sorted, the processor guesses right.
 */
#include <algorithm>
#include <cstdio>
#include <vector>

#include "counters.hpp"

constexpr std::size_t length = 1000000;
constexpr int rounds = 100;

/* The barrier keeps the compiler from doing without the branch (by a conditional move, or eight bytes at a time). */
static std::uint64_t sum_of_large(const std::vector<unsigned char> &bytes)
{
    std::uint64_t sum = 0;
    for (const unsigned char byte : bytes) {
        if (byte >= 128) {
            __asm__ volatile("" : "+r"(sum));
            sum += byte;
        }
    }
    return sum;
}

struct measurement {
    std::uint64_t sum = 0;
    picollo::histogram time;
    std::array<std::optional<picollo::summary>, counters.size()> counted;
};

static measurement measure(picollo::session &session, const std::vector<unsigned char> &bytes)
{
    measurement made;
    session.reset();
    made.sum += sum_of_large(bytes); // warm up
    for (int round = 0; round < rounds; round++) {
        session.read();
        {
            picollo::scope timing(made.time);
            made.sum += sum_of_large(bytes);
        }
        session.read();
        session.record();
    }
    for (std::size_t i = 0; i < counters.size(); i++) made.counted[i] = summary_of(session, i);
    return made;
}

static void row(const char *name, const std::optional<picollo::summary> &before, const std::optional<picollo::summary> &after)
{
    if (!before || !after) {
        std::printf("%-20s %14s %14s\n", name, "not counted", "not counted");
        return;
    }
    const auto b = static_cast<double>(before->p50().value), a = static_cast<double>(after->p50().value);
    std::printf("%-20s %14.0f %14.0f", name, b, a);
    if (a != 0) std::printf(" %8.2f", b / a);
    std::printf("\n");
}

int main()
{
    picollo::session session = open_counters();
    explain_missing(session);
    std::cout.flush();

    std::vector<unsigned char> bytes;
    std::uint64_t x = 1;
    while (bytes.size() < length) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes.push_back(static_cast<unsigned char>(x >> 56));
    }
    const measurement unsorted = measure(session, bytes);
    std::sort(bytes.begin(), bytes.end());
    const measurement sorted = measure(session, bytes);
    if (sorted.sum != unsorted.sum) return 1;

    std::printf("The sum of %zu bytes that are at least 128, %d times; medians:\n\n", length, rounds);
    std::printf("%-20s %14s %14s %8s\n", "", "not sorted", "sorted", "ratio");
    row("Time, ns", unsorted.time.summary(), sorted.time.summary());
    for (std::size_t i = 0; i < counters.size(); i++) row(counters[i], unsorted.counted[i], sorted.counted[i]);
    std::fflush(stdout);

    /* The difference, how sure it is, and what it amounts to. */
    const picollo::comparison comparison = picollo::compare(unsorted.time.snapshot(), sorted.time.snapshot());
    std::cout << '\n' << comparison.text("Time in ns, not sorted and sorted", "Not sorted", "Sorted");
}
