/* What start.c provides, and what it needs from the program. */
#include <stdint.h>

void say(const char *text);
/* Ends the program with an exit status. */
void leave(uint32_t code);
/* Calls tick every this many cycles; 0 stops it. */
void start_timer(uint32_t cycles);

/* The program defines these. */
void tick(void);
int main(void);
