/* What the first of the manual's two examples looks like, for the tests in C and in C++. */
#ifndef PICOLLO_TEST_EXAMPLE_H
#define PICOLLO_TEST_EXAMPLE_H

#define EXAMPLE_TABLE \
    "##### Example\n" \
    "| Percentile |    Value | ±      |    Count |\n" \
    "| :--------- | -------: | :----- | -------: |\n" \
    "| 0          |    2,008 | ±8     |        1 |\n" \
    "| 1          |    2,064 | ±16    |    1,000 |\n" \
    "| 5          |    2,288 | ±16    |    4,997 |\n" \
    "| 10         |    2,448 | ±16    |    9,994 |\n" \
    "| 25         |    2,928 | ±16    |   24,985 |\n" \
    "| 50         |    3,600 | ±16    |   49,970 |\n" \
    "| 75         |    5,472 | ±32    |   74,955 |\n" \
    "| 90         |    7,456 | ±32    |   89,946 |\n" \
    "| 92.5       |    7,840 | ±32    |   92,445 |\n" \
    "| 95         |    8,256 | ±64    |   94,943 |\n" \
    "| 97.5       |    8,768 | ±64    |   97,442 |\n" \
    "| 99         |    9,152 | ±64    |   98,941 |\n" \
    "| 99.9       |    9,664 | ±64    |   99,841 |\n" \
    "| 99.99      |    9,792 | ±64    |   99,931 |\n" \
    "| 99.999     |    9,792 | ±64    |   99,940 |\n" \
    "| 100        |    9,792 | ±64    |   99,940 |\n" \
    "| Underflow  |          |        |       60 |\n" \
    "|            |          |        |          |\n" \
    "| Mean:      | 4,332.91 | StDev: | 1,870.75 |\n" \
    "| Precision: |  0.7813% | Total: |   99,940 |\n" \
    "| Range Min: |    2,000 | Max:   |   12,000 |\n"

#endif /* PICOLLO_TEST_EXAMPLE_H */
