/* Runs requests with planted causes among ordinary ones, in random order, under a collector. Prints a line of JSON for
 * each request, with the oracle's accounts, and for each kept exemplar, with the collector's answer.
 *
 *   run ENVIRONMENT TIMES SEED [GROUP]     ENVIRONMENT: ring, no-ring, perf-forbidden, no-schedstat, fixed-order
 *
 * Ends with status 77 if the environment cannot be made here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <picollo_why.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plants.h"

/* How the collector gets a request. */
enum how { SCOPED, OFFERED, ENDED_ELSEWHERE };
static const char *const how_names[] = {"scope", "offered", "another thread"};

struct wanted {
    const struct plant *plant;
    enum how how;
};

static picollo_exemplars *collector;
static uint64_t request_number, throttles_seen;

static void must(picollo_status status, const picollo_error *error, const char *what)
{
    if (status == PICOLLO_OK) return;
    fprintf(stderr, "%s: %s %s\n", what, picollo_status_str(status), error == NULL ? "" : error->message);
    exit(2);
}

/* From here on perf_event_open fails with EPERM, as in profiles of containers. Returns 0, or -1 if no filter can be
 * installed. */
static int forbid_perf(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? -1 : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* From here on nothing can be opened: only accounts without files remain. The oracle's files are already open. */
static void hide_files(void)
{
    const struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) exit((perror("setrlimit"), 2));
}

/* xorshift64: the same order on every machine. */
static uint64_t random_state;
static uint64_t random_below(uint64_t end)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % end;
}

struct ending {
    picollo_exemplar_scope scope;
    picollo_exemplar_context context;
};

static void *end_here(void *argument)
{
    struct ending *const ending = argument;
    if (picollo_exemplars_end(collector, &ending->scope) != 0) must(picollo_exemplars_annotate(collector, &ending->scope, &ending->context), NULL, "annotate");
    return NULL;
}

static void print_accounts(const char *name, const struct accounts *accounts)
{
    printf(",\"%s\":{\"wall\":%lu,\"cpu\":%lu,\"run_delay\":%lu,\"minor_faults\":%lu,\"throttled\":%lu,\"throttles\":%lu}", name, accounts->wall, accounts->cpu,
        accounts->run_delay, accounts->minor_faults, accounts->throttled, accounts->throttles);
}

/* One request, in accounts taken inside and around the timed block: the truth lies between them. */
static void request(const struct plant *plant, enum kind kind, enum how how)
{
    struct ending ending;
    struct accounts outer_begin, begin, inner, outer;
    pthread_t thread;
    memset(&ending, 0, sizeof ending);
    ending.context.words[0] = ++request_number;
    plant->before();
    outer_begin = accounts_now();
    if (how != OFFERED) {
        picollo_exemplars_begin(collector, &ending.scope);
        ending.scope.label = kind;
    }
    begin = accounts_now();
    plant->request();
    inner = accounts_since(&begin);
    if (how == OFFERED) picollo_exemplars_offer(collector, inner.wall, &ending.context);
    else if (how == SCOPED) end_here(&ending);
    else if (pthread_create(&thread, NULL, end_here, &ending) != 0 || pthread_join(thread, NULL) != 0) exit(2);
    outer = accounts_since(&outer_begin);
    plant->after();
    printf("{\"request\":%lu,\"plant\":\"%s\",\"kind\":%d,\"how\":\"%s\",\"planted\":%lu,\"quota_before\":%lu", request_number, plant->name, kind, how_names[how],
        plant->planted(&inner), outer_begin.throttles - throttles_seen);
    throttles_seen = outer_begin.throttles + outer.throttles;
    print_accounts("inner", &inner);
    print_accounts("outer", &outer);
    printf("}\n");
}

static void print_exemplars(void)
{
    printf("{\"threshold\":%u}\n", PLANTED);
    picollo_exemplar exemplar;
    size_t index = 0;
    while (picollo_exemplars_get(collector, index++, &exemplar) == PICOLLO_OK)
        printf("{\"exemplar\":%lu,\"cause\":%u,\"known\":%u,\"label\":%u,\"value\":%lu,\"wall\":%lu,\"window\":%lu,\"cpu\":%lu,\"run_delay\":%lu,\"minor_faults\":%u,"
               "\"off\":%lu,\"preempted\":%lu,\"fault\":%lu,\"missing\":%u}\n",
            exemplar.context.words[0], exemplar.cause, exemplar.known, exemplar.label, exemplar.value, exemplar.wall_nanos, exemplar.window_nanos, exemplar.cpu_nanos,
            exemplar.run_delay_nanos, exemplar.minor_faults, exemplar.off_nanos, exemplar.preempted_nanos, exemplar.fault_nanos, exemplar.missing);
    for (uint32_t cause = 1; cause <= PICOLLO_CAUSE_NOT_KNOWN; cause++) {
        picollo_exemplar_share share;
        must(picollo_exemplars_share(collector, cause, &share), NULL, "share");
        printf("{\"share\":%u,\"excess\":%lu,\"observations\":%lu}\n", cause, share.excess_nanos, share.observations);
    }
}

