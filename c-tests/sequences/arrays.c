/* Arrays of histograms. */
#include "buffers.h"

#define MOST 5

static void op_array(struct world *world)
{
    const struct asked asked = ask(world);
    picollo_histogram_options options = asked.options, small = {.struct_size = sizeof small, .relative_error = 0.1, .max_trackable = 1000};
    const size_t length = 1 + (size_t)choose(world, MOST), at = (size_t)choose(world, length);
    uint64_t values[60];
    size_t indices[60], bytes = 0;
    picollo_histogram_array *array;
    picollo_histogram *histogram;
    picollo_status status;
    struct rule rule;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, array, picollo_histogram_array_create(&small, 0, &array));
    REFUSED(PICOLLO_ERR_OUT_OF_MEMORY, array, picollo_histogram_array_create(&small, SIZE_MAX >> choose(world, 8), &array));
    memset(&array, UNTOUCHED, sizeof array);
    options.max_bytes = 0;
    status = picollo_histogram_array_create(&options, length, &array);
    if (status != PICOLLO_OK) {
        REQUIRE(is_untouched(&array, 0, sizeof array));
        /* A single one is refused as well. */
        REFUSED(status, histogram, picollo_histogram_create(&options, &histogram));
        return;
    }
    rule = rule_of_options(&options);
    SAME(length, picollo_histogram_array_length(array));
    SAME(0, picollo_histogram_array_length(NULL));
    EXPECT(PICOLLO_OK, picollo_histogram_array_footprint(array, &bytes));
    REQUIRE(bytes >= 64 * length);
    REQUIRE(picollo_histogram_array_borrow(array, length + at) == NULL && picollo_histogram_array_borrow(NULL, 0) == NULL);
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, histogram, picollo_histogram_array_ref(array, length + at, &histogram));
    EXPECT(PICOLLO_OK, picollo_histogram_array_ref(array, at, &histogram));
    for (size_t i = 0; i < 60; i++) {
        values[i] = any_value(world);
        /* One in a while is beyond the last, and does nothing. */
        indices[i] = (size_t)choose(world, length + 1);
        if (rarely(world, 2)) picollo_histogram_array_record(array, indices[i], values[i]);
        else if (indices[i] < length) picollo_histogram_record(picollo_histogram_array_borrow(array, indices[i]), values[i]);
    }
    for (size_t index = 0; index < length; index++) {
        struct counts counts = {0};
        picollo_summary summary;
        for (size_t i = 0; i < 60; i++) {
            if (indices[i] == index) count_value(&counts, &rule, values[i], 1);
        }
        EXPECT(PICOLLO_OK, picollo_histogram_summary(picollo_histogram_array_borrow(array, index), 0, &summary));
        SAME(total_of(&counts), summary.total_count);
        SAME(counts.below, summary.underflow_count);
        SAME(counts.above, summary.overflow_count);
        if (index == at) {
            struct model *const model = new_model(world, &rule);
            copy_counts(&model->raw, &counts);
            model->mode = options.mode;
            model->storage = options.storage;
            model->bits = options.counter_bits == 0 ? 64 : options.counter_bits;
            model->flags = options.flags;
            keep_histogram(world, pick(world), histogram, model);
        }
        forget_counts(&counts);
    }
    /* The histogram that is kept keeps the array. */
    REQUIRE(picollo_histogram_array_retain(array) == array && picollo_histogram_array_retain(NULL) == NULL);
    picollo_histogram_array_free(array);
    SAME(length, picollo_histogram_array_length(array));
    picollo_histogram_array_free(array);
    picollo_histogram_array_free(NULL);
}

const struct operation array_operations[] = {
    {"histogram_array", op_array, 4},
    {NULL, NULL, 0},
};
