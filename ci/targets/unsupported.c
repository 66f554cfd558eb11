/* Without an operating system, or on one that is not Linux: calls that need it explain why they are unsupported. The
 * stubs declare their parameters apart from the header, so these calls also check that the error is at its place. */
#include "test.h"

#define UNSUPPORTED(reason, call)                                                                       \
    do {                                                                                                \
        picollo_error error;                                                                            \
        memset(&error, 'x', sizeof error);                                                              \
        CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, call);                                                    \
        CHECK(error.status == PICOLLO_ERR_UNSUPPORTED && error.event_index == -1 && error.os_errno == 0); \
        CHECK(strncmp(error.message, reason, strlen(reason)) == 0);                                     \
    } while (0)

#ifdef _WIN32
#define LINUX_ONLY "segments and collectors of exemplars exist only on Linux"
#else
#define LINUX_ONLY WITHOUT_STD
#endif
#define WITHOUT_STD "this build of the library has no heap"

static void segments_and_exemplars(void)
{
    UNSUPPORTED(LINUX_ONLY, picollo_exemplars_create(NULL, NULL, NULL, &error));
    UNSUPPORTED(LINUX_ONLY, picollo_exemplars_prepare_thread(NULL, &error));
    UNSUPPORTED(LINUX_ONLY, picollo_exemplars_collect(NULL, &error));
    UNSUPPORTED(LINUX_ONLY, picollo_exemplars_publish(NULL, NULL, 1, &error));
    UNSUPPORTED(LINUX_ONLY, picollo_segment_create(NULL, NULL, &error));
    UNSUPPORTED(LINUX_ONLY, picollo_segment_attach(NULL, NULL, &error));
    UNSUPPORTED(LINUX_ONLY, picollo_segment_histogram(NULL, NULL, NULL, NULL, &error));
    UNSUPPORTED(LINUX_ONLY, picollo_segment_counter(NULL, NULL, NULL, &error));
    UNSUPPORTED(LINUX_ONLY, picollo_segment_retire(NULL, NULL, &error));
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_segment_create(NULL, NULL, NULL));
}

#ifndef _WIN32
static void what_needs_the_heap(void)
{
    UNSUPPORTED(WITHOUT_STD, picollo_benchmark_create(NULL, NULL, 1, NULL, &error));
    UNSUPPORTED(WITHOUT_STD, picollo_benchmark_next(NULL, NULL, NULL, &error));
    UNSUPPORTED(WITHOUT_STD, picollo_benchmark_done(NULL, &error));
    UNSUPPORTED(WITHOUT_STD, picollo_benchmark_done_after(NULL, 1, &error));
    UNSUPPORTED(WITHOUT_STD, picollo_figure_compute(NULL, NULL, NULL, 1, 0.5, NULL, &error));
    UNSUPPORTED(WITHOUT_STD, picollo_registry_add(NULL, NULL, NULL, NULL, 1, NULL, &error));
    UNSUPPORTED(WITHOUT_STD, picollo_registry_add_double(NULL, NULL, NULL, NULL, 1, NULL, &error));
    UNSUPPORTED(WITHOUT_STD, picollo_registry_add_counter(NULL, NULL, NULL, NULL, &error));
    UNSUPPORTED(WITHOUT_STD, picollo_registry_add_gauge(NULL, NULL, NULL, NULL, &error));
    UNSUPPORTED(WITHOUT_STD, picollo_registry_set_exemplars(NULL, 1, NULL, 1, &error));
    UNSUPPORTED(WITHOUT_STD, picollo_server_start(NULL, NULL, NULL, NULL, &error));
    UNSUPPORTED(WITHOUT_STD, picollo_session_open(NULL, 1, NULL, NULL, &error));
}
#endif

int main(void)
{
    RUN(segments_and_exemplars);
#ifndef _WIN32
    RUN(what_needs_the_heap);
#endif
    return report();
}
