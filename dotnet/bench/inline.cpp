// The loops that the benchmark of .NET is measured against, as a C program would write them, in a library that it loads.
#include <picollo.h>
#include <picollo_inline.h>

#include <cstddef>
#include <cstdint>

extern "C" {

// C: picollo_inline.h, with a recorder of the loop's own.
void bench_c_inline(const picollo_recorder *recorder, const std::uint64_t *values, std::size_t length)
{
    const picollo_writer writer = picollo_recorder_writer(recorder);
    for (std::size_t i = 0; i < length; i++) picollo_writer_record(writer, values[i]);
}

// C: picollo_inline.h, by atomic additions.
void bench_c_atomic(const picollo_atomic_recorder *recorder, const std::uint64_t *values, std::size_t length)
{
    const picollo_atomic_writer writer = picollo_atomic_recorder_writer(recorder);
    for (std::size_t i = 0; i < length; i++) picollo_atomic_writer_record(writer, values[i]);
}

// C: the exported function.
void bench_c_call(picollo_histogram *histogram, const std::uint64_t *values, std::size_t length)
{
    for (std::size_t i = 0; i < length; i++) picollo_histogram_record(histogram, values[i]);
}
}
