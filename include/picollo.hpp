/* Picollo for C++17: everything in the library, with lifetimes and types. Header-only; link with libpicollo.
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
 * Objects own what they hold and can be moved, not copied. A moved-from object can be destroyed and assigned to, nothing
 * else. The library counts references, so that a histogram, its snapshots, recorders and sessions go in any order.
 * Threads: as in picollo.h; any number may record into one histogram, unless it was made with mode::single_writer, and any
 * number may read it at the same time.
 *
 * Failures are exceptions of type picollo::error. With PICOLLO_NO_EXCEPTIONS defined, which is also what -fno-exceptions
 * means, there are none: what can fail then returns a picollo::result<T> with either a value or a failure, and objects are
 * made by functions called create, parse or probe (which the exceptions have too) instead of by constructors. The two can
 * be mixed in one program.
 *
 * Cost: that of the C functions; recorders record inline. What allocates says so.
 */
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
