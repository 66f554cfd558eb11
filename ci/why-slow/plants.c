#define _GNU_SOURCE
#include "plants.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int schedstat = -1, cpu_stat = -1;

static uint64_t clock_of(clockid_t id)
{
    struct timespec time;
    clock_gettime(id, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static const char *text_of(int descriptor, char *text, size_t size)
{
    const ssize_t length = pread(descriptor, text, size - 1, 0);
    if (length <= 0) exit((perror("oracle"), 2));
    text[length] = 0;
    return text;
}

/* Ends the process if there is no such file. */
static int opened(const char *directory, const char *name, int flags)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    const int descriptor = open(path, flags | O_CLOEXEC);
    if (descriptor < 0) exit((perror(path), 2));
    return descriptor;
}

static uint64_t field_of(const char *text, const char *name)
{
    const char *const at = strstr(text, name);
    return at == NULL ? 0 : strtoull(at + strlen(name), NULL, 10);
}

static struct accounts accounts_once(void)
{
    struct accounts now = {0};
    struct rusage usage;
    char text[1024], *rest;
    if (cpu_stat >= 0) {
        text_of(cpu_stat, text, sizeof text);
        now.throttles = field_of(text, "nr_throttled ");
        /* Nanoseconds in the first version of control groups, microseconds in the second. */
        now.throttled = strstr(text, "throttled_usec ") != NULL ? field_of(text, "throttled_usec ") * 1000 : field_of(text, "throttled_time ");
    }
    strtoull(text_of(schedstat, text, sizeof text), &rest, 10);
    now.run_delay = strtoull(rest, NULL, 10);
    now.cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
    now.wall = clock_of(CLOCK_MONOTONIC);
    getrusage(RUSAGE_THREAD, &usage);
    now.minor_faults = (uint64_t)usage.ru_minflt;
    now.major_faults = (uint64_t)usage.ru_majflt;
    now.voluntary = (uint64_t)usage.ru_nvcsw;
    now.involuntary = (uint64_t)usage.ru_nivcsw;
    return now;
}

/* The accounts of one moment: if a thread loses the CPU between two readings, its accounts do not match, and it reads
 * them again. If others always want the CPU, a timer tick interrupts a loop of readings exactly there. */
struct accounts accounts_now(void)
{
    for (;;) {
        struct rusage before;
        getrusage(RUSAGE_THREAD, &before);
        const struct accounts now = accounts_once();
        if ((uint64_t)before.ru_nivcsw == now.involuntary && (uint64_t)before.ru_nvcsw == now.voluntary) return now;
    }
}

struct accounts accounts_since(const struct accounts *begin)
{
    struct accounts now = accounts_now();
    uint64_t *const numbers = (uint64_t *)&now;
    for (unsigned i = 0; i < sizeof now / sizeof *numbers; i++) numbers[i] -= ((const uint64_t *)begin)[i];
    return now;
}

uint64_t waiting_of(const struct accounts *accounts)
{
    const uint64_t used = accounts->cpu + accounts->run_delay;
    return accounts->wall > used ? accounts->wall - used : 0;
}

/* Neighbors: threads on the same CPU that spin on request. */
enum { NEIGHBOURS = 6 };
static pthread_t neighbours[NEIGHBOURS];
static sem_t wanted;
static atomic_int spinning, stop, closing;

static const char *group;
static double links_per_nano;
static volatile uint64_t seed = 3;

static void sleep_for(uint64_t nanos)
{
    struct timespec left = {(time_t)(nanos / 1000000000u), (long)(nanos % 1000000000u)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
}

/* Work that takes a known time on the CPU: a chain of multiplications, each of which depends on the previous one. */
static void work_for(uint64_t nanos)
{
    uint64_t x = seed;
    for (uint64_t i = (uint64_t)((double)nanos * links_per_nano); i > 0; i--) {
        x *= x | 1;
        __asm__ volatile("" : "+r"(x));
    }
    seed = x | 1;
}

static void calibrate(void)
{
    double best = 0;
    links_per_nano = 1;
    for (int i = 0; i < 20; i++) {
        const struct accounts begin = accounts_now();
        work_for(1000000);
        const double rate = 1e6 / (double)accounts_since(&begin).cpu;
        if (rate > best) best = rate;
    }
    links_per_nano = best;
}

static void *neighbour(void *unused)
{
    for (;;) {
        while (sem_wait(&wanted) != 0) {}
        if (atomic_load(&closing)) return unused;
        atomic_fetch_add(&spinning, 1);
        while (!atomic_load_explicit(&stop, memory_order_relaxed)) {}
        atomic_fetch_sub(&spinning, 1);
    }
}

/* Waits until all of them spin, or none does. */
static void await_neighbours(int number)
{
    while (atomic_load(&spinning) != number) sleep_for(50000);
}

static void wake(int number)
{
    atomic_store(&stop, 0);
    for (int i = 0; i < number; i++) sem_post(&wanted);
    await_neighbours(number);
}
static void wake_neighbours(void) { wake(NEIGHBOURS); }
static void wake_neighbour(void) { wake(1); }

static void calm_neighbours(void)
{
    atomic_store(&stop, 1);
    await_neighbours(0);
}

static void nothing(void) {}

/* Ordinary requests. */
static void work_request(void) { work_for(USUAL_WORK); }
static void database_request(void) { sleep_for(USUAL_WAIT); }

/* Waiting by its own call. */
static void usleep_request(void)
{
    work_for(USUAL_WORK);
    sleep_for(PLANTED);
}

/* The same in pieces: more switches than a one-page ring holds. */
static void short_waits_request(void)
{
    const struct accounts begin = accounts_now();
    work_for(USUAL_WORK);
    for (;;) {
        const struct accounts so_far = accounts_since(&begin);
        if (waiting_of(&so_far) > PLANTED) break;
        sleep_for(100000);
    }
}

/* Many short waits, after each of which it has to wait for the CPU: woken late, but never preempted. */
static void woken_late_request(void)
{
    const struct accounts begin = accounts_now();
    work_for(USUAL_WORK / 2);
    for (int i = 0; i < 40; i++) {
        sleep_for(50000);
        if (accounts_since(&begin).run_delay > PLANTED) break;
        work_for(USUAL_WORK / 20);
    }
}

/* Work in pieces until neighbors have taken the CPU for long enough. */
static void preempted_request(void)
{
    const struct accounts begin = accounts_now();
    work_for(USUAL_WORK);
    for (int i = 0; i < 20 && accounts_since(&begin).run_delay < PLANTED; i++) work_for(USUAL_WORK / 6);
}

/* The usual ten milliseconds of waiting, and two of neighbors. */
static void database_and_neighbours_request(void)
{
    const struct accounts begin = accounts_now();
    sleep_for(USUAL_WAIT);
    while (accounts_since(&begin).run_delay < PLANTED_TO_DATABASE) sched_yield();
}

/* A file of the group, in either version of control groups, and its period in microseconds. */
static int quota = -1, has_max;
enum { PERIOD = 20000 };

static void write_to(int descriptor, const char *text)
{
    if (pwrite(descriptor, text, strlen(text), 0) < 0) exit((perror("the group's quota"), 2));
}

static void open_quota(void)
{
    char text[4096];
    snprintf(text, sizeof text, "%s/cpu.max", group);
    has_max = access(text, F_OK) == 0;
    quota = opened(group, has_max ? "cpu.max" : "cpu.cfs_quota_us", O_WRONLY);
    if (has_max) return;
    const int period = opened(group, "cpu.cfs_period_us", O_WRONLY);
    snprintf(text, sizeof text, "%d", PERIOD);
    write_to(period, text);
    close(period);
}

static void set_quota(long micros)
{
    char text[64];
    if (!has_max) snprintf(text, sizeof text, "%ld", micros);
    else if (micros < 0) snprintf(text, sizeof text, "max %d", PERIOD);
    else snprintf(text, sizeof text, "%ld %d", micros, PERIOD);
    write_to(quota, text);
}

/* A tenth of a CPU for the group, so that two milliseconds of work take eighteen more. */
static void quota_before(void) { set_quota(2000); }
static void quota_after(void) { set_quota(-1); }
static void quota_request(void)
{
    const struct accounts begin = accounts_now();
    work_for(USUAL_WORK);
    for (int i = 0; i < 20 && accounts_since(&begin).throttled < PLANTED; i++) work_for(USUAL_WORK / 3);
}

/* Untouched memory: first touched by the program itself, and by the kernel inside read(). */
enum { PAGE = 4096, PAGES = 1 << 15 };
static char *mapping;
static int zeroes = -1;

static void mapping_before(void)
{
    mapping = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) exit((perror("mmap"), 2));
    madvise(mapping, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
}
static void mapping_after(void) { munmap(mapping, (size_t)PAGES * PAGE); }

static void touched_request(void)
{
    const struct accounts begin = accounts_now();
    work_for(USUAL_WORK);
    for (int page = 0; page < PAGES; page++) {
        mapping[(size_t)page * PAGE] = 1;
        if (page % 512 == 0 && accounts_since(&begin).cpu > USUAL_WORK + PLANTED) break;
    }
}

static void touched_by_read_request(void)
{
    const struct accounts begin = accounts_now();
    enum { CHUNK = 256 * PAGE };
    work_for(USUAL_WORK);
    for (size_t at = 0; at < (size_t)PAGES * PAGE; at += CHUNK) {
        if (read(zeroes, mapping + at, CHUNK) != CHUNK) exit((perror("/dev/zero"), 2));
        if (accounts_since(&begin).cpu > USUAL_WORK + PLANTED) break;
    }
}

/* Huge pages: few long faults, so that a one-page ring has room for all. */
enum { HUGE_PAGE = 2 << 20, HUGE_PAGES = 256 };
static char *huge, *huge_mapping;

static void huge_before(void)
{
    huge_mapping = mmap(NULL, (size_t)(HUGE_PAGES + 1) * HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (huge_mapping == MAP_FAILED) exit((perror("mmap"), 2));
    huge = (char *)(((uintptr_t)huge_mapping + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    madvise(huge, (size_t)HUGE_PAGES * HUGE_PAGE, MADV_HUGEPAGE);
}
static void huge_after(void) { munmap(huge_mapping, (size_t)(HUGE_PAGES + 1) * HUGE_PAGE); }

static void huge_request(void)
{
    const struct accounts begin = accounts_now();
    work_for(USUAL_WORK);
    for (int page = 0; page < HUGE_PAGES; page++) {
        huge[(size_t)page * HUGE_PAGE] = 1;
        if (accounts_since(&begin).cpu > USUAL_WORK + PLANTED) break;
    }
}

/* Eight times the work, thousands of short faults, and some long ones at the end: the latest are not representative. */
static void work_and_faults_before(void)
{
    mapping_before();
    huge_before();
}
static void work_and_faults_after(void)
{
    mapping_after();
    huge_after();
}
static void work_and_faults_request(void)
{
    work_for(10 * USUAL_WORK);
    for (int page = 0; page < 2000; page++) mapping[(size_t)page * PAGE] = 1;
    for (int page = 0; page < 16; page++) huge[(size_t)page * HUGE_PAGE] = 1;
}

static void ten_times_request(void) { work_for(10 * USUAL_WORK); }

static uint64_t run_queue_of(const struct accounts *accounts) { return accounts->run_delay; }
static uint64_t throttled_of(const struct accounts *accounts)
{
    /* The group's time, limited to this thread's own. */
    return accounts->throttled < accounts->run_delay ? accounts->throttled : accounts->run_delay;
}
static uint64_t extra_cpu_of(const struct accounts *accounts) { return accounts->cpu > USUAL_WORK ? accounts->cpu - USUAL_WORK : 0; }
/* There is no account of the time of faults: takes the CPU time above the usual, if there were enough faults for it. */
static uint64_t faults_of(const struct accounts *accounts)
{
    const uint64_t extra = extra_cpu_of(accounts);
    return accounts->minor_faults * 20000 > extra ? extra : 0;
}

static const struct plant ordinary_work = {"ordinary", KIND_WORK, nothing, work_request, nothing, extra_cpu_of, 0};
static const struct plant ordinary_database = {"ordinary", KIND_DATABASE, nothing, database_request, nothing, waiting_of, 0};
/* Small pages take a microsecond each, huge ones some hundreds. */
static uint64_t huge_faults_of(const struct accounts *accounts)
{
    const uint64_t extra = extra_cpu_of(accounts);
    return accounts->minor_faults * 1000000 > extra ? extra : 0;
}

const struct plant *const ordinary[4][2] = {
    [KIND_WORK] = {&ordinary_work, &ordinary_work},
    [KIND_DATABASE] = {&ordinary_database, &ordinary_database},
    [KIND_MIXED] = {&ordinary_work, &ordinary_database},
};
const struct plant plants[] = {
    {"usleep", KIND_WORK, nothing, usleep_request, nothing, waiting_of, 0},
    {"many short waits", KIND_WORK, nothing, short_waits_request, nothing, waiting_of, 0},
    {"usleep beside neighbours", KIND_WORK, wake_neighbours, woken_late_request, calm_neighbours, run_queue_of, 0},
    {"neighbours", KIND_WORK, wake_neighbours, preempted_request, calm_neighbours, run_queue_of, 0},
    {"CPU quota", KIND_WORK, quota_before, quota_request, quota_after, throttled_of, 1},
    {"first touch", KIND_WORK, mapping_before, touched_request, mapping_after, faults_of, 0},
    {"first touch, huge pages", KIND_WORK, huge_before, huge_request, huge_after, huge_faults_of, 0},
    {"first touch in read()", KIND_WORK, mapping_before, touched_by_read_request, mapping_after, faults_of, 0},
    {"ten times the work", KIND_WORK, nothing, ten_times_request, nothing, extra_cpu_of, 0},
    {"ten times the work, and faults", KIND_WORK, work_and_faults_before, work_and_faults_request, work_and_faults_after, extra_cpu_of, 0},
    {"database and neighbours", KIND_DATABASE, wake_neighbour, database_and_neighbours_request, calm_neighbours, run_queue_of, 0},
    {"the same, kinds mixed", KIND_MIXED, wake_neighbour, database_and_neighbours_request, calm_neighbours, run_queue_of, 0},
};
const unsigned plants_length = sizeof plants / sizeof *plants;

void plants_open(const char *with_group)
{
    cpu_set_t allowed, one;
    pthread_attr_t attributes;
    int cpu = CPU_SETSIZE - 1;
    schedstat = opened("/proc/thread-self", "schedstat", O_RDONLY);
    zeroes = opened("/dev", "zero", O_RDONLY);
    group = with_group;
    if (group != NULL) {
        cpu_stat = opened(group, "cpu.stat", O_RDONLY);
        open_quota();
    }
    /* The last CPU that this process may use: the first has more of the machine's interrupts. */
    sched_getaffinity(0, sizeof allowed, &allowed);
    while (!CPU_ISSET(cpu, &allowed)) cpu--;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    calibrate();
    sem_init(&wanted, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
    for (int i = 0; i < NEIGHBOURS; i++)
        if (pthread_create(&neighbours[i], &attributes, neighbour, NULL) != 0) exit(2);
    pthread_attr_destroy(&attributes);
    /* The neighbors get priority, if the scheduler allows it; else a thread that slept mostly gets the CPU back at
     * once. */
    errno = 0;
    if (setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, 0) + 5) != 0) exit((perror("setpriority"), 2));
}

void plants_close(void)
{
    atomic_store(&closing, 1);
    for (int i = 0; i < NEIGHBOURS; i++) sem_post(&wanted);
    for (int i = 0; i < NEIGHBOURS; i++) pthread_join(neighbours[i], NULL);
}
