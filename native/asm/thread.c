/* The calling thread's token: a thread-local number.
 *
 * In a shared library a thread-local variable costs a call into the dynamic linker, unless it uses the initial-exec model, which
 * Rust cannot ask for. Its room is small and shared by all libraries of a process: one word is all we take. musl refuses the
 * model to libraries that are loaded late, so that it gets the usual one. */
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN uint64_t picollo_asm_thread_token(void);
HIDDEN void picollo_asm_set_thread_token(uint64_t value);

#if defined(__GLIBC__) && !defined(__ANDROID__)
__attribute__((tls_model("initial-exec")))
#endif
static __thread uint64_t token;

uint64_t picollo_asm_thread_token(void) { return token; }
void picollo_asm_set_thread_token(uint64_t value) { token = value; }
