/* Loops of a C program that calls shared libraries normally, and that inlines the recorder. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <picollo.h>
#include <picollo_inline.h>

struct hdr_histogram;
void peer_empty(void *histogram, uint64_t value);
bool so_hdr_record_value(struct hdr_histogram *h, int64_t value);
bool so_hdr_record_value_atomic(struct hdr_histogram *h, int64_t value);

void through_empty(void *histogram, const uint64_t *values, size_t length)
{
    for (size_t i = 0; i < length; i++) peer_empty(histogram, values[i]);
}

void through_picollo(picollo_histogram *histogram, const uint64_t *values, size_t length)
{
    for (size_t i = 0; i < length; i++) picollo_histogram_record(histogram, values[i]);
}

void through_hdr(struct hdr_histogram *histogram, const uint64_t *values, size_t length)
{
    for (size_t i = 0; i < length; i++) so_hdr_record_value(histogram, (int64_t)values[i]);
}

void through_hdr_atomic(struct hdr_histogram *histogram, const uint64_t *values, size_t length)
{
    for (size_t i = 0; i < length; i++) so_hdr_record_value_atomic(histogram, (int64_t)values[i]);
}

void inlined_in_c(const picollo_recorder *recorder, const uint64_t *values, size_t length)
{
    const picollo_writer writer = picollo_recorder_writer(recorder);
    for (size_t i = 0; i < length; i++) picollo_writer_record(writer, values[i]);
}
