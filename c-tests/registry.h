/* What the tests of registries share. */
#ifndef PICOLLO_TEST_REGISTRY_H
#define PICOLLO_TEST_REGISTRY_H

#include "test.h"

static inline picollo_metric_options metric_of(const char *name, const picollo_label *labels, uint64_t length)
{
    picollo_metric_options metric;
    memset(&metric, 0, sizeof metric);
    metric.struct_size = sizeof metric;
    metric.name = name;
    metric.labels = labels;
    metric.labels_length = length;
    return metric;
}

static inline picollo_registry *registry_of(void)
{
    picollo_registry *registry = NULL;
    CHECK_OK(picollo_registry_create(&registry));
    if (registry == NULL) abort();
    return registry;
}

/* The text, in memory that is to be freed. */
static inline char *text_of(const picollo_registry *registry)
{
    size_t length = 0, again = 0;
    char *text;
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, NULL, 0, &length));
    text = (char *)malloc(length + 1);
    memset(text, 0x5a, length + 1);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL,
                 picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, text, length - 1, &again));
    CHECK(again == length && text[0] == 0x5a);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_encode(registry, 77, text, length, &again));
    /* All of it, and no NUL. */
    CHECK_OK(picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, text, length, &again));
    CHECK(again == length && text[length] == 0x5a && text[length - 1] == '\n');
    text[length] = 0;
    return text;
}

#endif /* PICOLLO_TEST_REGISTRY_H */
