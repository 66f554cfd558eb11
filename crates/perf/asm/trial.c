/* The child that tests whether reading a counter in user space faults. Creating it copies nothing.
 *
 * The child shares the address space of its parent, as vfork's does. No page table is copied, so its cost does not depend on how
 * much memory the process has. The price is that everything it writes, it writes in its parent. So it runs on a separate stack,
 * makes its system calls directly (the C library's would write errno, which is the parent thread's), allocates nothing, takes no
 * lock, and touches no thread-local storage. The parent's thread is suspended until the child has ended, and other threads
 * continue meanwhile.
 *
 * Faults: handlers are per process here (no CLONE_SIGHAND), so the child installs its own, which end it. It must not die of the
 * signal's default action: that would be a core dump, for which kernels before 5.16 end every process of the address space. */
#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))
/* Instrumentation would use the thread-local storage of the parent's thread. */
#define PLAIN __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

/* Exit codes of the child, as in trial.rs. */
enum { SAFE = 0, UNKNOWN = 1, FAULTED = 2 };

/* What the child needs, and what it leaves behind; as in trial.rs. */
struct trial {
    void *attributes;         /* of the event, as perf_event_open takes them */
    uint64_t page_bytes;
    uint64_t capabilities;    /* that the event's page must show */
    uint64_t enable;          /* the request that starts an event */
    void *page;               /* the event's page, which stays mapped where the address space is the parent's */
};

HIDDEN int64_t picollo_asm_trial_start(void *top, int (*body)(void *), void *argument);
HIDDEN int picollo_asm_trial_counter(void *trial);

uint64_t picollo_asm_pmc_read(uint32_t index);
int picollo_asm_pmc_has(uint32_t index);

enum { SIGNAL_ILL = 4, SIGNAL_BUS = 7, SIGNAL_SEGV = 11, SIGNAL_SYS = 31 };

#if defined(__linux__) && ((defined(__x86_64__) && !defined(__ILP32__)) || defined(__aarch64__))

#if defined(__x86_64__)
enum { OPEN_EVENT = 298, MAP = 9, CONTROL = 16, ACTION = 13, CLONE = 56, EXIT = 231 };
#else
enum { OPEN_EVENT = 241, MAP = 222, CONTROL = 29, ACTION = 134, CLONE = 220, EXIT = 94 };
#endif

/* CLONE_VM and CLONE_VFORK without an exit signal: the host gets no SIGCHLD, and its wait calls do not see the child. posix_spawn
 * uses the same flags: sandboxes know them, and debuggers and emulators take them for a vfork. */
enum { SHARED = 0x100 | 0x4000 };

PLAIN static long call(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#endif
}

PLAIN static void leave(int code) {
    for (;;) call(EXIT, code, 0, 0, 0, 0, 0);
}

PLAIN static void on_fault(int signal) {
    (void)signal;
    leave(FAULTED);
}

PLAIN static void on_refusal(int signal) {
    (void)signal;
    leave(UNKNOWN);
}

/* struct sigaction as the kernel has it. */
struct action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(int);
    uint64_t mask;
};

PLAIN static void handle(int signal, void (*handler)(int)) {
    /* Handlers never return, but x86 requires a return address: SA_RESTORER. */
    struct action action = {handler, 0x04000000, handler, 0};
    call(ACTION, signal, (long)&action, 0, sizeof action.mask, 0, 0);
}

PLAIN static void run(int (*body)(void *), void *argument) {
    struct action before = {0, 0, 0, 0};
    handle(SIGNAL_SEGV, on_fault);
    handle(SIGNAL_BUS, on_fault);
    handle(SIGNAL_ILL, on_fault);
    /* If a sandbox has a handler for system calls, it stays in force here. Otherwise, a refused call must not dump core. */
    call(ACTION, SIGNAL_SYS, 0, (long)&before, sizeof before.mask, 0, 0);
    if ((uintptr_t)before.handler <= 1) handle(SIGNAL_SYS, on_refusal);
    leave(body(argument));
}

