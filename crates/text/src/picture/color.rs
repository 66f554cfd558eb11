//! Colors for light and dark themes, as a style sheet inside the picture.

use core::fmt::{self, Write};

use super::Theme;

/// After this many curves, the colors repeat with dashes.
pub(super) const CURVES: usize = 7;

/// The number of color steps of a heat map.
pub(super) const LEVELS: usize = 8;

/// Background, text, secondary text, grid lines; curves, which color-blind readers can distinguish (after Okabe and
/// Ito); the heat map.
struct Colors {
    background: &'static str,
    text: &'static str,
    label: &'static str,
    grid: &'static str,
    curves: [&'static str; CURVES],
    levels: [&'static str; LEVELS],
}

const LIGHT: Colors = Colors {
    background: "#ffffff",
    text: "#1b1f24",
    label: "#57606a",
    grid: "#dde1e6",
    curves: ["#0072b2", "#d55e00", "#008a66", "#b8548f", "#9a6b00", "#3a9bd0", "#5f5f5f"],
    levels: ["#cfe2f0", "#b1d1e8", "#92bfde", "#68a5cf", "#4289bd", "#236ca4", "#0d4f85", "#032f5c"],
};

const DARK: Colors = Colors {
    background: "#0f1419",
    text: "#e6edf3",
    label: "#9aa7b4",
    grid: "#2a323b",
    curves: ["#4fb0f0", "#ff8f4a", "#33cf9f", "#ec9fcb", "#e8bd45", "#9bd6f7", "#c4c4c4"],
    levels: ["#183248", "#1b4160", "#1c517b", "#296b9d", "#4288bd", "#66a7d6", "#97c8ea", "#d9eefb"],
};

pub(super) fn write_style(out: &mut dyn Write, theme: Theme) -> fmt::Result {
    out.write_str("<style>")?;
    out.write_str(
        ".pk-t{font:13px system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",sans-serif}.pk-h{font-size:15px;font-weight:600}\
         .pk-c{fill:none;stroke-width:1.8;stroke-linejoin:round}.pk-a{stroke:none;fill-opacity:.14}.pk-d1{stroke-dasharray:7 4}\
         .pk-d2{stroke-dasharray:2 3}",
    )?;
    write_rules(out, if theme == Theme::Dark { &DARK } else { &LIGHT })?;
    if theme == Theme::Auto {
        out.write_str("@media(prefers-color-scheme:dark){")?;
        write_rules(out, &DARK)?;
        out.write_char('}')?;
    }
    out.write_str("</style>\n")
}

fn write_rules(out: &mut dyn Write, colors: &Colors) -> fmt::Result {
    let Colors { background, text, label, grid, .. } = colors;
    write!(
        out,
        ".pk-b{{fill:{background}}}.pk-t{{fill:{label}}}.pk-h,.pk-n{{fill:{text}}}.pk-g{{stroke:{grid};fill:none}}.pk-x{{stroke:{label};fill:none}}"
    )?;
    for (at, color) in colors.curves.iter().enumerate() {
        write!(out, ".pk-s{at}{{stroke:{color}}}.pk-f{at}{{fill:{color}}}")?;
    }
    for (at, color) in colors.levels.iter().enumerate() {
        write!(out, ".pk-l{at}{{fill:{color}}}")?;
    }
    Ok(())
}
