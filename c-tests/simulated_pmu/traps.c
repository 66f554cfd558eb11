/* The traps: seccomp turns the system calls on simulated descriptors into signals. The CPU does the same with rdpmc,
 * which user code may not execute if no real event is mapped. The handlers answer in place of the kernel and the CPU.
 *
 * Handlers call only raw system calls and the rules. Trapped, and so forbidden to them: perf_event_open, and reads,
 * ioctls, closings and mappings of the simulation's own descriptors. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "internal.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

struct world *world;
/* The pages of all events: one file, mapped for writing here before any child is forked. */
static char *pages;
enum { PAGE = 4096, PAGES_FD = FIRST_FD + MAX_EVENTS };

static long raw(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static int thread_id(void) { return (int)raw(SYS_gettid, 0, 0, 0, 0, 0, 0); }

static void fail(const char *what)
{
    fprintf(stderr, "simulated_pmu: %s: %s\n", what, strerror(errno));
    abort();
}

/* Handlers run with every signal blocked, so only other threads and processes compete. */
static void lock_world(void)
{
    while (__atomic_exchange_n(&world->lock, 1, __ATOMIC_ACQUIRE)) raw(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}
static void unlock_world(void) { __atomic_store_n(&world->lock, 0, __ATOMIC_RELEASE); }

static struct event *event_of(long fd)
{
    if (fd < FIRST_FD || fd >= FIRST_FD + MAX_EVENTS || !world->events[fd - FIRST_FD].used) return NULL;
    return &world->events[fd - FIRST_FD];
}

static long close_event(struct event *event);

/* Closes the descriptors of processes that have ended. */
static void bury_the_dead(void)
{
    const int self = (int)raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
    for (int i = 0; i < MAX_EVENTS; i++) {
        struct event *event = &world->events[i];
        if (event->used && event->process != self && raw(SYS_kill, event->process, 0, 0, 0, 0, 0) == -ESRCH) close_event(event);
    }
}

/* ── system calls ─────────────────────────────────────────────────────────────────────────────────────── */

static long open_event(const struct perf_event_attr *attr, int pid, int cpu, long group, long flags)
{
    bury_the_dead();
    world->statistics.opens++;
    const int software = attr->type == PERF_TYPE_SOFTWARE;
    if (!software && attr->type != PERF_TYPE_HARDWARE && attr->type != PERF_TYPE_HW_CACHE && attr->type != PERF_TYPE_RAW)
        return -ENOENT;
    if (pid == -1 && cpu == -1) return -EINVAL;
    const int tid = pid == 0 ? thread_id() : pid;
    if (tid > 0 && raw(SYS_tkill, tid, 0, 0, 0, 0, 0) == -ESRCH) return -ESRCH;
    struct event *leader = NULL;
    if (group >= 0) {
        leader = event_of(group);
        if (leader == NULL) return -EBADF;
        /* All events of a group have one thread. */
        if (leader->tid != tid) return -EINVAL;
        if (world->events[leader->leader].leader != leader->leader) return -EINVAL;
        leader = &world->events[leader->leader];
        /* The kernel's trial: would the group fit an empty PMU? */
        if (!software && !group_has_room(leader, 1)) return -EINVAL;
    }
    int slot = 0;
    while (slot < MAX_EVENTS && world->events[slot].used) slot++;
    if (slot == MAX_EVENTS) return -EMFILE;

    const long fd = raw(SYS_dup3, PAGES_FD, FIRST_FD + slot, flags & PERF_FLAG_FD_CLOEXEC ? O_CLOEXEC : 0, 0, 0, 0);
    if (fd < 0) return fd;
    struct event *event = &world->events[slot];
    memset(event, 0, sizeof *event);
    event->used = 1;
    event->leader = leader != NULL ? leader->leader : slot;
    event->tid = tid;
    event->type = attr->type;
    event->config = attr->config;
    event->id = (UINT64_C(1) << 32) + ++world->next_id;
    event->read_format = attr->read_format;
    event->software = software;
    event->process = (int)raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
    event->page = (struct perf_event_mmap_page *)(pages + PAGE * slot);
    memset(event->page, 0, PAGE);
    event->period_left = (int64_t)((UINT64_C(1) << (world->options.period ? world->options.period : world->options.width - 1)) - 1);
    event->stamp = now();
    /* A member that is not disabled is enabled with its leader. */
    event->state = attr->disabled || (leader != NULL && leader->state == OFF) ? OFF : INACTIVE;
    publish(event);
    world->statistics.open_events++;
    if (event->state == INACTIVE) reschedule();
    return fd;
}

static long close_event(struct event *event)
{
    const long fd = FIRST_FD + (event - world->events);
    world->statistics.closes++;
    if (event->leader == event - world->events) {
        /* The members of a closed leader continue alone. */
        for (int i = 0; i < MAX_EVENTS; i++)
            if (world->events[i].used && world->events[i].leader == event - world->events) world->events[i].leader = i;
    }
    event->used = 0;
    world->statistics.open_events--;
    /* close itself is trapped for this descriptor. */
    raw(SYS_close_range, fd, fd, 0, 0, 0, 0);
    reschedule();
    return 0;
}

static long read_event(struct event *event, uint64_t *buffer, uint64_t size)
{
    world->statistics.reads++;
    if (world->options.drift) count_all(UINT64_C(100) * world->options.drift);
    struct event *leader = &world->events[event->leader];
    uint64_t answer[3 + 2 * MAX_EVENTS];
    size_t length = 0;
    note_times(leader);
    if (event->read_format & PERF_FORMAT_GROUP) {
        answer[length++] = 0;
        answer[length++] = leader->enabled;
        answer[length++] = leader->running;
        for (int i = 0; i < MAX_EVENTS; i++) {
            struct event *member = &world->events[i];
            if (!member->used || member->leader != event->leader) continue;
            update(member);
            answer[length++] = member->count;
            answer[length++] = member->id;
            answer[0]++;
        }
    } else {
        note_times(event);
        update(event);
        answer[length++] = event->count;
        answer[length++] = event->enabled;
        answer[length++] = event->running;
        answer[length++] = event->id;
    }
    if (size < length * 8) return -ENOSPC;
    memcpy(buffer, answer, length * 8);
    return (long)(length * 8);
}

static void switch_group(struct event *leader, int on)
{
    /* Only the leader is checked; its members follow it, because they were opened enabled. */
    for (int i = 0; i < MAX_EVENTS; i++) {
        struct event *event = &world->events[i];
        if (!event->used || &world->events[event->leader] != leader) continue;
        if (on && event->state == OFF) {
            note_times(event);
            event->state = INACTIVE;
        } else if (!on && event->state != OFF) {
            update(event);
            note_times(event);
            const int was_active = event->state == ACTIVE;
            event->state = OFF;
            if (was_active) publish(event);
        }
    }
    reschedule();
}

static long control_event(struct event *event, unsigned long request, unsigned long argument)
{
    world->statistics.ioctls++;
    if (world->options.drift) count_all(UINT64_C(100) * world->options.drift);
    switch (request) {
    case PERF_EVENT_IOC_ENABLE: switch_group(event, 1); return 0;
    case PERF_EVENT_IOC_DISABLE: switch_group(event, 0); return 0;
    case PERF_EVENT_IOC_ID: *(uint64_t *)argument = event->id; return 0;
    case PERF_EVENT_IOC_RESET:
    case PERF_EVENT_IOC_PERIOD:
        world->statistics.resets++;
        update(event);
        event->count = event->truth = 0;
        publish(event);
        return 0;
    default: return -ENOTTY;
    }
}

static long map_event(struct event *event, uint64_t length, long protection, long flags, long offset)
{
    world->statistics.maps++;
    if (!(flags & MAP_SHARED) || protection & PROT_EXEC || length != 4096 || offset != 0) return -EINVAL;
    /* Mapping republishes the page, live or not. */
    publish(event);
    const long address = raw(SYS_mmap, 0, PAGE, PROT_READ, MAP_SHARED, PAGES_FD, PAGE * (event - world->events));
    if (address > 0) raw(SYS_madvise, address, 4096, MADV_DONTFORK, 0, 0, 0);
    return address;
}

static void on_sigsys(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    lock_world();
    catch_up();
    struct event *event = event_of(info->si_syscall == SYS_mmap ? regs[REG_R8] : regs[REG_RDI]);
    long result = -EBADF;
    if (info->si_syscall == SYS_perf_event_open)
        result = open_event((const struct perf_event_attr *)regs[REG_RDI], (int)regs[REG_RSI], (int)regs[REG_RDX],
                            (int)regs[REG_R10], regs[REG_R8]);
    else if (event == NULL)
        result = -EBADF;
    else if (info->si_syscall == SYS_read)
        result = read_event(event, (uint64_t *)regs[REG_RSI], (uint64_t)regs[REG_RDX]);
    else if (info->si_syscall == SYS_ioctl)
        result = control_event(event, (unsigned long)regs[REG_RSI], (unsigned long)regs[REG_RDX]);
    else if (info->si_syscall == SYS_close)
        result = close_event(event);
    else if (info->si_syscall == SYS_mmap)
        result = map_event(event, (uint64_t)regs[REG_RSI], regs[REG_RDX], regs[REG_R10], regs[REG_R9]);
    unlock_world();
    regs[REG_RAX] = result;
}

/* ── rdpmc ────────────────────────────────────────────────────────────────────────────────────────────── */

static uint64_t read_counter(uint32_t ecx)
{
    const int tid = thread_id();
    const uint64_t above = world->options.width < 64 ? ~UINT64_C(0) << world->options.width : 0;
    /* Bits that the architecture leaves undefined get garbage. */
    uint64_t value = UINT64_C(0x0123456789abcdef);
    struct event *found = NULL;
    for (int i = 0; i < MAX_EVENTS; i++) {
        struct event *event = &world->events[i];
        if (!event->used || event->state != ACTIVE || event->software || event->index != ecx + 1) continue;
        /* Prefers an event of this thread, which is on its CPU's PMU. Any other event shows whose counter was read
         * instead. */
        if (found == NULL || event->tid == tid) found = event;
    }
    world->statistics.rdpmcs++;
    if (world->options.drift) count_all(world->options.drift);
    if (found != NULL) {
        if (found->tid != tid) world->statistics.foreign_rdpmcs++;
        value = found->reg | (above & UINT64_C(0xa5a5a5a5a5a5a5a5));
    }
    if (world->act_in != 0 && --world->act_in == 0) act(world->act);
    return value;
}

static void on_sigsegv(int signal, siginfo_t *info, void *context)
{
    (void)info;
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)regs[REG_RIP];
    /* A general protection fault of the instruction, not an access to unmapped memory. */
    if (info->si_code == SI_KERNEL && code[0] == 0x0f && code[1] == 0x33) {
        lock_world();
        catch_up();
        const uint64_t value = read_counter((uint32_t)regs[REG_RCX]);
        unlock_world();
        regs[REG_RAX] = (greg_t)(value & 0xffffffff);
        regs[REG_RDX] = (greg_t)(value >> 32);
        regs[REG_RIP] += 2;
        return;
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, NULL);
}

/* ── set-up ───────────────────────────────────────────────────────────────────────────────────────────── */

static void install_filter(void)
{
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (n))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
    struct sock_filter code[] = {
        LOAD(arch),
        IF(AUDIT_ARCH_X86_64, 0, 11),
        LOAD(nr),
        IF(SYS_perf_event_open, 10, 0),
        IF(SYS_mmap, 5, 0),
        IF(SYS_read, 2, 0),
        IF(SYS_ioctl, 1, 0),
        IF(SYS_close, 0, 5),
        LOAD_ARGUMENT(0),
        BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
        LOAD_ARGUMENT(4),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_FD, 0, 1),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_FD + MAX_EVENTS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) fail("seccomp");
}

