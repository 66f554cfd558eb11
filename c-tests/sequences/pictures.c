/* Pictures: whatever was recorded, text that is well formed, and the same for the same counts. */
#include "buffers.h"

#define SEVERAL 4

static const char *const units[] = {"ns", "ps", "us", "ms", "s", "bytes <&>", "", NULL};

/* Whether each element that begins ends, one inside the other, and nothing stands where markup would be. */
static void check_markup(struct world *world, const char *text)
{
    char open[64][24];
    size_t depth = 0;
    for (const char *at = text; *at != 0; at++) {
        if (*at == '&') {
            const size_t entity = strcspn(at, ";");
            REQUIRE(entity < 8 && at[entity] == ';');
        }
        if (*at != '<') continue;
        const char *const name = at[1] == '/' ? at + 2 : at + 1;
        const size_t length = strcspn(name, " />\n");
        int quoted = 0;
        REQUIRE(length > 0 && length < sizeof open[0]);
        for (at = name; *at != '>' || quoted; at++) {
            REQUIRE(*at != 0 && *at != '<');
            if (*at == '"') quoted = !quoted;
        }
        if (name[-1] == '/') {
            REQUIRE(depth > 0 && strlen(open[depth - 1]) == length && strncmp(open[depth - 1], name, length) == 0);
            depth--;
        } else if (at[-1] != '/' && *name != '!' && !(length == 4 && strncmp(name, "meta", 4) == 0)) {
            REQUIRE(depth < 64);
            memcpy(open[depth], name, length);
            open[depth++][length] = 0;
            /* What is inside is no markup. */
            if (strcmp(open[depth - 1], "style") == 0) at = strstr(at, "</style>") - 1;
            if (strcmp(open[depth - 1], "script") == 0) at = strstr(at, "</script>") - 1;
        }
    }
    SAME(0, depth);
}

/* Calls it for a snapshot and a copy of that: the texts are the same. */
#define SAME_FOR_A_COPY(text, snapshot, format)                                                         \
    do {                                                                                                \
        picollo_snapshot *copy_ = NULL;                                                                 \
        char *again_;                                                                                   \
        FORMATS_INTO(text, format);                                                                     \
        EXPECT(PICOLLO_OK, picollo_snapshot_copy(snapshot, &copy_));                                    \
        const picollo_snapshot *const original_ = snapshot;                                             \
        snapshot = copy_;                                                                               \
        FORMATS_INTO(again_, format);                                                                   \
        if (PLANTED(9)) again_[0] ^= 1;                                                                 \
        REQUIRE(strcmp(text, again_) == 0);                                                             \
        snapshot = original_;                                                                           \
        picollo_snapshot_free(copy_);                                                                   \
        free(again_);                                                                                   \
    } while (0)

static size_t count_of(const char *text, char what)
{
    size_t count = 0;
    for (; *text != 0; text++) count += *text == what;
    return count;
}

static int is_ascii(const char *text)
{
    for (; *text != 0; text++) {
        if ((unsigned char)*text >= 0x80) return 0;
    }
    return 1;
}

/* Characters, not bytes. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != 0; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void op_sparkline(struct world *world)
{
    const struct snapshot *const chosen = any_snapshot(world);
    const picollo_snapshot *snapshot = chosen == NULL ? NULL : chosen->handle;
    const uint32_t columns = rarely(world, 4) ? (uint32_t)choose(world, 0) : (uint32_t)choose(world, 100), ascii = (uint32_t)choose(world, 2);
    const size_t most = columns == 0 ? 40 : columns > 240 ? 240 : columns;
    size_t length;
    char *text;
    if (snapshot == NULL) return;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_format_sparkline(snapshot, columns, 2 + ascii, NULL, 0, &length));
#define SPARKLINE(buffer, capacity, length) picollo_snapshot_format_sparkline(snapshot, columns, ascii, buffer, capacity, length)
    SAME_FOR_A_COPY(text, snapshot, SPARKLINE);
    REQUIRE(strchr(text, '\n') == NULL && (!ascii || is_ascii(text)));
    if (chosen->exact && total_of(&chosen->now) > 0) SAME(most, width_of(text));
    free(text);
}

static void op_chart(struct world *world)
{
    const struct snapshot *const chosen = any_snapshot(world);
    const picollo_snapshot *snapshot = chosen == NULL ? NULL : chosen->handle;
    const uint32_t picture = (uint32_t)choose(world, 2), ascii = (uint32_t)choose(world, 2);
    const uint32_t columns = (uint32_t)choose(world, rarely(world, 8) ? 0 : 100), rows = (uint32_t)choose(world, rarely(world, 8) ? 0 : 20);
    const char *const title = any_title(world), *const unit = units[choose(world, 8)];
    size_t length;
    char *text;
    if (snapshot == NULL) return;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_format_chart(snapshot, picture + 2, title, unit, columns, rows, ascii, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_format_chart(snapshot, picture, NO_TEXT, unit, columns, rows, ascii, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_format_chart(snapshot, picture, title, NO_TEXT, columns, rows, ascii, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_format_chart(snapshot, picture, title, unit, columns, rows, 2, NULL, 0, &length));
#define CHART(buffer, capacity, length) picollo_snapshot_format_chart(snapshot, picture, title, unit, columns, rows, ascii, buffer, capacity, length)
    SAME_FOR_A_COPY(text, snapshot, CHART);
    REQUIRE(text[0] != 0);
    if (ascii && (title == NULL || is_ascii(title))) REQUIRE(is_ascii(text));
    if (chosen->exact && total_of(&chosen->now) == 0) REQUIRE(strstr(text, "no observations") != NULL);
    if (chosen->exact && total_of(&chosen->now) > 0) REQUIRE(count_of(text, '\n') >= (rows == 0 ? 10 : rows > 100 ? 100 : rows));
    free(text);
}

/* Some snapshots, the same twice or more among them. */
static size_t several(struct world *world, const picollo_snapshot **snapshots, const char **titles)
{
    const size_t length = (size_t)choose(world, SEVERAL + 1);
    for (size_t i = 0; i < length; i++) {
        const struct snapshot *const snapshot = any_snapshot(world);
        if (snapshot == NULL) return 0;
        snapshots[i] = snapshot->handle;
        titles[i] = any_title(world);
    }
    return length;
}

