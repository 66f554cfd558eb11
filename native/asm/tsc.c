/* The CPU's cycle-independent time counter: TSC on x86, the virtual counter on aarch64.
 *
 * The asm statements are volatile and clobber memory: a read of time must stay where the source puts it, relative to other
 * volatile accesses and to calls. The plain read does not wait for earlier instructions. The ordered one waits for them and
 * holds back later ones. (LFENCE serializes execution on Intel, and on AMD because Linux sets the MSR that makes it so.) */
#include <stdint.h>

__attribute__((visibility("hidden"))) uint64_t picollo_asm_tsc(void);
__attribute__((visibility("hidden"))) uint64_t picollo_asm_tsc_ordered(void);
__attribute__((visibility("hidden"))) void picollo_asm_fence(void);

#if defined(__x86_64__) || defined(__i386__)

uint64_t picollo_asm_tsc(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return ((uint64_t)high << 32) | low;
}

uint64_t picollo_asm_tsc_ordered(void) {
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return ((uint64_t)high << 32) | low;
}

void picollo_asm_fence(void) { __asm__ volatile("lfence" : : : "memory"); }

#elif defined(__aarch64__)

uint64_t picollo_asm_tsc(void) {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
}

uint64_t picollo_asm_tsc_ordered(void) {
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
}

void picollo_asm_fence(void) { __asm__ volatile("isb" : : : "memory"); }

__attribute__((visibility("hidden"))) uint64_t picollo_asm_tsc_frequency(void);

uint64_t picollo_asm_tsc_frequency(void) {
    uint64_t hertz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
    return hertz;
}

#else

/* User code can read no counter here: the caller uses the monotonic clock and never calls these. */
uint64_t picollo_asm_tsc(void) { return 0; }
uint64_t picollo_asm_tsc_ordered(void) { return 0; }
void picollo_asm_fence(void) { __asm__ volatile("" : : : "memory"); }

#endif
