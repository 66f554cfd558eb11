//! Tables of text.

use std::io::IsTerminal;

use picollo_core::seam::Grouped;
use picollo_text::seam::Markdown;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Output format of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Text,
    Markdown,
    Csv,
}

/// Escapes characters that would control a terminal or change the direction of writing.
pub(crate) fn printable(text: &str) -> String {
    let mut result = String::new();
    for character in text.chars() {
        let code = character as u32;
        let is_quiet = !character.is_control()
            && !matches!(code, 0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff | 0xfff9..=0xfffb | 0xe0000..=0xe0fff);
        match code {
            _ if is_quiet => result.push(character),
            0..=0xff => result += &format!("\\x{code:02x}"),
            0x100..=0xffff => result += &format!("\\u{code:04x}"),
            _ => result += &format!("\\U{code:08x}"),
        }
    }
    result
}

/// Width of the terminal on standard output; `None` if it is not a terminal.
fn screen() -> Option<usize> {
    let is_screen = std::io::stdout().is_terminal();
    let size = if is_screen { ratatui_crossterm::crossterm::terminal::size().ok() } else { None };
    size.map(|(columns, _)| columns.into())
}

/// Formats a table. The columns `left` are left-aligned, others right-aligned. As text it fits a terminal: long names
/// in left columns are cut in the middle. In a pipe and in other formats, names stay whole, because a program may read
/// them. There, a name wider than [`WIDEST`] makes only its own line longer.
pub(crate) fn table(
    headings: &[impl AsRef<str>],
    rows: &[Vec<String>],
    left: &[usize],
    form: Form,
) -> String {
    table_within(headings, rows, left, form, screen())
}

fn table_within(
    headings: &[impl AsRef<str>],
    rows: &[Vec<String>],
    left: &[usize],
    form: Form,
    screen: Option<usize>,
) -> String {
    let headings: Vec<String> = headings.iter().map(|heading| heading.as_ref().to_owned()).collect();
    let lines = std::iter::once(&headings).chain(rows);
    if form == Form::Csv {
        let line =
            |cells: &Vec<String>| cells.iter().map(|cell| csv(cell)).collect::<Vec<_>>().join(",") + "\n";
        return lines.map(line).collect();
    }
    let escaped = |cell: &String| match printable(cell) {
        cell if form == Form::Text => cell,
        cell => Markdown(&cell).to_string(),
    };
    let mut lines: Vec<Vec<String>> = lines.map(|line| line.iter().map(escaped).collect()).collect();
    let widest = |column: usize| {
        let is_limited = form == Form::Text && screen.is_none() && left.contains(&column);
        let limit = if is_limited { WIDEST } else { usize::MAX };
        let widths = lines.iter().map(|line| line[column].width());
        widths.filter(|&width| width <= limit).max().unwrap_or(0).max(3)
    };
    let mut widths: Vec<usize> = (0..headings.len()).map(widest).collect();
    if let (Form::Text, Some(room)) = (form, screen) {
        while widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1) > room {
            let names = left.iter().filter(|&&at| widths.get(at).is_some_and(|&width| width > LEAST));
            let Some(&at) = names.max_by_key(|&&at| widths[at]) else { break };
            widths[at] -= 1;
        }
        let cut = |(cell, &width): (&mut String, &usize)| *cell = fit(cell, width);
        // Numbers are not cut: their columns are wide enough.
        lines.iter_mut().for_each(|line| line.iter_mut().zip(&widths).for_each(cut));
    }
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let cell = |(at, (cell, &width)): (usize, (&String, &usize))| {
            let space = " ".repeat(width.saturating_sub(cell.width()));
            if left.contains(&at) { cell.clone() + &space } else { space + cell }
        };
        let cells: Vec<String> = line.iter().zip(&widths).enumerate().map(cell).collect();
        if form == Form::Text {
            text += cells.join("  ").trim_end();
            text.push('\n');
            continue;
        }
        text += &format!("| {} |\n", cells.join(" | "));
        if number == 0 {
            let mark = |(at, &width): (usize, &usize)| {
                let dashes = "-".repeat(width - 1);
                if left.contains(&at) { format!(":{dashes}") } else { format!("{dashes}:") }
            };
            let marks: Vec<String> = widths.iter().enumerate().map(mark).collect();
            text += &format!("| {} |\n", marks.join(" | "));
        }
    }
    text
}

/// Minimum width of a column of names on a terminal, and the maximum without one.
const LEAST: usize = 16;
const WIDEST: usize = 100;

/// Fits a name into this many columns of a terminal, where some characters take two. It keeps two thirds from the
/// beginning and one third from the end, because labels at the end are more useful than the middle.
pub(crate) fn fit(name: &str, width: usize) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let end = width / 3;
    let begin = within(name.chars(), width.saturating_sub(end + 1));
    let end: String = within(name.chars().rev(), end).chars().rev().collect();
    begin + "\u{2026}" + &end
}