static uint32_t setting(const char *name, uint32_t otherwise)
{
    const char *text = getenv("SIMULATED_PMU");
    const size_t length = strlen(name);
    while (text != NULL && (text = strstr(text, name)) != NULL) {
        if (text[length] == '=') return (uint32_t)strtoul(text + length + 1, NULL, 0);
        text += length;
    }
    return otherwise;
}

EXPORT void simulated_pmu_reset(const simulated_pmu_options *options)
{
    for (int i = 0; i < MAX_EVENTS; i++)
        if (world->events[i].used) close_event(&world->events[i]);
    const uint64_t mult = world->mult;
    memset(world, 0, sizeof *world);
    world->mult = mult;
    world->last_ticks = world->time_ticks = ticks();
    if (options != NULL) {
        world->options = *options;
        return;
    }
    world->options.width = setting("width", 48);
    world->options.counters = 4;
    world->options.user_reads = 1;
    world->options.user_time = setting("user_time", 0);
    world->options.clock = setting("clock", 0);
}

/* The ticks and the nanoseconds of one moment: takes several, and selects the one with the least delay. */
static uint64_t pair(uint64_t *nanos)
{
    uint64_t least = UINT64_MAX, middle = 0;
    for (int i = 0; i < 16; i++) {
        struct timespec time;
        const uint64_t before = ticks();
        clock_gettime(CLOCK_MONOTONIC, &time);
        const uint64_t span = ticks() - before;
        if (span >= least) continue;
        least = span;
        middle = before + span / 2;
        *nanos = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    }
    return middle;
}

