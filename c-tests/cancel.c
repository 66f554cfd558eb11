/* Threads that are cancelled inside the library. A cancellation unwinds the stack by force, which Rust's frames do not
 * survive: the process would end. So no call is a cancellation point; it stays pending until the caller's own code. */
#include "uses.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

static int descriptors(void)
{
    DIR *const directory = opendir("/proc/self/fd");
    int count = 0;
    if (directory == NULL) return 0;
    while (readdir(directory) != NULL) count++;
    closedir(directory);
    return count;
}

static void refuse_session(void)
{
    /* No machine has this: the explanation reads the kernel's files. */
    picollo_event event = parse("page-faults");
    picollo_error error;
    picollo_session *session = NULL;
    event.type = 999;
    CHECK_STATUS(PICOLLO_ERR_NO_SUCH_EVENT, picollo_session_create(NULL, &event, 1, &session, &error));
}

static void parse_events(void)
{
    picollo_event event;
    picollo_error error;
    CHECK_OK(picollo_event_parse("cycles", &event, &error));
    CHECK(picollo_event_parse("sched:sched_no_such", &event, &error) != PICOLLO_OK);
    CHECK(picollo_event_parse("no_such_pmu/event=1/", &event, &error) != PICOLLO_OK);
    (void)picollo_event_parse("msr/tsc/", &event, &error);
}

static void probe(void)
{
    picollo_perf_info info;
    CHECK_OK(picollo_perf_probe(&info, NULL));
}

static void use_clocks(void)
{
    uint64_t hertz = 0;
    CHECK_OK(picollo_clock_init());
    CHECK(picollo_clock_ticks(PICOLLO_CLOCK_TSC) != 0);
    CHECK_OK(picollo_clock_frequency(PICOLLO_CLOCK_TSC, &hertz));
    CHECK(picollo_clock_convert(PICOLLO_CLOCK_TSC, hertz, PICOLLO_UNIT_NANOS) > 0);
}

/* What reads the kernel's files. */
static const struct use readers[] = {
    {"clocks", use_clocks}, {"a refused session", refuse_session}, {"events", parse_events}, {"a probe", probe},
};
enum { READERS = sizeof readers / sizeof *readers };

static const struct use *use_at(size_t number)
{
    return number < USES ? &uses[number] : &readers[number - USES];
}

static flag_t finished;

/* The cancellation is pending from the beginning: the first call that acts on it ends the process, or leaves its work
 * undone. */
static void *call_while_cancelled(void *use)
{
    pthread_cancel(pthread_self());
    ((const struct use *)use)->run();
    finished = 1;
    pthread_testcancel();
    finished = 2;
    return NULL;
}

static void calls_do_not_act_on_a_pending_cancellation(void)
{
    const int before = descriptors();
    for (size_t i = 0; i < USES + READERS; i++) {
        pthread_t thread;
        void *result = NULL;
        finished = 0;
        CHECK(pthread_create(&thread, NULL, call_while_cancelled, (void *)(uintptr_t)use_at(i)) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        if (result != PTHREAD_CANCELED || finished != 1) {
            fprintf(stderr, "%s: finished %d, cancelled %d\n", use_at(i)->name, (int)finished, result == PTHREAD_CANCELED);
            test_failures++;
        }
    }
    CHECK(descriptors() == before);
}

static void *call_for_ever(void *use)
{
    for (;;) {
        ((const struct use *)use)->run();
        pthread_testcancel();
    }
    return NULL;
}

/* Other threads cancel them at any moment. */
static void threads_are_cancelled_at_any_moment(void)
{
    const int number = rounds(200), before = descriptors();
    uint64_t random = 1;
    for (int i = 0; i < number; i++) {
        pthread_t threads[2];
        for (int t = 0; t < 2; t++) {
            const struct use *const use = use_at((next_random(&random) >> 33) % (USES + READERS));
            CHECK(pthread_create(&threads[t], NULL, call_for_ever, (void *)(uintptr_t)use) == 0);
        }
        usleep((useconds_t)((next_random(&random) >> 33) % 300));
        for (int t = 0; t < 2; t++) {
            void *result = NULL;
            CHECK(pthread_cancel(threads[t]) == 0);
            CHECK(pthread_join(threads[t], &result) == 0);
            CHECK(result == PTHREAD_CANCELED);
        }
    }
    CHECK(descriptors() == before);
}

/* The caller's own setting is unchanged. */
static void the_state_is_left_as_it_was(void)
{
    int state = -1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    sessions();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    CHECK(state == PTHREAD_CANCEL_DISABLE);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    sessions();
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    CHECK(state == PTHREAD_CANCEL_ENABLE);
}

int main(void)
{
    RUN(calls_do_not_act_on_a_pending_cancellation);
    RUN(threads_are_cancelled_at_any_moment);
    RUN(the_state_is_left_as_it_was);
    return report();
}
