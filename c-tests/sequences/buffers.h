/* Buffers that calls write to: bytes after the end, and buffers of refused calls, must not change. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "world.h"

#define UNTOUCHED 0x5a

/* Bytes after a block detect overruns; AddressSanitizer detects them better, and also reads. */
#ifdef __SANITIZE_ADDRESS__
#define GUARD 0
#else
#define GUARD 16
#endif

static inline void *guarded(size_t size)
{
    void *const block = malloc(size + GUARD);
    if (block == NULL && size + GUARD > 0) abort();
    if (block != NULL) memset(block, UNTOUCHED, size + GUARD);
    return block;
}

static inline int is_untouched(const void *block, size_t from, size_t to)
{
    const unsigned char *const bytes = (const unsigned char *)block;
    for (size_t i = from; i < to; i++) {
        if (bytes[i] != UNTOUCHED) return 0;
    }
    return 1;
}

#define CHECK_GUARD(block, size) REQUIRE(is_untouched(block, size, (size) + GUARD))

/* A call that must fail with this status, without changing its output. */
#define REFUSED(expected, out, call)                                                                    \
    do {                                                                                                \
        memset(&(out), UNTOUCHED, sizeof(out));                                                         \
        EXPECT(expected, call);                                                                         \
        if (!is_untouched(&(out), 0, sizeof(out))) FAIL("%s has written to %s", #call, #out);           \
    } while (0)

/* The text of a registry, to be freed: queried for its length, then with too little room, and with exactly enough. */
static inline char *text_of_registry(struct world *world, const picollo_registry *registry, uint32_t format)
{
    size_t needed = 0, length = 0;
    const picollo_status asked = picollo_registry_encode(registry, format, NULL, 0, &needed);
    EXPECT(needed == 0 ? PICOLLO_OK : PICOLLO_ERR_BUFFER_TOO_SMALL, asked);
    char *const text = (char *)guarded(needed + 1);
    if (needed > 0) {
        EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_registry_encode(registry, format, text, (size_t)choose(world, needed), &length));
        SAME(needed, length);
        REQUIRE(is_untouched(text, 0, needed + 1));
    }
    EXPECT(PICOLLO_OK, picollo_registry_encode(registry, format, text, needed, &length));
    SAME(needed, length);
    REQUIRE(is_untouched(text, needed, needed + 1));
    text[needed] = 0;
    SAME(needed, strlen(text));
    return text;
}

/* Titles of all kinds, also NULL. */
static inline const char *any_title(struct world *world)
{
    static const char *const titles[] = {"", "Latency", "a|b\n# c", "\"q\",\\", "P\xc3\xa9\xe2\x82\xac", "\t\x01<&>", "</script>-->", NULL};
    return titles[choose(world, sizeof titles / sizeof *titles)];
}

/* Not UTF-8. */
#define NO_TEXT "a\xff"

#endif /* BUFFERS_H */
