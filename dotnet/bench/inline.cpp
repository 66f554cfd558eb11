// The loops that the benchmark of .NET is measured against, as a C++ program would write them, in a library that it loads.
#include <picollo.hpp>

static picollo::histogram single(picollo::options().mode(picollo::mode::single_writer)), interlocked;

extern "C" void bench_inline(const std::uint64_t *values, std::size_t length)
{
    static const picollo::recorder recorder = single.recorder();
    const picollo::writer writer = recorder.writer();
    for (std::size_t i = 0; i < length; i++) writer.record(values[i]);
}

extern "C" void bench_call(const std::uint64_t *values, std::size_t length)
{
    for (std::size_t i = 0; i < length; i++) interlocked.record(values[i]);
}