static void op_svg(struct world *world)
{
    const picollo_snapshot *snapshots[SEVERAL], *none[] = {NULL};
    const char *titles[SEVERAL], *const title = any_title(world), *const unit = units[choose(world, 8)], *bad[] = {NO_TEXT};
    const size_t number = several(world, snapshots, titles);
    const char *const *const names = rarely(world, 4) ? NULL : titles;
    const uint32_t picture = (uint32_t)choose(world, 3);
    picollo_picture_options options = {.struct_size = sizeof options}, wrong;
    const picollo_picture_options *const asked = rarely(world, 4) ? NULL : &options;
    size_t length;
    char *text;
    options.theme = (uint32_t)choose(world, 3);
    options.width = (uint32_t)choose(world, rarely(world, 4) ? 0 : 2000);
    options.height = (uint32_t)choose(world, rarely(world, 4) ? 0 : 2000);
#define SVG(buffer, capacity, length) picollo_pictures_format_svg(snapshots, names, number, picture, title, unit, asked, buffer, capacity, length)
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_pictures_format_svg(snapshots, names, number, picture + 3, title, unit, asked, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_pictures_format_svg(snapshots, names, number, picture, NO_TEXT, unit, asked, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_NULL_POINTER, length, picollo_pictures_format_svg(none, NULL, 1, picture, title, unit, asked, NULL, 0, &length));
    if (number > 0)
        REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_pictures_format_svg(snapshots, bad, 1, picture, title, unit, asked, NULL, 0, &length));
    wrong = options;
    wrong.theme = 3;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_pictures_format_svg(snapshots, names, number, picture, title, unit, &wrong, NULL, 0, &length));
    wrong.struct_size = 4;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_pictures_format_svg(snapshots, names, number, picture, title, unit, &wrong, NULL, 0, &length));
    FORMATS_INTO(text, SVG);
    REQUIRE(strncmp(text, "<svg", 4) == 0);
    check_markup(world, text);
    free(text);
}

static void op_html(struct world *world)
{
    const picollo_snapshot *snapshots[SEVERAL], *none[] = {NULL};
    const char *titles[SEVERAL], *const title = any_title(world), *const unit = units[choose(world, 8)];
    const size_t number = several(world, snapshots, titles);
    size_t length;
    char *text;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_report_format_html(snapshots, titles, number, title, NO_TEXT, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_NULL_POINTER, length, picollo_report_format_html(none, NULL, 1, title, unit, NULL, 0, &length));
#define HTML(buffer, capacity, length) picollo_report_format_html(snapshots, titles, number, title, unit, buffer, capacity, length)
    FORMATS_INTO(text, HTML);
    REQUIRE(strncmp(text, "<!doctype html>", 15) == 0 || strncmp(text, "<!DOCTYPE html>", 15) == 0);
    check_markup(world, text);
    free(text);
}

/* The rows are the steps of percentiles. */
static void op_hgrm(struct world *world)
{
    static const double scales[] = {0, 1, 1000, 0.001}, bad[] = {-1, NAN, INFINITY};
    const struct snapshot *const chosen = any_snapshot(world);
    const picollo_snapshot *snapshot = chosen == NULL ? NULL : chosen->handle;
    const uint32_t ticks = (uint32_t)choose(world, 12), csv = (uint32_t)choose(world, 2);
    const double scale = scales[choose(world, 4)], no_scale = bad[choose(world, 3)];
    size_t length, rows = 0;
    char *text;
    if (snapshot == NULL) return;
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_format_hgrm(snapshot, 1000001, scale, csv, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_format_hgrm(snapshot, ticks, no_scale, csv, NULL, 0, &length));
    REFUSED(PICOLLO_ERR_INVALID_ARGUMENT, length, picollo_snapshot_format_hgrm(snapshot, ticks, scale, 2 + csv, NULL, 0, &length));
#define HGRM(buffer, capacity, length) picollo_snapshot_format_hgrm(snapshot, ticks, scale, csv, buffer, capacity, length)
    SAME_FOR_A_COPY(text, snapshot, HGRM);
    const picollo_status asked = picollo_snapshot_percentile_steps(snapshot, ticks == 0 ? 5 : ticks, NULL, 0, &rows);
    EXPECT(rows == 0 ? PICOLLO_OK : PICOLLO_ERR_BUFFER_TOO_SMALL, asked);
    /* Beside the names of the columns, and with columns an empty line and three below. */
    SAME(rows + (csv ? 1 : 5), count_of(text, '\n'));
    REQUIRE(is_ascii(text));
    free(text);
}

const struct operation picture_operations[] = {
    {"sparkline", op_sparkline, 3},
    {"chart", op_chart, 3},
    {"svg", op_svg, 2},
    {"html", op_html, 1},
    {"hgrm", op_hgrm, 3},
    {NULL, NULL, 0},
};
