/* Known work: a chain of dependent additions, to check clocks and counters against.
 *
 * Each repetition is exactly 256 additions, and each waits for the one before: 256 cycles, 256 instructions. The loop's own two
 * instructions run beside the chain and cost no further cycles.
 *
 * The addend is in a register on purpose. Recent Intel cores (Golden Cove and later) add a small immediate when they rename
 * registers, so in a chain of `add $1, reg` each addition takes far less than a cycle. */
#include <stdint.h>

__attribute__((visibility("hidden"))) void picollo_asm_work_add_chain_256(uint64_t repetitions);

#if defined(__x86_64__)
#define ADD_256(sum, addend) __asm__ volatile(".rept 256\n\taddq %1, %0\n\t.endr" : "+r"(sum) : "r"(addend) : "cc")
#elif defined(__aarch64__)
#define ADD_256(sum, addend) __asm__ volatile(".rept 256\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(addend))
#else
/* The empty asm keeps the compiler from merging two additions. Here the loop adds its own cost. */
#define ADD_256(sum, addend)                                                                                                 \
    for (int i = 0; i < 256; i++) {                                                                                          \
        sum += addend;                                                                                                       \
        __asm__ volatile("" : "+r"(sum));                                                                                    \
    }
#endif

void picollo_asm_work_add_chain_256(uint64_t repetitions) {
    uintptr_t sum = 0;
    uintptr_t addend = 1;
    /* The compiler must not learn that the addend is 1 and turn it into an immediate. */
    __asm__ volatile("" : "+r"(addend));
    for (; repetitions != 0; repetitions--) {
        ADD_256(sum, addend);
    }
}
