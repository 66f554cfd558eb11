/* HdrHistogram_c as a user compiles it into a program: a separate unit, at -O3. The shared library has other names for
 * the functions that are called there: see fetch-peers.sh. */
#include "hdr_histogram.c"

/* Several ascending percentiles in one pass of the library's own iterator. Later versions offer this as
 * hdr_value_at_percentiles; this version would need a pass for each. */
void hdr_one_pass(const struct hdr_histogram *h, const double *ranks, int64_t *values, size_t length)
{
    struct hdr_iter iter;
    hdr_iter_init(&iter, h);
    int64_t total = 0;
    size_t at = 0;
    while (at < length && hdr_iter_next(&iter)) {
        total += iter.count;
        while (at < length && total >= (int64_t)(ranks[at] / 100 * (double)h->total_count + 0.5)) {
            values[at++] = highest_equivalent_value(h, iter.value);
        }
    }
}

/* The same without the iterator: it reads only the array of counts. */
void hdr_bare_pass(const struct hdr_histogram *h, const double *ranks, int64_t *values, size_t length)
{
    int64_t total = 0;
    size_t at = 0;
    int64_t target = (int64_t)(ranks[0] / 100 * (double)h->total_count + 0.5);
    for (int32_t index = 0; index < h->counts_len; index++) {
        total += h->counts[index];
        while (total >= target && total > 0) {
            values[at++] = highest_equivalent_value(h, hdr_value_at_index(h, index));
            if (at == length) return;
            target = (int64_t)(ranks[at] / 100 * (double)h->total_count + 0.5);
        }
    }
}
