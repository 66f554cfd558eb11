//! `picollo hlog`: percentiles of histogram logs, by tag and time.

mod groups;
mod reading;
pub(crate) mod source;
pub(crate) mod sum;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use picollo_core::text::HgrmFormat;
use picollo_core::{Error, Snapshot, ValueSelection};

use crate::failure::{Failure, print, write_file};
use crate::progress::Progress;
use crate::table::{self, Form, printable, table};
use crate::values::{self, Scale, Time};
use groups::Group;
use reading::{Choice, Reading};

const ABOUT: &str = "Percentiles of histogram logs (.hlog), by tag and time";
const LONG_ABOUT: &str = "Percentiles of histogram logs (.hlog), by tag and time.

Reads logs as HdrHistogram's tools write them, one or several, compressed with gzip or not, \"-\" for standard input, and adds up what is \
in them. Memory does not depend on their length. Times that are plain numbers are seconds after the first interval of the first log; \
@1441812279.5 and 2015-09-09T15:24:39Z are times of the clock.

  picollo hlog service.hlog                               one row for all
  picollo hlog *.hlog.gz --by-tag --scale us              a row for each tag, nanoseconds as microseconds
  picollo hlog service.hlog --tag GET --window 60         a row for each minute
  picollo hlog service.hlog --start 10 --end 70 --format hgrm -o get.hgrm";

pub(crate) fn command() -> Command {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("hlog").about(ABOUT).long_about(LONG_ABOUT).args([
        Arg::new("files").value_name("FILE").num_args(1..).required(true).help("logs; '-' is standard input"),
        option("tag", "TAG", "only intervals with this tag, or one of several; '' is that of none")
            .action(ArgAction::Append),
        option("start", "TIME", "only intervals that begin at this time or later")
            .value_parser(values::time)
            .allow_hyphen_values(true),
        option("end", "TIME", "only intervals that begin before this time")
            .value_parser(values::time)
            .allow_hyphen_values(true),
        flag("by-tag", "a row for each tag"),
        option("window", "SECONDS", "a row for each so many seconds").value_parser(values::seconds),
        option("percentiles", "RANK,...", "which percentiles")
            .default_value("50,90,99,99.9,99.99,100")
            .value_parser(values::ranks),
        option(
            "scale",
            "NUMBER|UNIT",
            "divide values by this; ns, us, ms and s take them for nanoseconds and show them in that unit",
        )
        .default_value("1")
        .value_parser(values::scale),
        option("decimals", "N", "of scaled values and means, 0 to 9")
            .default_value("3")
            .value_parser(value_parser!(u8).range(0..=9)),
        option(
            "values",
            "WHICH",
            "which value of its bucket a percentile is; upper is what HdrHistogram's own tools show",
        )
        .default_value("upper")
        .value_parser(PossibleValuesParser::new(["upper", "midpoint", "lower"])),
        option("format", "FORMAT", "a table, or the percentile distribution for HdrHistogram's plotter")
            .default_value("text")
            .value_parser(PossibleValuesParser::new(["text", "csv", "markdown", "hgrm", "hgrm-csv"])),
        option("ticks", "N", "rows of hgrm for each halving of the distance to 100%")
            .default_value("5")
            .value_parser(value_parser!(u32).range(1..=1_000_000)),
        option("output", "FILE", "write there; several hgrm go to several files, named like it")
            .short('o')
            .value_parser(value_parser!(PathBuf)),
        flag("skip-errors", "report lines that cannot be read, and go on"),
        flag("no-progress", "no progress bar"),
        // What there once was.
        option("plot", "FILE", "").hide(true),
    ])
}

/// What the command line says, once it was read.
struct Arguments<'a>(&'a ArgMatches);

impl Arguments<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.get_flag(name)
    }

    fn text(&self, name: &str) -> &str {
        self.0.get_one::<String>(name).map_or("", String::as_str)
    }

    fn scale(&self) -> Scale {
        self.0.get_one("scale").copied().unwrap_or(Scale { divisor: 1.0, unit: "" })
    }

    fn output(&self) -> Option<&Path> {
        self.0.get_one::<PathBuf>("output").map(PathBuf::as_path)
    }
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let arguments = Arguments(matches);
    if matches.contains_id("plot") {
        return Err(
            "--plot is no more: `picollo report LOG -o PAGE.html` draws percentiles and heat maps".into()
        );
    }
    let ranks = matches.get_one::<Vec<f64>>("percentiles").cloned().unwrap_or_default();
    let files: Vec<String> = matches.get_many("files").into_iter().flatten().cloned().collect();
    let mut reading = Reading::new(Choice {
        tags: matches.get_many("tag").map(|tags| tags.cloned().collect()),
        start: matches.get_one::<Time>("start").copied(),
        end: matches.get_one::<Time>("end").copied(),
        by_tag: arguments.has("by-tag"),
        window: matches.get_one::<f64>("window").copied(),
        skip_errors: arguments.has("skip-errors"),
    });
    reading.read(&files, Progress::new(!arguments.has("no-progress")))?;
    if reading.groups.len() == 0 {
        return Err(reading.why_nothing(files.len()).into());
    }
    if reading.groups.ratio != 1.0 {
        let ratio = reading.groups.ratio;
        Failure::Told(format!("these are histograms of doubles: values are to be multiplied by {ratio}"))
            .tell("hlog");
    }
    match arguments.text("format") {
        format @ ("hgrm" | "hgrm-csv") => write_hgrm(&arguments, &mut reading, format == "hgrm-csv")?,
        format => {
            let form = match format {
                "csv" => Form::Csv,
                "markdown" => Form::Markdown,
                _ => Form::Text,
            };
            let text = table_of(&arguments, &mut reading, &ranks, form)?;
            match arguments.output() {
                None => print(&text)?,
                Some(path) => write_file(path, &text)?,
            }
        }
    }
    Ok(0)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Told(error.to_string())
    }
}

