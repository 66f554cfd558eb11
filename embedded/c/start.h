/* What start.c offers, and what it expects of the program. */
#include <stdint.h>

void say(const char *text);
/* Calls tick every so many cycles; 0 stops it. */
void start_timer(uint32_t cycles);

/* Of the program. */
void tick(void);
int main(void);
