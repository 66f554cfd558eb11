/* Picollo for C++17: the whole library, with lifetimes and types. Header-only; link with libpicollo.
 *
 *     #include <picollo.hpp>
 *
 *     picollo::histogram latency(picollo::options().relative_error(0.01));
 *     {
 *         picollo::scope timing(latency);            // nanoseconds, by std::chrono::steady_clock
 *         work();
 *     }
 *     std::cout << latency.summary().table("Latency");
 *
 * Objects own what they hold. They can be moved, but not copied. A moved-from object can only be destroyed or assigned to. The
 * library counts references, so a histogram, its snapshots, recorders and sessions may be destroyed in any order. Methods are
 * documented in picollo.h, at the C function of their name. This includes threads: any number of threads may record into one
 * histogram, unless it was made with mode::single_writer, and any number may read it at the same time.
 *
 * Failures are exceptions of type picollo::error. With PICOLLO_NO_EXCEPTIONS, which -fno-exceptions implies, nothing throws.
 * Then a function that can fail returns a picollo::result<T> with either a value or a failure. Functions named create, parse
 * or probe replace the constructors. They exist with exceptions too. One program may mix both.
 *
 * Methods cost what the C functions cost; recorders are inlined. Functions that allocate say so. */
#ifndef PICOLLO_HPP
#define PICOLLO_HPP

#include "picollo_benchmark.hpp"
#include "picollo_compare.hpp"
#include "picollo_double.hpp"
#include "picollo_exemplars.hpp"
#include "picollo_histogram.hpp"
#include "picollo_log.hpp"
#include "picollo_perf.hpp"
#include "picollo_picture.hpp"
#include "picollo_registry.hpp"
#include "picollo_result.hpp"
#include "picollo_segment.hpp"
#include "picollo_snapshot.hpp"
#include "picollo_summary.hpp"

#endif /* PICOLLO_HPP */