fn table_of(
    arguments: &Arguments,
    reading: &mut Reading,
    ranks: &[f64],
    form: Form,
) -> Result<String, Failure> {
    let is_csv = form == Form::Csv;
    let (by_tag, has_windows) = (arguments.has("by-tag"), arguments.0.contains_id("window"));
    let mut headings = Vec::new();
    headings.extend(by_tag.then(|| "Tag".to_owned()));
    if has_windows {
        headings.extend(["From (s)".to_owned(), "To (s)".to_owned()]);
    }
    headings.extend(["Count".to_owned(), "Mean".to_owned()]);
    headings.extend(
        ranks.iter().map(|&rank| {
            if rank == 100.0 && !is_csv { "Max".into() } else { format!("P{}", short(rank, 9)) }
        }),
    );
    if is_csv {
        headings = headings.iter().map(|heading| heading.replace(" (s)", "").to_lowercase()).collect();
    }
    let Scale { divisor, unit } = arguments.scale();
    let decimals = arguments.0.get_one::<u8>("decimals").copied().unwrap_or(3) as usize;
    let selection = match arguments.text("values") {
        "lower" => ValueSelection::Lower,
        "midpoint" => ValueSelection::Midpoint,
        _ => ValueSelection::Upper,
    };
    let scaled = |value: f64| table::number(value / divisor, decimals, !is_csv);
    let shift = if is_csv { reading.origin.unwrap_or(0.0) } else { 0.0 };
    let mut groups = std::mem::replace(&mut reading.groups, groups::Groups::new());
    let mut rows = Vec::new();
    groups.for_each::<Failure>(|group, snapshot| {
        let mut row = Vec::new();
        row.extend(by_tag.then(|| group.tag.clone()));
        if has_windows {
            let (begin, end) = reading.span_of(group);
            row.extend([short(begin + shift, 3), short(end + shift, 3)]);
        }
        let total = snapshot.counts().total;
        row.push(table::count(total, !is_csv));
        if total == 0 {
            row.extend(std::iter::repeat_n(if is_csv { "" } else { "-" }.to_owned(), 1 + ranks.len()));
        } else {
            row.push(scaled(snapshot.moments().mean));
            let mut found = vec![0; ranks.len()];
            snapshot.percentile_values(ranks, selection, &mut found)?;
            row.extend(found.iter().map(|&value| {
                if divisor == 1.0 { table::count(value, !is_csv) } else { scaled(value as f64) }
            }));
        }
        rows.push(row);
        Ok(())
    })?;
    let text = table(&headings, &rows, if by_tag { &[0] } else { &[] }, form);
    Ok(match (unit, form) {
        ("", _) | (_, Form::Csv) => text,
        (unit, Form::Markdown) => format!("{text}\nValues in {unit}.\n"),
        (unit, Form::Text) => format!("{text}(values in {unit})\n"),
    })
}

fn write_hgrm(arguments: &Arguments, reading: &mut Reading, is_csv: bool) -> Result<(), Failure> {
    let ticks = arguments.0.get_one::<u32>("ticks").copied().unwrap_or(5);
    let format = if is_csv { HgrmFormat::Csv } else { HgrmFormat::Columns };
    let divisor = arguments.scale().divisor;
    let mut groups = std::mem::replace(&mut reading.groups, groups::Groups::new());
    let several = groups.len() > 1;
    let mut used = HashSet::new();
    let mut is_first = true;
    groups.for_each::<Failure>(|group, snapshot: &Snapshot| {
        let mut text = String::new();
        snapshot.write_hgrm(&mut text, ticks, divisor, format)?;
        let name = name_of(arguments, reading, group);
        let Some(output) = arguments.output() else {
            if several {
                // A comment, to those who read this.
                text = format!("{}#[{}]\n{text}", if is_first { "" } else { "\n" }, printable(&name));
                is_first = false;
            }
            return print(&text);
        };
        write_file(&if several { beside(output, &name, &mut used) } else { output.to_owned() }, &text)
    })
}

/// A path like another, for one of several. Tags are anybody's text, and no paths.
fn beside(output: &Path, name: &str, used: &mut HashSet<String>) -> PathBuf {
    let safe: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let safe = match safe.trim_matches('.') {
        "" => "_",
        safe => safe,
    };
    let (mut unique, mut number) = (safe.to_owned(), 2);
    // File systems may take upper and lower case for the same.
    while !used.insert(unique.to_lowercase()) {
        unique = format!("{safe}-{number}");
        number += 1;
    }
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let extension = match part(output.extension()) {
        extension if extension.is_empty() => extension,
        extension => format!(".{extension}"),
    };
    output.with_file_name(format!("{}.{unique}{extension}", part(output.file_stem())))
}

fn name_of(arguments: &Arguments, reading: &Reading, group: &Group) -> String {
    let mut parts = Vec::new();
    if arguments.has("by-tag") {
        parts.push(if group.tag.is_empty() { "no tag".to_owned() } else { group.tag.clone() });
    }
    if arguments.0.contains_id("window") {
        let (begin, end) = reading.span_of(group);
        parts.push(format!("{}-{} s", short(begin, 3), short(end, 3)));
    }
    parts.join(", ")
}

/// A number without zeros at the end.
fn short(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
