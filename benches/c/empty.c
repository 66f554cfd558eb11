/* The floor of a call through a shared library: a function that takes the arguments of a record, and does nothing. */
#include <stdint.h>

void peer_empty(void *histogram, uint64_t value)
{
    (void)histogram;
    (void)value;
}