/* Nanoseconds per tick, approximately: the simulation's time is independent. */
static uint64_t calibrate(void)
{
    const struct timespec wait = {0, 2000000};
    uint64_t from, to;
    const uint64_t start = pair(&from);
    nanosleep(&wait, NULL);
    const uint64_t passed = pair(&to) - start;
    return ((to - from) << 32) / passed;
}

__attribute__((constructor)) static void start(void)
{
    world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (world == MAP_FAILED) fail("memory");
    const int memory = memfd_create("simulated_pmu", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, PAGE * MAX_EVENTS) != 0 || dup3(memory, PAGES_FD, O_CLOEXEC) < 0) fail("memory");
    close(memory);
    pages = (char *)mmap(NULL, PAGE * MAX_EVENTS, PROT_READ | PROT_WRITE, MAP_SHARED, PAGES_FD, 0);
    if (pages == MAP_FAILED) fail("memory");
    world->mult = calibrate();
    simulated_pmu_reset(NULL);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigfillset(&action.sa_mask);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = on_sigsys;
    if (sigaction(SIGSYS, &action, NULL) != 0) fail("SIGSYS");
    action.sa_sigaction = on_sigsegv;
    if (sigaction(SIGSEGV, &action, NULL) != 0) fail("SIGSEGV");
    install_filter();
}

