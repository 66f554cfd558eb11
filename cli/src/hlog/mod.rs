//! `picollo hlog`: percentiles of histogram logs, by tag and time.

mod groups;
mod reading;
pub(crate) mod source;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use picollo_core::text::HgrmFormat;
use picollo_core::{Error, Snapshot, ValueSelection};

use crate::failure::{Failure, print, write_file};
use crate::progress::Progress;
use crate::table::{self, Form, printable, table};
use crate::values::{self, Scale, Time, flag, option, subcommand};
pub(crate) use groups::ANY_COUNTERS;
use groups::Group;
use reading::{Choice, Reading};

const HELP: &str = "Percentiles of histogram logs (.hlog), by tag and time

Reads logs as HdrHistogram's tools write them, one or several, compressed with gzip or not, \"-\" for standard input, and adds up what is \
in them. Memory does not depend on their length. Times that are plain numbers are seconds after the first interval of the first log; \
@1441812279.5 and 2015-09-09T15:24:39Z are times of the clock.

  picollo hlog service.hlog                               one row for all
  picollo hlog *.hlog.gz --by-tag --scale us              a row for each tag, nanoseconds as microseconds
  picollo hlog service.hlog --tag GET --window 60         a row for each minute
  picollo hlog service.hlog --start 10 --end 70 --format hgrm -o get.hgrm";

pub(crate) fn command() -> Command {
    subcommand("hlog", HELP).args([
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
        option("window", "TIME", "a row for each interval of this length, such as 60s or 5m")
            .value_parser(values::duration),
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
    ])
}

fn scale_of(matches: &ArgMatches) -> Scale {
    matches.get_one("scale").copied().unwrap_or(Scale { divisor: 1.0, unit: "" })
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let text = |name| matches.get_one::<String>(name).map_or("", String::as_str);
    let ranks = matches.get_one::<Vec<f64>>("percentiles").cloned().unwrap_or_default();
    let files: Vec<String> = matches.get_many("files").into_iter().flatten().cloned().collect();
    let mut reading = Reading::new(Choice {
        tags: matches.get_many("tag").map(|tags| tags.cloned().collect()),
        start: matches.get_one::<Time>("start").copied(),
        end: matches.get_one::<Time>("end").copied(),
        by_tag: matches.get_flag("by-tag"),
        window: matches.get_one::<Duration>("window").map(Duration::as_secs_f64),
        skip_errors: matches.get_flag("skip-errors"),
    });
    reading.read(&files, Progress::new(!matches.get_flag("no-progress")))?;
    if reading.groups.len() == 0 {
        return Err(reading.why_nothing(files.len()).into());
    }
    if reading.groups.ratio != 1.0 {
        let ratio = reading.groups.ratio;
        Failure::Told(format!("these are histograms of doubles: values are to be multiplied by {ratio}"))
            .tell("hlog");
    }
    match text("format") {
        format @ ("hgrm" | "hgrm-csv") => write_hgrm(matches, &mut reading, format == "hgrm-csv")?,
        format => {
            let form = match format {
                "csv" => Form::Csv,
                "markdown" => Form::Markdown,
                _ => Form::Text,
            };
            let text = table_of(matches, &mut reading, &ranks, form)?;
            match matches.get_one::<PathBuf>("output") {
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
    matches: &ArgMatches,
    reading: &mut Reading,
    ranks: &[f64],
    form: Form,
) -> Result<String, Failure> {
    let is_csv = form == Form::Csv;
    let (by_tag, has_windows) = (matches.get_flag("by-tag"), matches.contains_id("window"));
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
    let Scale { divisor, unit } = scale_of(matches);
    let decimals = matches.get_one::<u8>("decimals").copied().unwrap_or(3) as usize;
    let selection = match matches.get_one::<String>("values").map_or("", String::as_str) {
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

fn write_hgrm(matches: &ArgMatches, reading: &mut Reading, is_csv: bool) -> Result<(), Failure> {
    let ticks = matches.get_one::<u32>("ticks").copied().unwrap_or(5);
    let format = if is_csv { HgrmFormat::Csv } else { HgrmFormat::Columns };
    let divisor = scale_of(matches).divisor;
    let mut groups = std::mem::replace(&mut reading.groups, groups::Groups::new());
    let several = groups.len() > 1;
    let mut used = HashSet::new();
    let mut is_first = true;
    groups.for_each::<Failure>(|group, snapshot: &Snapshot| {
        let mut text = String::new();
        snapshot.write_hgrm(&mut text, ticks, divisor, format)?;
        let name = name_of(matches, reading, group);
        let Some(output) = matches.get_one::<PathBuf>("output") else {
            if several {
                // A comment, to those who read this.
                text = format!("{}#[{}]\n{text}", if is_first { "" } else { "\n" }, printable(&name));
                is_first = false;
            }
            return print(&text);
        };
        write_file(&if several { beside(output, &name, &mut used) } else { output.clone() }, &text)
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

fn name_of(matches: &ArgMatches, reading: &Reading, group: &Group) -> String {
    let mut parts = Vec::new();
    if matches.get_flag("by-tag") {
        parts.push(if group.tag.is_empty() { "no tag".to_owned() } else { group.tag.clone() });
    }
    if matches.contains_id("window") {
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
