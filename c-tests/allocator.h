/* The program's own malloc, which the library finds before the C library's. It calls may_allocate, which the including
 * file defines, and counts the blocks that are not yet freed. */
#ifndef PICOLLO_TEST_ALLOCATOR_H
#define PICOLLO_TEST_ALLOCATOR_H

#include <errno.h>
#include <stdlib.h>

/* Whether there is memory for an allocation; otherwise sets errno. */
static int may_allocate(size_t size);

static long live;

static void *counted(void *block)
{
    if (block != NULL) live++;
    return block;
}

#ifdef __cplusplus
#define NOTHROW noexcept(true)
extern "C" {
#else
#define NOTHROW
#endif

/* glibc's allocator, by its other names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *block);

void *malloc(size_t size) NOTHROW { return may_allocate(size) ? counted(__libc_malloc(size)) : NULL; }
void *calloc(size_t number, size_t size) NOTHROW { return may_allocate(number * size) ? counted(__libc_calloc(number, size)) : NULL; }
void *realloc(void *block, size_t size) NOTHROW
{
    if (!may_allocate(size)) return NULL;
    return block == NULL ? counted(__libc_malloc(size)) : __libc_realloc(block, size);
}
void *aligned_alloc(size_t align, size_t size) NOTHROW { return may_allocate(size) ? counted(__libc_memalign(align, size)) : NULL; }
int posix_memalign(void **out, size_t align, size_t size) NOTHROW
{
    void *const block = may_allocate(size) ? counted(__libc_memalign(align, size)) : NULL;
    if (block == NULL) return ENOMEM;
    *out = block;
    return 0;
}
void free(void *block) NOTHROW
{
    if (block != NULL) live--;
    __libc_free(block);
}

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_TEST_ALLOCATOR_H */
