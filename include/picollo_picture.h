/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: pictures of snapshots: in a terminal, as SVG, and as a report in one HTML file. They are text, refer to nothing
 * outside, and allocate nothing. docs/pictures.md shows them.
 *
 *     const picollo_snapshot *both[] = {before, after};
 *     const char *titles[] = {"before", "after"};
 *     picollo_report_format_html(both, titles, 2, "Requests", "ns", NULL, 0, &length);
 *     char *html = malloc(length + 1);
 *     picollo_report_format_html(both, titles, 2, "Requests", "ns", html, length + 1, &length);
 *
 * Axes span the observations or slightly more, and are logarithmic if that is a wide range. An empty picture reads
 * "no observations". unit is the unit of the recorded values. With "ps", "ns", "us", "ms" and "s" the labels are
 * times. Any other unit is written at the axis. NULL and "" mean no unit.
 *
 * What holds for every function is at the end of picollo.h.
 */
#ifndef PICOLLO_PICTURE_H
#define PICOLLO_PICTURE_H

#include "picollo.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Light, or dark if the reader prefers that. */
#define PICOLLO_THEME_AUTO 0
/** On white. */
#define PICOLLO_THEME_LIGHT 1
/** On black. */
#define PICOLLO_THEME_DARK 2
/** The value at each percentile, on a scale on which every further nine (90, 99, 99.9, ...) has the same width. */
#define PICOLLO_PICTURE_PERCENTILES 0
/** The share of observations in each of many equal parts of the axis of values. */
#define PICOLLO_PICTURE_DENSITY 1

/** Snapshots as columns from left to right, values upwards, and the number of observations as color. Not for
 * terminals. */
#define PICOLLO_PICTURE_HEAT_MAP 2

/** The density on one line without a line break, for terminals only. It spans the smallest observation to the bucket
 * of P99.9 in equal parts of a logarithmic axis (a linear one for a narrow range). With more than a thousand
 * observations it omits the larger ones. A part without observations is a space. In ASCII the others are shades
 * (.:-=+*#%@). */
#define PICOLLO_PICTURE_SPARKLINE 3
/** Unicode's blocks and lines, of up to 3 bytes each. */
#define PICOLLO_CHARACTERS_UNICODE 0
/** Only ASCII, except for the caller's own texts. */
#define PICOLLO_CHARACTERS_ASCII 1

/** The look of an SVG. */
typedef struct picollo_picture_options {
    uint32_t struct_size;
    uint32_t theme; /**< PICOLLO_THEME_... */
    uint32_t width; /**< In CSS pixels, limited to 200 ..= 4000. 0: 720. */
    uint32_t height; /**< In CSS pixels, limited to 150 ..= 4000. 0: 400. */
} picollo_picture_options;
#define PICOLLO_PICTURE_OPTIONS_INIT {sizeof(picollo_picture_options), 0, 0, 0}

/** Writes a chart with axes and labels, for a terminal.
 *
 * Requires: picture is PICOLLO_PICTURE_PERCENTILES, _DENSITY or _SPARKLINE; columns and rows are the size of the
 *   plot without labels, limited to 240 and 100, or 0 for 64 and 10; ascii is PICOLLO_CHARACTERS_.... A sparkline
 *   ignores title, unit and rows, and 0 columns means 40.
 * Cost: two passes over the counters, and a few microseconds per line. */
PICOLLO_STATUS picollo_snapshot_format_chart(const picollo_snapshot *snapshot, uint32_t picture,
    const char *title, const char *unit, uint32_t columns, uint32_t rows, uint32_t ascii, char *buffer,
    size_t capacity, size_t *out_length);

/** Writes a picture of one or more snapshots as an SVG document, which is also an element of HTML. It has a title,
 * axes, units, a legend, and colors for light and dark themes.
 *
 * Requires: snapshots and titles lead to length pointers each; titles may be NULL, and so may any of its elements;
 *   picture is PICOLLO_PICTURE_.... 64 KiB are mostly enough for curves of two snapshots.
 * Cost: a few passes over the counters of each snapshot, twice. */
PICOLLO_STATUS picollo_pictures_format_svg(const picollo_snapshot *const *snapshots,
    const char *const *titles, size_t length, uint32_t picture, const char *title, const char *unit,
    const picollo_picture_options *options, char *buffer, size_t capacity, size_t *out_length);

/** Writes a report on one or more snapshots as one HTML document. It has the findings in sentences, tables, pictures,
 * comparisons with the first snapshot, and the counts as JSON with their native encoding. It also has the date (to
 * the minute), host, command, kernel and processor, as far as they are known. It refers to nothing outside and runs
 * no script.
 *
 * Three or more snapshots also get a heat map. Curves and comparisons show only the first eight.
 *
 * Requires: as picollo_pictures_format_svg; titles may be NULL.
 * Cost: as for all its pictures and encodings, twice. */
PICOLLO_STATUS picollo_report_format_html(const picollo_snapshot *const *snapshots, const char *const *titles,
    size_t length, const char *title, const char *unit, char *buffer, size_t capacity, size_t *out_length);

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_PICTURE_H */