/* Returns only in the parent, after the child has ended: the child's process id, or a negative errno. */
PLAIN int64_t picollo_asm_trial_start(void *top, int (*body)(void *), void *argument) {
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 0;
    register int (*r12)(void *) __asm__("r12") = body;
    register void *r13 __asm__("r13") = argument;
    register void (*r14)(int (*)(void *), void *) __asm__("r14") = run;
    /* The child has its parent's registers, except rax and the stack. A zero frame pointer marks the outermost frame. */
    __asm__ volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xorl %%ebp, %%ebp\n\t"
                     "movq %%r12, %%rdi\n\t"
                     "movq %%r13, %%rsi\n\t"
                     "call *%%r14\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(result)
                     : "a"((long)CLONE), "D"((long)SHARED), "S"(top), "d"(0L), "r"(r10), "r"(r8), "r"(r12), "r"(r13), "r"(r14)
                     : "rcx", "r11", "memory", "cc");
    return result;
#else
    register long x8 __asm__("x8") = CLONE;
    register long x0 __asm__("x0") = SHARED;
    register void *x1 __asm__("x1") = top;
    register long x2 __asm__("x2") = 0;
    register long x3 __asm__("x3") = 0;
    register long x4 __asm__("x4") = 0;
    register int (*x9)(void *) __asm__("x9") = body;
    register void *x10 __asm__("x10") = argument;
    register void (*x11)(int (*)(void *), void *) __asm__("x11") = run;
    __asm__ volatile("svc 0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "mov x30, xzr\n\t"
                     "mov x0, x9\n\t"
                     "mov x1, x10\n\t"
                     "blr x11\n\t"
                     "brk 1\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x9), "r"(x10), "r"(x11)
                     : "memory", "cc");
    return x0;
#endif
}

static PLAIN long open_event(void *attributes) { return call(OPEN_EVENT, (long)attributes, 0, -1, -1, 8, 0); }

static PLAIN void *map_page(uint64_t bytes, long fd) {
    /* PROT_READ, MAP_SHARED. */
    const long page = call(MAP, 0, (long)bytes, 1, 1, fd, 0);
    return page < 0 && page > -4096 ? NULL : (void *)page;
}

static PLAIN int start_event(long fd, uint64_t enable) { return call(CONTROL, fd, (long)enable, 0, 0, 0, 0) == 0; }

/* Runs in the child: opens its own event, maps it, and reads its counter once while the page does not change. */
PLAIN int picollo_asm_trial_counter(void *argument) {
    struct trial *trial = (struct trial *)argument;
    const long fd = open_event(trial->attributes);
    if (fd < 0) return UNKNOWN;
    const unsigned char *page = (const unsigned char *)map_page(trial->page_bytes, fd);
    if (page == NULL) return UNKNOWN;
    trial->page = (void *)page;
    if (!start_event(fd, trial->enable)) return UNKNOWN;
    /* struct perf_event_mmap_page: its lock, index and capabilities. */
    const uint32_t *lock = (const uint32_t *)(page + 8), *index_of = (const uint32_t *)(page + 12);
    const uint64_t *capabilities = (const uint64_t *)(page + 40);
    for (int i = 0; i < 1000; i++) {
        const uint32_t before = __atomic_load_n(lock, __ATOMIC_ACQUIRE);
        const uint32_t index = __atomic_load_n(index_of, __ATOMIC_RELAXED);
        const uint64_t can = __atomic_load_n(capabilities, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before & 1 || __atomic_load_n(lock, __ATOMIC_RELAXED) != before) continue;
        if ((can & trial->capabilities) != trial->capabilities || !picollo_asm_pmc_has(index)) continue;
        picollo_asm_pmc_read(index);
        /* A read is valid only if the page did not change around it. */
        if (__atomic_load_n(lock, __ATOMIC_RELAXED) == before) return SAFE;
    }
    return UNKNOWN;
}

#else

/* ENOSYS: nothing is tried here, and counters are read by system call. */
int64_t picollo_asm_trial_start(void *top, int (*body)(void *), void *argument) {
    (void)top, (void)body, (void)argument;
    return -38;
}

int picollo_asm_trial_counter(void *trial) {
    (void)trial;
    return UNKNOWN;
}

#endif
