/* The stack use of calls, measured on painted stacks. Threads may have little stack: 128 KiB is musl's default, and at
 * least 16 KiB exist everywhere. `PICOLLO_STACK=1` prints a table. */
#include "uses.h"

#include <pthread.h>
#include <sys/mman.h>

enum { PAINTED = 1 << 20, PAINT = 0xa5, MOST = 16 << 10 };

static void nothing(void) {}

static void *run(void *use)
{
    ((const struct use *)use)->run();
    return NULL;
}

static size_t stack_of(const struct use *use)
{
    unsigned char *const stack =
        (unsigned char *)mmap(NULL, PAINTED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    size_t unused = 0;
    if (stack == MAP_FAILED) abort();
    memset(stack, PAINT, PAINTED);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstack(&attributes, stack, PAINTED) == 0);
    CHECK(pthread_create(&thread, &attributes, run, (void *)(uintptr_t)use) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    while (unused < PAINTED && stack[unused] == PAINT) unused++;
    CHECK(munmap(stack, PAINTED) == 0);
    return PAINTED - unused;
}

static void no_call_needs_much_stack(void)
{
    const struct use idle = {"nothing", nothing};
    if (SANITIZED || is_quick()) {
        SKIPPED("sanitizers put more on the stack, and memcheck minds that it is looked at");
        return;
    }
    const size_t base = stack_of(&idle);
    for (size_t i = 0; i < USES; i++) {
        const size_t used = stack_of(&uses[i]), own = used > base ? used - base : 0;
        /* Whoever makes a benchmark chooses the thread. */
        const size_t most = uses[i].run == benchmarks ? MOST + MOST / 2 : MOST;
        if (getenv("PICOLLO_STACK") != NULL) printf("%-34s %7zu bytes of stack\n", uses[i].name, own);
        if (own > most) {
            fprintf(stderr, "%s: ", uses[i].name);
            CHECK_U64(most, own);
        }
    }
}

int main(void)
{
    RUN(no_call_needs_much_stack);
    return report();
}
