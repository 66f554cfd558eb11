/* Vectors, startup, critical sections and a console for a freestanding program on a Cortex-M, in C or Rust. */
#include "start.h"

extern uint32_t data_start, data_end, data_source, bss_start, bss_end, stack_top;

static uint32_t semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void say(const char *text)
{
    semihosting(0x04, text);
}

void leave(uint32_t code)
{
    const uint32_t block[2] = {0x20026, code};
    semihosting(0x20, block);
    for (;;) {}
}

void reset(void)
{
    for (uint32_t *from = &data_source, *to = &data_start; to < &data_end;) *to++ = *from++;
    for (uint32_t *to = &bss_start; to < &bss_end;) *to++ = 0;
    leave((uint32_t)main());
}

static void fault(void)
{
    say("FAULT\n");
    leave(99);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, 0, 0, fault, tick,
};

void start_timer(uint32_t cycles)
{
    volatile uint32_t *systick = (volatile uint32_t *)0xe000e010;
    systick[1] = cycles - 1;
    systick[2] = 0;
    systick[0] = cycles != 0 ? 7 : 0;
    /* Nothing goes on before the timer has the new setting: after a stop, its handler has run for the last time. */
    (void)systick[0];
    __asm__ volatile("dsb\n\tisb" : : : "memory");
}

/* docs/embedded.md requires this of the program: nobody else runs between the two calls, and they nest. */
uint32_t picollo_critical_section_enter(void)
{
    uint32_t masked;
    __asm__ volatile("mrs %0, PRIMASK\n\tcpsid i" : "=r"(masked) : : "memory");
    return masked;
}

void picollo_critical_section_leave(uint32_t masked)
{
    if ((masked & 1) == 0) __asm__ volatile("cpsie i" : : : "memory");
}
