/* test.h for picollo.hpp: the same test with exceptions and without. */
#ifndef PICOLLO_CPP_TEST_HPP
#define PICOLLO_CPP_TEST_HPP

#include "test.h"

#include <picollo.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#ifdef PICOLLO_NO_EXCEPTIONS

/* The result of a call that must succeed. */
template <class T>
T must(picollo::result<T> result)
{
    return std::move(result).value();
}

inline void must(picollo::result<void> result)
{
    result.value();
}

/* A call must fail with a status and a message. */
#define FAILS(expected, call)                                                             \
    do {                                                                                  \
        const auto result_ = (call);                                                      \
        CHECK(!result_.has_value());                                                      \
        if (!result_.has_value()) CHECK(result_.error().code() == picollo::status::expected); \
    } while (0)

#else

#define must(call) (call)

#define FAILS(expected, call)                                                             \
    do {                                                                                  \
        bool thrown_ = false;                                                             \
        try {                                                                             \
            (void)(call);                                                                 \
        } catch (const picollo::error &refusal_) {                                        \
            thrown_ = true;                                                               \
            CHECK(refusal_.code() == picollo::status::expected);                               \
            CHECK(std::string(refusal_.what()).size() > 10);                              \
        }                                                                                 \
        CHECK(thrown_);                                                                   \
    } while (0)

#endif

/* CHECK_TEXT for temporaries. */
#define CHECK_STRING(expected, actual)                                                    \
    do {                                                                                  \
        const std::string expected_string_(expected), actual_string_(actual);             \
        if (expected_string_ != actual_string_) {                                         \
            fprintf(stderr, "%s:%d: %s: %s is\n%s\nexpected\n%s\n", __FILE__, __LINE__, __func__, #actual, \
                    actual_string_.c_str(), expected_string_.c_str());                    \
            test_failures++;                                                              \
        }                                                                                 \
    } while (0)

/* The output of operator<<. */
template <class T>
std::string written(const T &value)
{
    std::ostringstream out;
    out << value;
    return out.str();
}

template <class T>
constexpr bool moves_only =
    !std::is_copy_constructible_v<T> && std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>;

/* HdrHistogram's buckets, with three values. */
inline picollo::histogram digits()
{
    picollo::histogram histogram =
        must(picollo::histogram::create(picollo::options().significant_digits(3).range(0, UINT64_C(3600000000))));
    histogram.record(7);
    histogram.record_n(1000, 5);
    histogram.record(123456789);
    return histogram;
}

inline bool same(const picollo::snapshot &a, const picollo::snapshot &b)
{
    const std::vector<picollo::bucket> of_a = must(a.buckets()), of_b = must(b.buckets());
    return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [](const auto &x, const auto &y) {
        return x.lower == y.lower && x.upper == y.upper && x.count == y.count;
    });
}

#endif /* PICOLLO_CPP_TEST_HPP */
