//! Tables of text.

use std::io::IsTerminal;

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Text,
    Markdown,
    Csv,
}

/// Text from elsewhere, without what would act on a terminal: control characters, and those that turn the direction of writing.
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

/// A table; the columns `left` are aligned to the left, the others to the right. On a terminal that is too narrow for it as text,
/// names in them are cut in the middle; elsewhere, and in other forms, everything is whole.
pub(crate) fn table(headings: &[String], rows: &[Vec<String>], left: &[usize], form: Form) -> String {
    let is_screen = form == Form::Text && std::io::stdout().is_terminal();
    let columns = if is_screen { ratatui_crossterm::crossterm::terminal::size().ok() } else { None };
    table_within(headings, rows, left, form, columns.map(|(columns, _)| columns.into()))
}

fn table_within(
    headings: &[String],
    rows: &[Vec<String>],
    left: &[usize],
    form: Form,
    columns: Option<usize>,
) -> String {
    let lines = std::iter::once(headings).chain(rows.iter().map(Vec::as_slice));
    if form == Form::Csv {
        let line = |cells: &[String]| cells.iter().map(|cell| csv(cell)).collect::<Vec<_>>().join(",") + "\n";
        return lines.map(line).collect();
    }
    let escape = if form == Form::Text { str::to_owned } else { markdown };
    let mut lines: Vec<Vec<String>> =
        lines.map(|line| line.iter().map(|cell| escape(&printable(cell))).collect()).collect();
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0).max(3);
    let mut widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let whole = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
    let widest = left.iter().copied().filter(|&at| at < widths.len()).max_by_key(|&at| widths[at]);
    if let (Some(columns), Some(at)) = (columns, widest)
        && whole > columns
    {
        widths[at] = widths[at].saturating_sub(whole - columns).max(LEAST.min(widths[at]));
        lines.iter_mut().for_each(|line| line[at] = cut(&line[at], widths[at]));
    }
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .enumerate()
            .map(
                |(at, (cell, &width))| {
                    if left.contains(&at) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
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

/// The narrowest that a column of names becomes.
const LEAST: usize = 16;

/// At most so many characters: two thirds of them from the beginning, and, as labels tell more than the middle does, the others from
/// the end.
fn cut(cell: &str, width: usize) -> String {
    let length = cell.chars().count();
    if length <= width {
        return cell.to_owned();
    }
    let end = width / 3;
    let begin: String = cell.chars().take(width - end - 1).collect();
    begin + "\u{2026}" + &cell.chars().skip(length - end).collect::<String>()
}

fn csv(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

fn markdown(cell: &str) -> String {
    let mut result = String::new();
    for character in cell.chars() {
        if r"\|`*_<>[]".contains(character) {
            result.push('\\');
        }
        result.push(character);
    }
    result
}

/// A number with so many decimals, and commas between thousands where that is asked for.
pub(crate) fn number(value: f64, decimals: usize, with_commas: bool) -> String {
    let text = format!("{value:.decimals$}");
    if !with_commas || !value.is_finite() {
        return text;
    }
    let (sign, digits) = text.split_at(text.starts_with('-') as usize);
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut result = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            result.push(',');
        }
        result.push(digit);
    }
    result + fraction
}

/// A count, all of its digits.
pub(crate) fn count(count: u64, with_commas: bool) -> String {
    let digits = count.to_string();
    if !with_commas {
        return digits;
    }
    let pieces: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|piece| str::from_utf8(piece).unwrap_or("")).collect();
    pieces.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names make way for numbers where a terminal is narrow, down to a width, and nowhere else.
    #[test]
    fn long_names() {
        let cells = |line: [&str; 3]| line.map(str::to_owned).to_vec();
        let name = format!("{}{{route=/pay}}", "n".repeat(300));
        let (headings, rows) =
            (cells(["ENTRY", "COUNT", "p50"]), [cells([&name, "10", "8.03 µs"]), cells(["short", "1", "2"])]);
        let within = |columns| table_within(&headings, &rows, &[0], Form::Text, columns);
        assert!(within(None).contains(&name));
        for columns in [40, 79, 80, 200] {
            let text = within(Some(columns));
            assert_eq!(text.lines().map(|line| line.chars().count()).max(), Some(columns), "{text}");
            assert!(
                text.contains("nn\u{2026}") && text.contains("/pay}") && text.contains("8.03 µs"),
                "{text}"
            );
        }
        assert!(
            within(Some(1))
                .lines()
                .all(|line| line.chars().count() == LEAST + 2 + 5 + 2 + 7 || !line.contains('n'))
        );
        assert!(table_within(&headings, &rows, &[0], Form::Csv, Some(10)).contains(&name));
        assert_eq!((cut("abc", 3), cut("abcdefg", 4)), ("abc".to_owned(), "ab\u{2026}g".to_owned()));
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
        for (value, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (u64::MAX, "18,446,744,073,709,551,615")]
        {
            assert_eq!(count(value, true), text);
        }
    }

    #[test]
    fn tables() {
        let cells = |line: &[&str]| line.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
        let (headings, rows) =
            (cells(&["Tag", "Count"]), [cells(&["a|b", "1"]), cells(&["x,\"y\u{1b}[1m\u{202e}", "1,000"])]);
        let text = table(&headings, &rows, &[0], Form::Text);
        assert_eq!(text, "Tag                      Count\na|b                          1\nx,\"y\\x1b[1m\\u202e        1,000\n".replace("        1,000", "  1,000").replace("                      Count", "                Count").replace("                          1\n", "                    1\n"));
        assert_eq!(
            table(&headings, &rows, &[0], Form::Csv),
            "Tag,Count\na|b,1\n\"x,\"\"y\u{1b}[1m\u{202e}\",\"1,000\"\n"
        );
        let lines: Vec<String> =
            table(&headings, &rows[..1], &[0], Form::Markdown).lines().map(str::to_owned).collect();
        assert_eq!(lines, ["| Tag  | Count |", "| :--- | ----: |", "| a\\|b |     1 |"]);
    }
}