static void open_collector(uint32_t flags, int is_hidden)
{
    picollo_histogram *histogram;
    picollo_error error;
    picollo_exemplars_options options = PICOLLO_EXEMPLARS_OPTIONS_INIT;
    options.flags = flags;
    options.threshold = PLANTED;
    options.slowest = 16384;
    must(picollo_histogram_create(NULL, &histogram), NULL, "histogram");
    must(picollo_exemplars_create(histogram, &options, &collector, &error), &error, "collector");
    if (is_hidden) hide_files();
    /* If it has nothing to prepare, it returns an error, and still works. */
    (void)picollo_exemplars_prepare_thread(collector, NULL);
    picollo_histogram_free(histogram);
}

/* Every plant this many times, and some in ways that a collector cannot see. Ends the list with NULL. */
static struct wanted *plan(int times, int has_group)
{
    size_t length = 0;
    struct wanted *const wanted = calloc((size_t)times * plants_length * 3 + 1, sizeof *wanted);
    if (wanted == NULL) exit(2);
    for (int time = 0; time < times; time++)
        for (unsigned i = 0; i < plants_length; i++) {
            const struct plant *const plant = &plants[i];
            if (plant->needs_group && !has_group) continue;
            wanted[length++] = (struct wanted){plant, SCOPED};
            if (plant->kind != KIND_WORK || time % 4 != 0) continue;
            wanted[length++] = (struct wanted){plant, OFFERED};
            wanted[length++] = (struct wanted){plant, ENDED_ELSEWHERE};
        }
    for (size_t i = length; i > 1; i--) {
        const size_t other = random_below(i);
        const struct wanted moved = wanted[i - 1];
        wanted[i - 1] = wanted[other];
        wanted[other] = moved;
    }
    return wanted;
}

int main(int count, char **arguments)
{
    const char *const environment = count > 3 ? arguments[1] : "";
    const char *const group = count > 4 && *arguments[4] != 0 ? arguments[4] : NULL;
    const int has_ring = strcmp(environment, "ring") == 0, is_forbidden = strcmp(environment, "perf-forbidden") == 0;
    const int is_hidden = strcmp(environment, "no-schedstat") == 0, is_fixed = strcmp(environment, "fixed-order") == 0;
    if (!has_ring && !is_forbidden && !is_hidden && !is_fixed && strcmp(environment, "no-ring") != 0) return fprintf(stderr, "usage: run ENVIRONMENT TIMES SEED [GROUP]\n"), 2;
    if (is_forbidden && forbid_perf() != 0) return perror(environment), 77;

    plants_open(group);
    open_collector(has_ring || is_forbidden ? PICOLLO_EXEMPLARS_FAULT_TIMES | PICOLLO_EXEMPLARS_COUNTERS : PICOLLO_EXEMPLARS_NO_RING, is_hidden);
    throttles_seen = accounts_now().throttles;

    random_state = strtoull(arguments[3], NULL, 10) * 2 + 1;
    struct wanted *const wanted = plan(atoi(arguments[2]), group != NULL);
    for (size_t i = 0; wanted[i].plant != NULL; i++) {
        /* Ordinary requests of all kinds around it; or in an order that makes the usual hard to learn: short ones come
         * first. */
        static const enum kind kinds[] = {KIND_WORK, KIND_WORK, KIND_WORK, KIND_DATABASE, KIND_MIXED, KIND_MIXED};
        for (int j = 0; j < 5; j++) {
            const enum kind kind = kinds[is_fixed ? (uint64_t)j : random_below(sizeof kinds / sizeof *kinds)];
            request(ordinary[kind][random_below(2)], kind, SCOPED);
        }
        request(wanted[i].plant, wanted[i].plant->kind, wanted[i].how);
    }
    must(picollo_exemplars_collect(collector, NULL), NULL, "collect");
    print_exemplars();
    free(wanted);
    picollo_exemplars_free(collector);
    plants_close();
    return 0;
}
