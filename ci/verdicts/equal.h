/* Functions of about 0, 1, 2, 5, 20, 100 and 1000 ns: chains of multiplications, each of which depends on the previous
 * one. */
#ifndef EQUAL_H
#define EQUAL_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t seed = 3;

#define LINK x *= x | 1;
/* These include the planted five percent. */
#define LENGTHS(each) each(0) each(1) each(2) each(5) each(20) each(21) each(100) each(105) each(1000) each(1050)

/* budget, runs, A's length, B's length. */
struct asked {
    double budget;
    int runs, a, b;
};

static struct asked asked_of(int count, char **arguments)
{
    struct asked asked = {0, 0, 0, 0};
    if (count != 5) {
        fprintf(stderr, "usage: %s BUDGET RUNS A B\n", arguments[0]);
        exit(2);
    }
    asked.budget = atof(arguments[1]);
    asked.runs = atoi(arguments[2]);
    asked.a = atoi(arguments[3]);
    asked.b = atoi(arguments[4]);
    return asked;
}

/* One line per run: the verdict's code, its flags, picoseconds of A, of the difference and of the margin. */
static void print_run(const picollo_block_comparison *blocks)
{
    printf("%u %u %.1f %.1f %.1f\n", blocks->verdict, blocks->flags, blocks->median_a, blocks->difference, blocks->margin);
    fflush(stdout);
}

#endif
