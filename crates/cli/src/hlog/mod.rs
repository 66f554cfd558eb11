//! `picollo hlog`: percentiles of histogram logs, by tag and time.

mod groups;
mod reading;
pub(crate) mod source;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use picollo_codec::{HgrmFormat, write_hgrm};
use picollo_core::layouts::ValueSelection;

use crate::failure::{Failure, print, report, write_file};
use crate::progress::Progress;
use crate::table::{self, Form, printable, table};
use crate::values::{self, Scale, flag, option, subcommand};
pub(crate) use groups::ANY_COUNTERS;
use groups::{Group, Groups};
pub(crate) use reading::NO_INTERVAL;
use reading::Reading;

const HELP: &str = "Shows percentiles of histogram logs (.hlog), by tag and time

The logs are in the format of HdrHistogram's tools, compressed with gzip or not. The counts of several logs are added. \"-\" is standard \
input. The memory in use does not depend on the length of the logs. A time that is a number or a duration (60, 5m) is relative to the \
first interval of the first log. @1441812279.5 and 2015-09-09T15:24:39Z are absolute times.

  picollo hlog service.hlog                               one row in total
  picollo hlog *.hlog.gz --by-tag --scale us              a row for each tag, with nanoseconds as microseconds
  picollo hlog service.hlog --tag GET --window 60         a row for each minute
  picollo hlog service.hlog --start 10 --end 70 --format hgrm -o get.hgrm";

pub(crate) fn command() -> Command {
    subcommand("hlog", HELP).args([
        Arg::new("files")
            .value_name("FILE")
            .num_args(1..)
            .required(true)
            .help("the logs to read; '-' is standard input"),
        option(
            "tag",
            "TAG",
            "read only intervals with this tag; repeatable; '' selects intervals without a tag",
        )
        .action(ArgAction::Append),
        option("start", "TIME", "read only intervals that begin at this time or later")
            .value_parser(values::time)
            .allow_hyphen_values(true),
        option("end", "TIME", "read only intervals that begin before this time")
            .value_parser(values::time)
            .allow_hyphen_values(true),
        flag("by-tag", "print a row for each tag"),
        option("window", "TIME", "print a row for each interval of this length, such as 60s or 5m")
            .value_parser(values::duration),
        option("percentiles", "RANK,...", "the percentiles to print")
            .default_value("50,90,99,99.9,99.99,100")
            .value_parser(values::ranks),
        option(
            "scale",
            "NUMBER|UNIT",
            "divide the values by this number; ns, us, ms and s convert nanoseconds to that unit",
        )
        .default_value("1")
        .value_parser(values::scale),
        option("decimals", "N", "the number of decimals of scaled values and means, 0 to 9")
            .default_value("3")
            .value_parser(value_parser!(u8).range(0..=9)),
        option(
            "values",
            "WHICH",
            "the value of a bucket that represents a percentile; HdrHistogram's tools show the upper one",
        )
        .default_value("upper")
        .value_parser(PossibleValuesParser::new(["upper", "midpoint", "lower"])),
        option(
            "format",
            "FORMAT",
            "the form of the output: a table, or the percentile distribution for HdrHistogram's plotter",
        )
        .default_value("text")
        .value_parser(PossibleValuesParser::new(["text", "csv", "markdown", "hgrm", "hgrm-csv"])),
        option("ticks", "N", "the number of hgrm rows for each halving of the distance to 100%")
            .default_value("5")
            .value_parser(value_parser!(u32).range(1..=1_000_000)),
        option("output", "FILE", "write the output to this file")
            .short('o')
            .value_parser(value_parser!(PathBuf)),
        flag("skip-errors", "report unreadable lines and continue"),
        flag("no-progress", "show no progress bar"),
    ])
}

fn scale_of(matches: &ArgMatches) -> Scale {
    matches.get_one("scale").copied().unwrap_or(Scale { divisor: 1.0, unit: "" })
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let text = |name| matches.get_one::<String>(name).map_or("", String::as_str);
    let files: Vec<String> = matches.get_many("files").into_iter().flatten().cloned().collect();
    let mut reading = Reading::new(matches);
    reading.read(&files, Progress::new(!matches.get_flag("no-progress")))?;
    if reading.groups.len() == 0 {
        return Err(reading.why_nothing(files.len()).into());
    }
    let mut groups = std::mem::replace(&mut reading.groups, Groups::new());
    if groups.ratio != 1.0 {
        let ratio = groups.ratio;
        report("hlog", format!("these are histograms of doubles: multiply their values by {ratio}"));
    }
    let text = match text("format") {
        "hgrm" => hgrm_of(matches, &reading, &mut groups, HgrmFormat::Columns)?,
        "hgrm-csv" => hgrm_of(matches, &reading, &mut groups, HgrmFormat::Csv)?,
        "csv" => table_of(matches, &reading, &mut groups, Form::Csv)?,
        "markdown" => table_of(matches, &reading, &mut groups, Form::Markdown)?,
        _ => table_of(matches, &reading, &mut groups, Form::Text)?,
    };
    match matches.get_one::<PathBuf>("output") {
        None => print(&text)?,
        Some(path) => write_file(path, &text)?,
    }
    Ok(0)
}

fn table_of(
    matches: &ArgMatches,
    reading: &Reading,
    groups: &mut Groups,
    form: Form,
) -> Result<String, Failure> {
    let ranks = matches.get_one::<Vec<f64>>("percentiles").cloned().unwrap_or_default();
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
            snapshot.percentile_values(&ranks, selection, &mut found)?;
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

/// Distributions, with a comment before each if there are several.
fn hgrm_of(
    matches: &ArgMatches,
    reading: &Reading,
    groups: &mut Groups,
    format: HgrmFormat,
) -> Result<String, Failure> {
    let ticks = matches.get_one::<u32>("ticks").copied().unwrap_or(5);
    let divisor = scale_of(matches).divisor;
    let (mut text, is_one) = (String::new(), groups.len() == 1);
    groups.for_each::<Failure>(|group, snapshot| {
        if !is_one {
            let space = if text.is_empty() { "" } else { "\n" };
            text += &format!("{space}#[{}]\n", printable(&name_of(matches, reading, group)));
        }
        Ok(write_hgrm(snapshot, &mut text, ticks, divisor, format)?)
    })?;
    Ok(text)
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

/// A number without trailing zeros.
fn short(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
