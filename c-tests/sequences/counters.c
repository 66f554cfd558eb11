/* Counters of one word and of many: exact where they say so, and within a step of it where they do not. */
#include "buffers.h"

#include <pthread.h>

/* The step in which a counter counts that has so many. What is added to it goes in whole steps, the rest as a step or nothing. */
static uint64_t largest_step(uint64_t count, uint32_t threshold_bits)
{
    uint64_t step = 1;
    while (count / step >= UINT64_C(1) << threshold_bits) step *= 2;
    return step;
}

#define WITHIN(expected, actual, distance)                                                              \
    do {                                                                                                \
        const uint64_t expected_ = (expected), actual_ = (actual), distance_ = (distance);              \
        if ((actual_ > expected_ ? actual_ - expected_ : expected_ - actual_) > distance_)              \
            FAIL("%s is %" PRIu64 ", expected %" PRIu64 " or so", #actual, actual_, expected_);         \
    } while (0)

/* Words, each between two that nobody should touch. */
struct words {
    uint64_t before;
    uint32_t small, beside;
    uint64_t large, after;
};

static struct words new_words(void)
{
    return (struct words){UINT64_MAX, 0, UINT32_MAX, 0, UINT64_MAX};
}

static void check_words(struct world *world, const struct words *words)
{
    REQUIRE(words->before == UINT64_MAX && words->after == UINT64_MAX && words->beside == UINT32_MAX);
    SAME(words->small, picollo_counter_read32(&words->small));
    SAME(words->large, picollo_counter_read64(&words->large));
    SAME(0, picollo_counter_read32(NULL));
    SAME(0, picollo_counter_read64(NULL));
}

static void op_exact(struct world *world)
{
    struct words sensing = new_words(), capped = new_words();
    uint64_t sum = 0;
    for (uint64_t number = choose(world, 30); number > 0; number--) {
        const uint64_t count = rarely(world, 3) ? any_value(world) : choose(world, 1000);
        const uint32_t bits = (uint32_t)choose(world, 32);
        /* Nobody interferes. */
        picollo_sensing_counter_add32(&sensing.small, count, bits);
        picollo_sensing_counter_add64(&sensing.large, count, bits);
        /* Steps of one. */
        picollo_capped_counter_add32(&capped.small, count, bits, 0);
        picollo_capped_counter_add64(&capped.large, count, bits, 0);
        sum += count;
        if (PLANTED(3)) capped.large++;
    }
    SAME((uint32_t)sum, sensing.small);
    SAME(sum, sensing.large);
    SAME((uint32_t)sum, capped.small);
    SAME(sum, capped.large);
    check_words(world, &sensing);
    check_words(world, &capped);
}

static void op_approximate(struct world *world)
{
    struct words one = new_words(), many = new_words(), capped = new_words();
    const uint32_t asked = (uint32_t)choose(world, 32), cap = (uint32_t)choose(world, 12);
    const uint32_t threshold = asked == 0 ? PICOLLO_SCALABLE_THRESHOLD_BITS : asked;
    for (uint64_t number = choose(world, 30); number > 0; number--) {
        const uint64_t count = choose(world, UINT64_C(1) << choose(world, 26)), room = (UINT64_C(1) << cap) - 1;
        const struct words before = many, capped_before = capped;
        picollo_scalable_counter_add_n32(&one.small, 1, asked);
        picollo_scalable_counter_add_n64(&one.large, 1, asked);
        picollo_scalable_counter_add_n32(&many.small, count, asked);
        picollo_scalable_counter_add_n64(&many.large, count, asked);
        picollo_capped_counter_add32(&capped.small, count, asked, cap);
        picollo_capped_counter_add64(&capped.large, count, asked, cap);
        WITHIN(count, (uint32_t)(many.small - before.small), largest_step(before.small, threshold) - 1);
        WITHIN(count, many.large - before.large, largest_step(before.large, threshold) - 1);
        WITHIN(count, (uint32_t)(capped.small - capped_before.small), room);
        WITHIN(count, capped.large - capped_before.large, room);
        if (capped_before.large < UINT64_C(1) << threshold) SAME(capped_before.large + count, capped.large);
        /* Thirty are below all thresholds but the smallest. */
        if (threshold >= 5) SAME(one.large, one.small);
    }
    check_words(world, &one);
    check_words(world, &many);
    check_words(world, &capped);
}

struct adding {
    picollo_striped_counter *striped;
    uint64_t *word, count;
};

static void *add(void *argument)
{
    const struct adding *const adding = (const struct adding *)argument;
    for (int i = 0; i < 100; i++) {
        picollo_striped_counter_add(adding->striped, adding->count);
        picollo_capped_counter_add64(adding->word, adding->count, 0, 0);
    }
    return NULL;
}

static void op_striped(struct world *world)
{
    picollo_striped_counter *counter = NULL;
    uint64_t sum = 0, read = 0, word = 0;
    EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_striped_counter_create(NULL));
    EXPECT(PICOLLO_OK, picollo_striped_counter_create(&counter));
    for (uint64_t number = choose(world, 50); number > 0; number--) {
        const uint64_t count = choose(world, 0);
        picollo_striped_counter_add(counter, count);
        picollo_capped_counter_add64(&word, count, 0, 0);
        sum += count;
    }
    if (rarely(world, 4)) {
        struct adding adding = {counter, &word, choose(world, 0)};
        pthread_t thread;
        if (pthread_create(&thread, NULL, add, &adding) != 0) abort();
        add(&adding);
        pthread_join(thread, NULL);
        sum += 200 * adding.count;
    }
    REFUSED(PICOLLO_ERR_NULL_POINTER, read, picollo_striped_counter_read(NULL, &read));
    EXPECT(PICOLLO_ERR_NULL_POINTER, picollo_striped_counter_read(counter, NULL));
    EXPECT(PICOLLO_OK, picollo_striped_counter_read(counter, &read));
    SAME(sum, read);
    SAME(sum, word);
    picollo_striped_counter_free(counter);
    picollo_striped_counter_free(NULL);
}

const struct operation counter_operations[] = {
    {"exact counters", op_exact, 3},
    {"approximate counters", op_approximate, 3},
    {"striped_counter", op_striped, 2},
    {NULL, NULL, 0},
};
