/* Pictures. What is drawn is tested where it is drawn; here it is the way through the interface. */
#include "test.h"

static char text[400000], again[400000];

static void sparklines(void)
{
    picollo_histogram *const histogram = example(0), *const nothing = create(0.01, 1, 1000);
    picollo_snapshot *const snapshot = snapshot_of(histogram), *const empty = snapshot_of(nothing);
    size_t length;
    CHECK_OK(picollo_snapshot_format_sparkline(snapshot, 24, 0, text, sizeof text, &length));
    CHECK_TEXT("▂▃▄▅▅▆▇█▇▅▄▄▃▃▃▃▃▃▃▃▃▃▂▁", text);
    CHECK_U64(24 * 3, length);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_format_sparkline(snapshot, 24, 0, again, 24 * 3, &length));
    CHECK(again[0] == 0 && length == 24 * 3);
    CHECK_OK(picollo_snapshot_format_sparkline(snapshot, 0, 1, text, sizeof text, &length));
    CHECK_U64(40, length);
    CHECK_OK(picollo_snapshot_format_sparkline(snapshot, UINT32_MAX, 1, text, sizeof text, &length));
    CHECK_U64(240, length);
    CHECK_OK(picollo_snapshot_format_sparkline(empty, 24, 1, text, sizeof text, &length));
    CHECK_TEXT("no observations", text);
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_snapshot_format_sparkline(snapshot, 24, 2, text, sizeof text, &length));
    picollo_snapshot_free(snapshot);
    picollo_snapshot_free(empty);
    picollo_histogram_free(histogram);
    picollo_histogram_free(nothing);
}

static void charts(void)
{
    picollo_histogram *const histogram = example(0);
    picollo_snapshot *const snapshot = snapshot_of(histogram);
    size_t length;
    for (uint32_t picture = 0; picture < 2; picture++) {
        CHECK_OK(picollo_snapshot_format_chart(snapshot, picture, "Title", "ns", 30, 5, 1, text, sizeof text, &length));
        CHECK(strncmp(text, "Title\n", 6) == 0 && strstr(text, " us") != NULL && strlen(text) == length);
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL,
                     picollo_snapshot_format_chart(snapshot, picture, "Title", "ns", 30, 5, 1, again, length, &length));
        CHECK_OK(picollo_snapshot_format_chart(snapshot, picture, "Title", "ns", 30, 5, 1, again, length + 1, &length));
        CHECK_TEXT(text, again);
        CHECK_OK(picollo_snapshot_format_chart(snapshot, picture, NULL, NULL, 0, 0, 0, text, sizeof text, &length));
        CHECK(strstr(text, "█") != NULL);
    }
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_snapshot_format_chart(snapshot, PICOLLO_PICTURE_HEAT_MAP, "", "", 0, 0, 0, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_snapshot_format_chart(snapshot, 3, "", "", 0, 0, 0, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_snapshot_format_chart(snapshot, 0, "\xff", "", 0, 0, 0, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_snapshot_format_chart(snapshot, 0, "", "\xff", 0, 0, 0, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_snapshot_format_chart(snapshot, 0, "", "", 0, 0, 2, text, sizeof text, &length));
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
}

static void documents(void)
{
    picollo_histogram *const before = example(0), *const after = example(1), *const nothing = create(0.01, 1, 1000);
    picollo_snapshot *const snapshots[] = {snapshot_of(before), snapshot_of(after), snapshot_of(nothing)};
    const picollo_snapshot *const all[] = {snapshots[0], snapshots[1], snapshots[2]};
    const char *const titles[] = {"<before>", NULL, "after & all"};
    const char *const wrong[] = {"", "\xff"};
    picollo_picture_options options;
    size_t length;

    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.theme = PICOLLO_THEME_DARK;
    options.width = 500;
    for (uint32_t picture = 0; picture < 3; picture++) {
        CHECK_OK(picollo_pictures_format_svg(all, titles, 3, picture, "T", "ns", NULL, text, sizeof text, &length));
        CHECK(strlen(text) == length && strncmp(text, "<svg xmlns=", 11) == 0 && strcmp(text + length - 7, "</svg>\n") == 0);
        CHECK(strstr(text, "&lt;before&gt;") != NULL && strstr(text, "#2") != NULL && strstr(text, "<before") == NULL);
        CHECK(strstr(text, "prefers-color-scheme") != NULL && strstr(text, " µs<") != NULL);
        CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL,
                     picollo_pictures_format_svg(all, titles, 3, picture, "T", "ns", NULL, again, length, &length));
        CHECK_OK(picollo_pictures_format_svg(all, titles, 3, picture, "T", "ns", NULL, again, length + 1, &length));
        CHECK_TEXT(text, again);
        CHECK_OK(picollo_pictures_format_svg(all, NULL, 3, picture, NULL, NULL, &options, text, sizeof text, &length));
        CHECK(strstr(text, "prefers-color-scheme") == NULL && strstr(text, "viewBox=\"0 0 500 400\"") != NULL);
        CHECK_OK(picollo_pictures_format_svg(NULL, NULL, 0, picture, "", "", NULL, text, sizeof text, &length));
        CHECK(strstr(text, ">no observations<") != NULL);
    }
    CHECK_OK(picollo_report_format_html(all, titles, 3, "T", "ns", text, sizeof text, &length));
    CHECK(strlen(text) == length && strncmp(text, "<!DOCTYPE html>", 15) == 0);
    CHECK(strstr(text, "native_base64") != NULL && strstr(text, " slower than &lt;before&gt; (95 %: +") != NULL);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_report_format_html(all, titles, 3, "T", "ns", again, length, &length));
    CHECK_OK(picollo_report_format_html(all, titles, 3, "T", "ns", again, length + 1, &length));
    /* But for the date, which has minutes. */
    CHECK_TEXT(strstr(text, "</dd>"), strstr(again, "</dd>"));
    CHECK(strstr(text, "<dt>Date</dt>") != NULL);

    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_pictures_format_svg(all, NULL, 3, 3, "", "", NULL, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_pictures_format_svg(all, wrong, 2, 0, "", "", NULL, text, sizeof text, &length));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_report_format_html(all, wrong, 2, "", "", text, sizeof text, &length));
    options.theme = 3;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_pictures_format_svg(all, NULL, 3, 0, "", "", &options, text, sizeof text, &length));
    options.struct_size = 12;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_pictures_format_svg(all, NULL, 3, 0, "", "", &options, text, sizeof text, &length));
    for (int i = 0; i < 3; i++) picollo_snapshot_free(snapshots[i]);
    picollo_histogram_free(before);
    picollo_histogram_free(after);
    picollo_histogram_free(nothing);
}

int main(void)
{
    RUN(sparklines);
    RUN(charts);
    RUN(documents);
    return report();
}