/// The first characters that fit in this many columns.
fn within(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    let is_inside = |character: &char| {
        used += character.width().unwrap_or(0);
        used <= width
    };
    characters.take_while(is_inside).collect()
}

fn csv(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

/// A number with this many decimals, optionally with commas between thousands.
pub(crate) fn number(value: f64, decimals: usize, with_commas: bool) -> String {
    let text = format!("{value:.decimals$}");
    let (sign, digits) = text.split_at(text.starts_with('-') as usize);
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    match whole.parse::<u64>() {
        Ok(whole) if with_commas => format!("{sign}{}{fraction}", Grouped::from(whole)),
        _ => text,
    }
}

/// A count with all digits.
pub(crate) fn count(count: u64, with_commas: bool) -> String {
    if with_commas { Grouped::from(count).to_string() } else { count.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names are cut to make room for numbers on a narrow terminal, down to a minimum.
    #[test]
    fn long_names_are_cut_on_a_terminal() {
        let name = format!("{}{{route=/pay}}", "n".repeat(300));
        let headings = ["ENTRY", "COUNT", "p50"];
        let rows =
            [[name.as_str(), "10", "8.03 µs"], ["支付", "1", "2"]].map(|row| row.map(str::to_owned).to_vec());
        let within = |screen| table_within(&headings, &rows, &[0], Form::Text, screen);
        for columns in [40, 79, 80, 200] {
            let text = within(Some(columns));
            assert_eq!(text.lines().map(str::width).max(), Some(columns), "{text}");
            assert_eq!(text.lines().map(str::width).min(), Some(columns), "wide characters: {text}");
            assert!(
                text.contains("nn\u{2026}") && text.contains("/pay}") && text.contains("8.03 µs"),
                "{text}"
            );
        }
        let narrow = within(Some(1));
        assert!(narrow.lines().all(|line| line.width() == LEAST + 2 + 5 + 2 + 7), "{narrow}");
        assert!(table_within(&headings, &rows, &[0], Form::Csv, Some(10)).contains(&name));
        assert_eq!((fit("abc", 3), fit("abcdefg", 4)), ("abc".to_owned(), "ab\u{2026}g".to_owned()));
        // Half a character does not fit on either side.
        assert_eq!(fit("支付支付支付", 8), "支付\u{2026}付");
    }

    /// A pipe gets whole names in aligned columns. A name of hundreds of characters does not widen other lines.
    #[test]
    fn names_stay_whole_and_aligned_in_a_pipe() {
        let names = ["request{route=/items/{item_id}}", &"n".repeat(WIDEST), &"n".repeat(300)];
        let rows = names.map(|name| vec![name.to_owned(), "10".into()]);
        let text = table_within(&["ENTRY", "COUNT"], &rows, &[0], Form::Text, None);
        let widths: Vec<usize> = text.lines().map(str::len).collect();
        assert_eq!(widths, [WIDEST + 7, WIDEST + 7, WIDEST + 7, 307], "{text}");
        assert!(names.iter().all(|name| text.contains(name)));
        let text = table_within(&["ENTRY", "COUNT"], &rows[..1], &[0], Form::Text, None);
        assert!(text.lines().all(|line| line.len() == names[0].len() + 7), "{text}");
    }

    #[test]
    fn numbers() {
        for (value, decimals, text) in [
            (0.0, 0, "0"),
            (999.9994, 3, "999.999"),
            (1234.5, 1, "1,234.5"),
            (-1_234_567.0, 0, "-1,234,567"),
            (-123.0, 0, "-123"),
            (f64::NAN, 2, "NaN"),
        ] {
            assert_eq!(number(value, decimals, true), text);
        }
        assert_eq!(number(1234.5, 2, false), "1234.50");
        assert_eq!((count(1000, true), count(1000, false)), ("1,000".to_owned(), "1000".to_owned()));
    }

    #[test]
    fn tables() {
        let headings = ["Tag", "Count"];
        let rows =
            [["a|b", "1"], ["x,\"y\u{1b}[1m\u{202e}", "1,000"]].map(|row| row.map(str::to_owned).to_vec());
        let text = table(&headings, &rows, &[0], Form::Text);
        let wanted = ["Tag                Count", "a|b                    1", r#"x,"y\x1b[1m\u202e  1,000"#];
        assert_eq!(text.lines().collect::<Vec<_>>(), wanted);
        assert_eq!(
            table(&headings, &rows, &[0], Form::Csv),
            "Tag,Count\na|b,1\n\"x,\"\"y\u{1b}[1m\u{202e}\",\"1,000\"\n"
        );
        let lines: Vec<String> =
            table(&headings, &rows[..1], &[0], Form::Markdown).lines().map(str::to_owned).collect();
        assert_eq!(lines, ["| Tag  | Count |", "| :--- | ----: |", "| a\\|b |     1 |"]);
    }
}
