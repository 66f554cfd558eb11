/* For programs that load the library at run time. */
#ifndef PICOLLO_TEST_LOADED_H
#define PICOLLO_TEST_LOADED_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <picollo.h>

#define TEXT_OF(number) #number
#define NUMBERED(number) "libpicollo.so." TEXT_OF(number)
/* The name that programs are linked with. */
#define SONAME NUMBERED(PICOLLO_ABI_VERSION)

static inline void *load(void)
{
    void *const library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
    return library;
}

/* Data pointers do not convert to function pointers, but their bytes can be copied. */
static void find(void *library, const char *name, void *function)
{
    void *const symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
    memcpy(function, &symbol, sizeof symbol);
}

#endif /* PICOLLO_TEST_LOADED_H */
