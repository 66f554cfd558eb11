/* An exported function that does nothing, in a shared library of its own: the floor for any call into a library. */
#include <stdint.h>

void bench_empty(void *histogram, uint64_t value);

void bench_empty(void *histogram, uint64_t value)
{
    (void)histogram;
    (void)value;
}
