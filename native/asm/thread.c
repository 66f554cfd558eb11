/* The calling thread's token, a thread-local number, and the data that exemplars keep for it, a thread-local pointer.
 *
 * In a shared library a thread-local variable costs a call into the dynamic linker, unless it uses the initial-exec model, which
 * Rust cannot request. Its room is small, and all libraries of a process share it, so we take only two words. musl refuses the
 * model to libraries that are loaded late, so musl builds use the default model. */
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN uint64_t picollo_asm_thread_token(void);
HIDDEN void picollo_asm_set_thread_token(uint64_t value);
HIDDEN void *picollo_asm_thread_account(void);
HIDDEN void picollo_asm_set_thread_account(void *value);

#if defined(__GLIBC__) && !defined(__ANDROID__)
#define MODEL __attribute__((tls_model("initial-exec")))
#else
#define MODEL
#endif
MODEL static __thread uint64_t token;
MODEL static __thread void *account;

uint64_t picollo_asm_thread_token(void) { return token; }
void picollo_asm_set_thread_token(uint64_t value) { token = value; }
void *picollo_asm_thread_account(void) { return account; }
void picollo_asm_set_thread_account(void *value) { account = value; }
