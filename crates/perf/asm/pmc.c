/* Reading a performance counter in user space: `rdpmc` on x86, the PMU's registers on aarch64.
 *
 * The argument is the index in the kernel's page (never 0: that means "not on the PMU"). The caller has checked it. Reading a
 * register that the kernel does not open to user code raises SIGSEGV on x86 and SIGILL on aarch64.
 *
 * The asm statements are volatile and clobber memory: the read must stay between the two looks at the page's lock. Neither
 * instruction waits for earlier ones; the fence of the clock does, and it holds back later ones. */
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN uint64_t picollo_asm_pmc_read(uint32_t index);
HIDDEN int picollo_asm_pmc_has(uint32_t index);

#if defined(__x86_64__) || defined(__i386__)

uint64_t picollo_asm_pmc_read(uint32_t index) {
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1) : "memory");
    return ((uint64_t)high << 32) | low;
}

/* Accepts the general counters 0 to 63, and the fixed counters, which have bit 30 set. Bit 29 would be PERF_METRICS, which
 * holds packed 8-bit fractions and no count. */
int picollo_asm_pmc_has(uint32_t index) {
    uint32_t counter = index - 1;
    return index != 0 && (counter & ~(UINT32_C(1) << 30)) < 64;
}

#elif defined(__aarch64__)

/* Each register has its own function, since `mrs` names its register in the instruction. Entry n reads PMEVCNTRn_EL0. The list
 * writes it by its encoding S3_3_C14_C(8 + n / 8)_(n % 8), and a test decodes all thirty-one to exclude slips. Entry 31 reads
 * PMCCNTR_EL0, the cycle counter. */
#define ENTRY(n, high, low)                                                                                                  \
    static uint64_t pmevcntr_##n(void) {                                                                                     \
        uint64_t value;                                                                                                      \
        __asm__ volatile("mrs %0, s3_3_c14_c" #high "_" #low : "=r"(value) : : "memory");                                    \
        return value;                                                                                                        \
    }
ENTRY(0, 8, 0) ENTRY(1, 8, 1) ENTRY(2, 8, 2) ENTRY(3, 8, 3) ENTRY(4, 8, 4) ENTRY(5, 8, 5) ENTRY(6, 8, 6) ENTRY(7, 8, 7)
ENTRY(8, 9, 0) ENTRY(9, 9, 1) ENTRY(10, 9, 2) ENTRY(11, 9, 3) ENTRY(12, 9, 4) ENTRY(13, 9, 5) ENTRY(14, 9, 6) ENTRY(15, 9, 7)
ENTRY(16, 10, 0) ENTRY(17, 10, 1) ENTRY(18, 10, 2) ENTRY(19, 10, 3) ENTRY(20, 10, 4) ENTRY(21, 10, 5) ENTRY(22, 10, 6)
ENTRY(23, 10, 7) ENTRY(24, 11, 0) ENTRY(25, 11, 1) ENTRY(26, 11, 2) ENTRY(27, 11, 3) ENTRY(28, 11, 4) ENTRY(29, 11, 5)
ENTRY(30, 11, 6)

static uint64_t pmccntr(void) {
    uint64_t value;
    __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value) : : "memory");
    return value;
}

static uint64_t (*const REGISTERS[32])(void) = {
    pmevcntr_0,  pmevcntr_1,  pmevcntr_2,  pmevcntr_3,  pmevcntr_4,  pmevcntr_5,  pmevcntr_6,  pmevcntr_7,
    pmevcntr_8,  pmevcntr_9,  pmevcntr_10, pmevcntr_11, pmevcntr_12, pmevcntr_13, pmevcntr_14, pmevcntr_15,
    pmevcntr_16, pmevcntr_17, pmevcntr_18, pmevcntr_19, pmevcntr_20, pmevcntr_21, pmevcntr_22, pmevcntr_23,
    pmevcntr_24, pmevcntr_25, pmevcntr_26, pmevcntr_27, pmevcntr_28, pmevcntr_29, pmevcntr_30, pmccntr,
};

uint64_t picollo_asm_pmc_read(uint32_t index) { return REGISTERS[(index - 1) & 31](); }

int picollo_asm_pmc_has(uint32_t index) { return index != 0 && index - 1 < 32; }

#else

/* User code can read no counter here: every index is unknown, and the caller uses read(2). */
uint64_t picollo_asm_pmc_read(uint32_t index) {
    (void)index;
    return 0;
}
int picollo_asm_pmc_has(uint32_t index) {
    (void)index;
    return 0;
}

#endif
