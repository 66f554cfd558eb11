/* picollo_picture.h. */
#include "golden.h"

static void pictures(void)
{
    picollo_snapshot *const snapshot = only_snapshot(hundred());
    const picollo_snapshot *const both[] = {snapshot, snapshot};
    static const char *const names[] = {"one & only", NULL};
    picollo_picture_options how = PICOLLO_PICTURE_OPTIONS_INIT;
    size_t length = 0;
    how.width = 500;
    how.height = 300;
    TEXT(picollo_snapshot_format_chart, snapshot, PICOLLO_PICTURE_PERCENTILES, "Title", "ns", 50, 3, PICOLLO_CHARACTERS_ASCII);
    TEXT(picollo_snapshot_format_chart, snapshot, PICOLLO_PICTURE_DENSITY, "Title", "ms", 40, 3, PICOLLO_CHARACTERS_UNICODE);
    TEXT(picollo_snapshot_format_chart, snapshot, PICOLLO_PICTURE_SPARKLINE, NULL, NULL, 20, 0, PICOLLO_CHARACTERS_UNICODE);
    for (uint32_t picture = 0; picture < 3; picture++)
        LONG_TEXT(picture == PICOLLO_PICTURE_HEAT_MAP ? "Title" : "one &amp; only", picollo_pictures_format_svg, both, names, 2, picture, "Title", "ns", &how);
    LONG_TEXT("one &amp; only", picollo_report_format_html, both, names, 2, "Report", "us");
    STATUS(picollo_snapshot_format_chart(snapshot, PICOLLO_PICTURE_HEAT_MAP, NULL, NULL, 0, 0, 0, text, sizeof text, &length));
    STATUS(picollo_snapshot_format_chart(snapshot, 0, "\xff", NULL, 0, 0, 0, text, sizeof text, &length));
    STATUS(picollo_snapshot_format_chart(snapshot, 0, NULL, NULL, 0, 0, 2, text, sizeof text, &length));
    STATUS(picollo_pictures_format_svg(both, names, 2, 9, NULL, NULL, NULL, text, sizeof text, &length));
    STATUS(picollo_report_format_html(both, names, 2, "\xff", NULL, text, sizeof text, &length));
    picollo_snapshot_free(snapshot);
}

int main(int number, char **arguments)
{
    (void)arguments;
    golden_begin(number, __FILE__);
    GOLDEN(pictures);
    return report();
}
