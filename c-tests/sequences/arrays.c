/* Arrays of histograms. */
#include "buffers.h"

static void op_array(struct world *world)
{
    const picollo_histogram_options options = {.struct_size = sizeof options, .relative_error = 0.1, .max_trackable = 1000};
    const size_t length = 1 + (size_t)choose(world, 5), at = (size_t)choose(world, length);
    const struct rule rule = rule_of(0.1, 0, 0, 1000);
    picollo_histogram_array *array = NULL;
    picollo_histogram *histogram = NULL;
    size_t bytes = 0;
    struct model *model;
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_array_create(&options, 0, &array));
    REQUIRE(picollo_histogram_array_create(&options, SIZE_MAX >> choose(world, 8), &array) == PICOLLO_ERR_OUT_OF_MEMORY && array == NULL);
    EXPECT(PICOLLO_OK, picollo_histogram_array_create(&options, length, &array));
    SAME(length, picollo_histogram_array_length(array));
    EXPECT(PICOLLO_OK, picollo_histogram_array_footprint(array, &bytes));
    REQUIRE(picollo_histogram_array_get(array, length + at) == NULL);
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_array_at(array, length, &histogram));
    EXPECT(PICOLLO_OK, picollo_histogram_array_at(array, at, &histogram));
    model = new_model(world, &rule);
    for (uint64_t number = choose(world, 30); number > 0; number--) {
        const uint64_t value = any_value(world);
        const size_t index = (size_t)choose(world, length + 1);
        picollo_histogram_array_record(array, index, value);
        if (index == at) count_value(&model->raw, &rule, value, 1);
    }
    /* The histogram keeps the array. */
    picollo_histogram_array_free(array);
    keep_histogram(world, pick(world), histogram, model);
}

const struct operation array_operations[] = {
    {"histogram_array", op_array, 4},
    {NULL, NULL, 0},
};
