/* Would the oracle notice a plant that did not do what it says? Each is grown as it is, and as a dud: the same request without its
 * cause. Says how many of how many are taken for planted, and fails when duds often are, or plants seldom. Without the library.
 *
 *   oracle_notices TIMES [GROUP]
 */
#include <stdio.h>
#include <stdlib.h>

#include "plants.h"

static struct accounts grown(const struct plant *plant, int dud)
{
    struct accounts begin, accounts;
    plant->before(dud);
    begin = accounts_now();
    plant->request(dud);
    accounts = accounts_since(&begin);
    plant->after();
    return accounts;
}

int main(int count, char **arguments)
{
    const int times = count > 1 ? atoi(arguments[1]) : 5;
    const char *const group = count > 2 ? arguments[2] : NULL;
    int passed = 0, failed = 0;
    plants_open(group);
    for (unsigned i = 0; i < plants_length; i++) {
        const struct plant *const plant = &plants[i];
        const uint64_t least = plant->kind == KIND_WORK ? PLANTED : PLANTED_TO_DATABASE;
        int noticed[2] = {0, 0};
        struct accounts last[2];
        if (plant->needs_group && group == NULL) {
            printf("SKIPPED: %s: no control group that may be written to\n", plant->name);
            continue;
        }
        for (int time = 0; time < times; time++)
            for (int dud = 0; dud < 2; dud++) {
                last[dud] = grown(plant, dud);
                noticed[dud] += plant->planted(&last[dud]) >= least;
            }
        for (int dud = 0; dud < 2; dud++)
            printf("%-31s %-5s planted in %d of %d; last: %5.1f ms, of which CPU %5.1f, run queue %5.1f, waiting %5.1f, quota %5.1f; %lu faults\n", plant->name, dud ? "dud" : "plant",
                noticed[dud], times, (double)last[dud].wall / 1e6, (double)last[dud].cpu / 1e6, (double)last[dud].run_delay / 1e6, (double)waiting_of(&last[dud]) / 1e6,
                (double)last[dud].throttled / 1e6, (unsigned long)last[dud].minor_faults);
        /* Other programs may delay a dud as well, which the oracle then rightly sees. */
        const int is_right = noticed[1] * 2 < times && noticed[0] * 2 > times;
        is_right ? passed++ : failed++;
        if (!is_right) printf("FAILED: %s\n", plant->name);
    }
    plants_close();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
