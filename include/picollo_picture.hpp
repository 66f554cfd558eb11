/* Pictures of snapshots in C++17: in a terminal, as SVG, and as a report that is one HTML file. Include picollo.hpp. */
#ifndef PICOLLO_PICTURE_HPP
#define PICOLLO_PICTURE_HPP

#include <vector>

#include "picollo_picture.h"
#include "picollo_result.hpp"
#include "picollo_snapshot.hpp"

PICOLLO_NAMESPACE {

/** The kinds of pictures. Heat maps show snapshots from left to right, and are not for terminals. */
enum class picture : std::uint32_t {
    percentiles = PICOLLO_PICTURE_PERCENTILES,
    density = PICOLLO_PICTURE_DENSITY,
    heat_map = PICOLLO_PICTURE_HEAT_MAP
};

/** A snapshot in a picture, with its title. Both must outlive the call. */
struct pictured {
    const picollo::snapshot *counts;
    const char *title = nullptr;
};

/** The look of an SVG. */
class picture_options : public detail::options_of<picollo_picture_options> {
public:
    picture_options &dark() noexcept { return native_.theme = PICOLLO_THEME_DARK, *this; }
    picture_options &light() noexcept { return native_.theme = PICOLLO_THEME_LIGHT, *this; }
    /** In CSS pixels; 720 by 400 unless set. */
    picture_options &size(std::uint32_t width, std::uint32_t height) noexcept
    {
        native_.width = width;
        native_.height = height;
        return *this;
    }
};

/** The density on one line, up to P99.9, of at most 240 characters, in ASCII or Unicode's blocks. Allocates. */
inline outcome<std::string> sparkline(const snapshot &counts, std::uint32_t columns = 40, bool ascii = false)
{
    return detail::written(picollo_snapshot_format_chart, counts.native(), std::uint32_t{PICOLLO_PICTURE_SPARKLINE}, nullptr, nullptr,
                           columns, 0u, ascii);
}

/** A chart for a terminal, with axes and labels. With a unit such as "ns" the labels are times. Allocates. */
inline outcome<std::string> chart(const snapshot &counts, picture which = picture::density, const char *title = nullptr,
                                  const char *unit = nullptr, std::uint32_t columns = 64, std::uint32_t rows = 10,
                                  bool ascii = false)
{
    return detail::written(picollo_snapshot_format_chart, counts.native(), static_cast<std::uint32_t>(which), title, unit, columns, rows,
                           ascii);
}

namespace detail {

struct native_pictures {
    explicit native_pictures(span<const pictured> all)
    {
        for (const pictured &one : all) {
            counts.push_back(one.counts != nullptr ? one.counts->native() : nullptr);
            titles.push_back(one.title);
        }
    }

    std::vector<const picollo_snapshot *> counts;
    std::vector<const char *> titles;
};

} // namespace detail

/** An SVG document, which is also an element of HTML. Allocates.
 *
 *     const picollo::pictured both[] = {{&before, "before"}, {&after, "after"}};
 *     file << picollo::svg(both, picollo::picture::density, "Requests", "ns");
 */
inline outcome<std::string> svg(span<const pictured> what, picture which, const char *title = nullptr,
                                const char *unit = nullptr, const picture_options &how = picture_options())
{
    const detail::native_pictures all(what);
    return detail::written(picollo_pictures_format_svg, all.counts.data(), all.titles.data(), all.counts.size(),
                           static_cast<std::uint32_t>(which), title, unit, &how.native());
}

/** One HTML document: tables, pictures, comparisons with the first, and the counts for programs. Allocates. */
inline outcome<std::string> report(span<const pictured> what, const char *title = nullptr, const char *unit = nullptr)
{
    const detail::native_pictures all(what);
    return detail::written(picollo_report_format_html, all.counts.data(), all.titles.data(), all.counts.size(), title, unit);
}

} } // namespace picollo

#endif /* PICOLLO_PICTURE_HPP */