/* ── for tests ────────────────────────────────────────────────────────────────────────────────────────── */

static struct event *nth(uint32_t k)
{
    for (int i = 0; i < MAX_EVENTS; i++)
        if (world->events[i].used && k-- == 0) return &world->events[i];
    return NULL;
}

EXPORT void simulated_pmu_count(uint64_t n)
{
    lock_world();
    catch_up();
    count_all(n);
    unlock_world();
}

EXPORT void simulated_pmu_count_on(int32_t tid, uint64_t n)
{
    lock_world();
    catch_up();
    count_on(tid, n);
    unlock_world();
}

EXPORT void simulated_pmu_rate(uint64_t config, uint64_t rate)
{
    lock_world();
    catch_up();
    if (config < MAX_RATES) world->rates[config] = rate;
    unlock_world();
}

EXPORT uint64_t simulated_pmu_truth(uint32_t k)
{
    const struct event *event = nth(k);
    return event != NULL ? event->truth : 0;
}

EXPORT void simulated_pmu_act(int action)
{
    lock_world();
    act(action);
    unlock_world();
}

EXPORT void simulated_pmu_act_at(uint32_t k, int action)
{
    world->act_in = k;
    world->act = action;
}

EXPORT void simulated_pmu_get_statistics(simulated_pmu_statistics *out) { *out = world->statistics; }
