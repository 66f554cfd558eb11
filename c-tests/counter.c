/* picollo_counter.h. */
#include "golden.h"

/* Below the threshold all of them are exact. */
static void counters(void)
{
    uint64_t wide[3] = {0, 0, 0};
    uint32_t narrow[3] = {0, 0, UINT32_MAX};
    picollo_scalable_counter_add_n32(&narrow[0], 100, 7);
    picollo_scalable_counter_add_n64(&wide[0], 100, 7);
    picollo_capped_counter_add32(&narrow[1], 100005, 3, 0);
    picollo_capped_counter_add64(&wide[1], (UINT64_C(1) << 40) + 5, 3, 0);
    picollo_sensing_counter_add32(&narrow[2], 3, 4);
    picollo_sensing_counter_add64(&wide[2], 9, 4);
    for (int i = 0; i < 3; i++) say("%" PRIu32 " " U "\n", picollo_counter_read32(&narrow[i]), picollo_counter_read64(&wide[i]));
    say("%" PRIu32 " " U "\n", picollo_counter_read32(NULL), picollo_counter_read64(NULL));
    /* Above it they count in steps, correct on average: within seven times the deviation. */
    wide[0] = narrow[0] = 0;
    for (int i = 0; i < 1 << 20; i++) picollo_scalable_counter_add_n64(&wide[0], 1, 0), picollo_scalable_counter_add_n32(&narrow[0], 1, 0);
    CHECK(fabs((double)wide[0] / (1 << 20) - 1) < 0.063 && fabs((double)narrow[0] / (1 << 20) - 1) < 0.063);
    CHECK(wide[0] != 1 << 20 || narrow[0] != 1 << 20);
    /* Steps of at most one are exact. */
    wide[0] = narrow[0] = 0;
    for (int i = 0; i < 100000; i++) picollo_capped_counter_add64(&wide[0], 1, 3, 0), picollo_capped_counter_add32(&narrow[0], 1, 3, 0);
    CHECK(wide[0] == 100000 && narrow[0] == 100000);
}

int main(int number, char **arguments)
{
    (void)arguments;
    golden_begin(number, __FILE__);
    GOLDEN(counters);
    return report();
}
