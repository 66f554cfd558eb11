/* Buffers that calls write to: what is behind them, and what a refused call has no business with, has to stay as it was. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "world.h"

#define UNTOUCHED 0x5a

/* Behind a block there are bytes that show who writes too far; AddressSanitizer shows it better, and who reads there too. */
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

/* A call that is refused with this status, and leaves what it would have written to as it was. */
#define REFUSED(expected, out, call)                                                                    \
    do {                                                                                                \
        memset(&(out), UNTOUCHED, sizeof(out));                                                         \
        EXPECT(expected, call);                                                                         \
        if (!is_untouched(&(out), 0, sizeof(out))) FAIL("%s has written to %s", #call, #out);           \
    } while (0)

/* The capacities to try that are too small: one, or now and then all that there are. */
struct capacities {
    size_t first, end;
};

static inline struct capacities too_small(struct world *world, size_t needed)
{
    struct capacities tried = {0, needed};
    if (needed > 200 || !rarely(world, 16)) {
        tried.first = (size_t)choose(world, needed == 0 ? 1 : needed);
        tried.end = tried.first + (needed > 0);
    }
    return tried;
}

/* Calls `format(buffer, capacity, length)` for its length, with too little room, and with just enough, and leaves the text in
 * `text`, to be freed. */
#define FORMATS_INTO(text, format)                                                                      \
    do {                                                                                                \
        size_t needed_ = 0, length_ = 0;                                                                \
        char *buffer_;                                                                                  \
        struct capacities tried_;                                                                       \
        EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, format(NULL, 0, &needed_));                                \
        EXPECT(PICOLLO_ERR_NULL_POINTER, format(NULL, 1, &length_));                                    \
        tried_ = too_small(world, needed_ + 1);                                                         \
        for (size_t capacity_ = tried_.first; capacity_ < tried_.end; capacity_++) {                    \
            buffer_ = (char *)guarded(capacity_ + 1);                                                   \
            EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, format(buffer_, capacity_, &length_));                 \
            SAME(needed_, length_);                                                                     \
            REQUIRE(buffer_[0] == (capacity_ == 0 ? UNTOUCHED : 0) && is_untouched(buffer_, 1, capacity_ + 1)); \
            free(buffer_);                                                                              \
        }                                                                                               \
        buffer_ = (char *)guarded(needed_ + 1);                                                         \
        EXPECT(PICOLLO_OK, format(buffer_, needed_ + 1, &length_));                                     \
        SAME(needed_, length_);                                                                         \
        SAME(needed_, strlen(buffer_));                                                                 \
        CHECK_GUARD(buffer_, needed_ + 1);                                                              \
        (text) = buffer_;                                                                               \
    } while (0)

#define FORMATS(format)                                                                                 \
    do {                                                                                                \
        char *text_;                                                                                    \
        FORMATS_INTO(text_, format);                                                                    \
        free(text_);                                                                                    \
    } while (0)

/* The same for `list(out, capacity, length)`, whose `number` elements it leaves in `elements`, to be freed. */
#define LISTS(elements, number, list)                                                                   \
    do {                                                                                                \
        size_t needed_ = 0, length_ = 0;                                                                \
        struct capacities tried_;                                                                       \
        const picollo_status asked_ = list(NULL, 0, &needed_);                                          \
        EXPECT(needed_ == 0 ? PICOLLO_OK : PICOLLO_ERR_BUFFER_TOO_SMALL, asked_);                       \
        EXPECT(PICOLLO_ERR_NULL_POINTER, list(NULL, 1, &length_));                                      \
        tried_ = too_small(world, needed_);                                                             \
        for (size_t capacity_ = tried_.first; capacity_ < tried_.end; capacity_++) {                    \
            (elements) = guarded(capacity_ * sizeof *(elements) + 1);                                   \
            EXPECT(PICOLLO_ERR_BUFFER_TOO_SMALL, list(elements, capacity_, &length_));                  \
            SAME(needed_, length_);                                                                     \
            REQUIRE(is_untouched(elements, 0, capacity_ * sizeof *(elements) + 1));                     \
            free(elements);                                                                             \
        }                                                                                               \
        (elements) = guarded(needed_ * sizeof *(elements) + 1);                                         \
        EXPECT(PICOLLO_OK, list(elements, needed_, &length_));                                          \
        SAME(needed_, length_);                                                                         \
        CHECK_GUARD(elements, needed_ * sizeof *(elements) + 1);                                        \
        REQUIRE(is_untouched(elements, needed_ * sizeof *(elements), needed_ * sizeof *(elements) + 1)); \
        (number) = needed_;                                                                             \
    } while (0)

/* Titles of all sorts; NULL among them. */
static inline const char *any_title(struct world *world)
{
    static const char *const titles[] = {"", "Latency", "a|b\n# c", "\"q\",\\", "P\xc3\xa9\xe2\x82\xac", "\t\x01<&>", "</script>-->", NULL};
    return titles[choose(world, sizeof titles / sizeof *titles)];
}

/* No UTF-8. */
#define NO_TEXT "a\xff"

#endif /* BUFFERS_H */
