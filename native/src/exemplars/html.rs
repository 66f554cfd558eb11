//! An interval as HTML: a section of a page, or what a notebook shows.
//!
//! It looks as the page does that it stands in, refers to nothing outside and runs no script. Bars are drawn, so that they are printed as
//! well, in colors that stand out from white and from black; beside each is its number, so that nothing is said by a color alone.

use core::fmt::{self, Display, Write};

use super::*;
use crate::machine::place::write_day;

/// Observations that are shown: as many as are kept by default.
const SHOWN: usize = 16;

/// Parts of an observation below this share of it are drawn, and not named.
const NAMED: f64 = 0.01;

/// Bars are so wide, in units of their own.
const WIDTH: f64 = 1000.0;

/// Nanoseconds of a day.
const DAY: u64 = 86_400_000_000_000;

const LEFT: &str = " style=\"text-align:left\"";
const PROSE: &str = " style=\"text-align:left;white-space:normal;min-width:9em\"";

/// The color of a cause. Each has a contrast of 3 with white and with the dark page.
const fn color(cause: Cause) -> &'static str {
    match cause {
        Cause::OwnWaiting => "#2b7bba",
        Cause::RunQueue => "#d55e00",
        Cause::RunQueueOrQuota => "#c2557d",
        Cause::Throttled => "#cf3f3f",
        Cause::OffCpu => "#5d7f9e",
        Cause::PageFaults => "#008a66",
        Cause::MoreInstructions => "#8a63d2",
        Cause::SlowerInstructions => "#b0568f",
        Cause::OnCpu => "#9a6b00",
        Cause::Unexplained | Cause::Several | Cause::NotKnown => "#7a7a7a",
    }
}

/// Escapes what is written through it.
struct Escaping<'a>(&'a mut dyn Write);

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| match c {
            '&' => self.0.write_str("&amp;"),
            '<' => self.0.write_str("&lt;"),
            '>' => self.0.write_str("&gt;"),
            '"' => self.0.write_str("&quot;"),
            c if c.is_control() => self.0.write_char(' '),
            c => self.0.write_char(c),
        })
    }
}

/// Escapes what is written through it, with something before the first line, and something before each other; empty ones are left out.
struct Lines<'a> {
    out: &'a mut dyn Write,
    before: &'static [&'static str; 2],
    count: usize,
    is_within: bool,
}

impl<'a> Lines<'a> {
    fn new(out: &'a mut dyn Write, before: &'static [&'static str; 2]) -> Lines<'a> {
        Lines { out, before, count: 0, is_within: false }
    }
}

impl Write for Lines<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (at, line) in text.split('\n').enumerate() {
            self.is_within &= at == 0;
            if line.is_empty() {
                continue;
            }
            if !self.is_within {
                self.out.write_str(self.before[self.count.min(1)])?;
                self.count += 1;
                self.is_within = true;
            }
            Escaping(self.out).write_str(line)?;
        }
        Ok(())
    }
}

/// A text, escaped.
struct Text<T>(T);

impl<T: Display> Display for Text<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

/// A time in UTC, to the millisecond, with its day if that has to be said; a dash where there is none.
struct Moment(u64, bool);

impl Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("–");
        }
        let millis = self.0 / 1_000_000;
        let of_day = millis / 1000 % 86_400;
        if self.1 {
            write_day(f, self.0 / DAY)?;
            f.write_char(' ')?;
        }
        write!(f, "{:02}:{:02}:{:02}.{:03}", of_day / 3600, of_day / 60 % 60, of_day % 60, millis % 1000)
    }
}

/// Instructions of a cycle, and what is usual.
struct Executed<'a>(&'a Exemplar, &'a Verdict);

impl Display for Executed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.evidence.ipc(), self.1.usual_ipc) {
            (None, _) => f.write_str("–"),
            (Some(ipc), 0.0) => write!(f, "{ipc:.2}"),
            (Some(ipc), usual) => write!(f, "{ipc:.2}<br>usually {usual:.2}"),
        }
    }
}

/// Draws shares of a whole side by side, in a bar with this style.
fn write_bar(
    out: &mut dyn Write,
    style: &str,
    shares: &mut dyn Iterator<Item = (&'static str, f64)>,
) -> fmt::Result {
    write!(
        out,
        "<svg aria-hidden=\"true\" viewBox=\"0 0 {WIDTH} 10\" preserveAspectRatio=\"none\" \
         style=\"display:block;{style};height:.8em;margin:.2em 0\">\
         <rect width=\"{WIDTH}\" height=\"10\" fill=\"currentColor\" fill-opacity=\".1\"/>"
    )?;
    let mut begin = 0.0;
    for (color, share) in shares {
        let width = (share * WIDTH).clamp(0.0, WIDTH - begin);
        if width >= 0.5 {
            write!(out, "<rect x=\"{begin:.1}\" width=\"{width:.1}\" height=\"10\" fill=\"{color}\"/>")?;
        }
        begin += width;
    }
    out.write_str("</svg>")
}

/// Which columns there is something for, and what has to be said in them.
struct Columns {
    days: bool,
    executed: bool,
    kinds: bool,
    traces: bool,
    words: bool,
}

impl Interval {
    /// The same as HTML: a section with a heading, the answer, the causes, the slowest and what is not known. It can stand in any page, and looks
    /// best in one with [`REPORT_STYLE`](picollo_core::text::picture::REPORT_STYLE). Fails only where `out` does.
    pub fn write_html(&self, out: &mut dyn Write) -> fmt::Result {
        out.write_str("<section class=\"picollo-slow\">\n<h2>Why ")?;
        match self.threshold {
            0 => out.write_str("the slowest observations were slow")?,
            threshold => write!(out, "observations above {} were slow", Text(self.shown(threshold)))?,
        }
        out.write_str("</h2>\n")?;
        self.write_answer(&mut Lines::new(out, &["<p class=\"answer\">", "</p>\n<p class=\"count\">"]))?;
        out.write_str("</p>\n")?;
        if self.unix_nanos[1] != 0 {
            let [begin, end] = self.unix_nanos.map(|time| Moment(time, true));
            writeln!(out, "<p class=\"note\">From {begin} to {end} UTC.</p>")?;
        }
        self.write_causes(out)?;
        self.write_slowest(out)?;
        if self.has_hints() {
            out.write_str("<p class=\"note\">")?;
            self.hints.write_text(&mut Escaping(out))?;
            out.write_str("</p>\n")?;
        }
        let mut unknown = Lines::new(out, &["<ul class=\"unknown\">\n<li>", "</li>\n<li>"]);
        self.write_unknown(&mut unknown)?;
        if unknown.count > 0 {
            out.write_str("</li>\n</ul>\n")?;
        }
        out.write_str("</section>\n")
    }

    fn write_causes(&self, out: &mut dyn Write) -> fmt::Result {
        let rows = self.rows();
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "<div class=\"wide\"><table aria-label=\"Causes\">\n<thead><tr><th scope=\"col\">Cause</th><th scope=\"col\" colspan=\"2\">\
             Share of the excess</th><th scope=\"col\">Observations</th><th scope=\"col\">Typical</th><th scope=\"col\"{LEFT}>It</th></tr></thead>\n\
             <tbody>"
        )?;
        for &cause in rows.iter() {
            let share = self.share(cause);
            write!(out, "<tr><td>{}</td><td>", Text(cause.name()))?;
            match (cause as usize) <= PARTS && self.known > 0 {
                true => {
                    let percent = self.percent(cause);
                    write_bar(out, "width:9em", &mut core::iter::once((color(cause), percent / 100.0)))?;
                    write!(out, "</td><td>{percent:.0}%")?;
                }
                false => out.write_str("</td><td>")?,
            }
            write!(out, "</td><td>{}</td><td>", Grouped::from(share.observations))?;
            if share.typical_nanos > 0 {
                write!(out, "{}", Text(time(share.typical_nanos)))?;
            }
            writeln!(out, "</td><td{PROSE}>{}</td></tr>", Text(self.meaning(cause)))?;
        }
        out.write_str("</tbody></table></div>\n")
    }

    fn write_slowest(&self, out: &mut dyn Write) -> fmt::Result {
        let shown = || self.exemplars().iter().take(SHOWN);
        let Some(longest) = shown().map(|(exemplar, _)| exemplar.wall_nanos).max() else { return Ok(()) };
        let has = |what: &dyn Fn(&Exemplar) -> bool| shown().any(|(exemplar, _)| what(exemplar));
        let columns = Columns {
            days: has(&|exemplar| exemplar.unix_nanos / DAY != self.unix_nanos[0] / DAY),
            executed: has(&|exemplar| exemplar.evidence.ipc().is_some()),
            kinds: has(&|exemplar| exemplar.label != 0),
            traces: has(&|exemplar| is_traced(exemplar)),
            words: has(&|exemplar| exemplar.context.words != [0, 0]),
        };
        out.write_str("<h3>The slowest</h3>\n")?;
        if self.exemplars().len() > SHOWN {
            let all = Grouped::from(self.exemplars().len() as u64);
            writeln!(out, "<p class=\"note\">{SHOWN} of {all} observations that were kept.</p>")?;
        }
        write!(
            out,
            "<div class=\"wide\"><table aria-label=\"The slowest\">\n<thead><tr><th scope=\"col\">Value</th><th scope=\"col\">Began (UTC)</th>\
             <th scope=\"col\"{LEFT}>Cause, beyond the usual</th><th scope=\"col\"{LEFT}>Where its time went</th>\
             <th scope=\"col\">Page faults</th><th scope=\"col\">Thread</th>"
        )?;
        let optional = [
            (columns.executed, "Instructions a cycle"),
            (columns.kinds, "Kind"),
            (columns.traces, "Trace and span"),
            (columns.words, "Words"),
        ];
        for (_, name) in optional.iter().filter(|(is_there, _)| *is_there) {
            write!(out, "<th scope=\"col\">{name}</th>")?;
        }
        out.write_str("</tr></thead>\n<tbody>\n")?;
        for (exemplar, verdict) in shown() {
            self.write_row(out, exemplar, verdict, longest, &columns)?;
        }
        out.write_str("</tbody></table></div>\n")
    }

    fn write_row(
        &self,
        out: &mut dyn Write,
        exemplar: &Exemplar,
        verdict: &Verdict,
        longest: u64,
        columns: &Columns,
    ) -> fmt::Result {
        let value = Text(self.shown(exemplar.value));
        write!(out, "<tr><td>{value}</td><td>{}</td><td{PROSE}>", Moment(exemplar.unix_nanos, columns.days))?;
        write_cause(out, verdict)?;
        write!(out, "</td><td{PROSE}>")?;
        write_parts(out, exemplar, verdict, longest)?;
        out.write_str("</td><td>")?;
        match exemplar.evidence.knows(KNOWN_ACCOUNTS) {
            true => write!(out, "{}", Grouped::from(exemplar.evidence.faults()))?,
            false => out.write_str("–")?,
        }
        if exemplar.evidence.major_faults > 0 {
            write!(out, ", {} from disk", Grouped(exemplar.evidence.major_faults.into()))?;
        }
        out.write_str("</td><td>")?;
        match exemplar.thread {
            0 => out.write_str("–")?,
            thread => write!(out, "{thread}")?,
        }
        if exemplar.cpu != NO_CPU {
            write!(out, "<br>CPU {}", exemplar.cpu)?;
        }
        out.write_str("</td>")?;
        if columns.executed {
            write!(out, "<td>{}</td>", Executed(exemplar, verdict))?;
        }
        if columns.kinds {
            write!(out, "<td>{}</td>", exemplar.label)?;
        }
        let context = &exemplar.context;
        if columns.traces {
            out.write_str("<td style=\"white-space:normal\">")?;
            if is_traced(exemplar) {
                // On paper a trace takes two lines.
                let (first, second) = context.trace_id.split_at(8);
                let [first, second, span] = [first, second, &context.span_id].map(Hex);
                write!(out, "<code style=\"font-size:.85em\">{first}<wbr>{second}<br>{span}</code>")?;
            }
            out.write_str("</td>")?;
        }
        if columns.words {
            match context.words {
                [0, 0] => out.write_str("<td></td>")?,
                [first, 0] => write!(out, "<td>{first}</td>")?,
                [first, second] => write!(out, "<td>{first} {second}</td>")?,
            }
        }
        out.write_str("</tr>\n")
    }
}

fn is_traced(exemplar: &Exemplar) -> bool {
    exemplar.context.trace_id != [0; 16] || exemplar.context.span_id != [0; 8]
}

/// The verdict, with what of it is beyond the usual: where it is several, the two with most.
fn write_cause(out: &mut dyn Write, verdict: &Verdict) -> fmt::Result {
    write!(out, "{}", Text(verdict.cause.name()))?;
    let excess = Causes::of(&verdict.excess);
    let named = excess.iter().filter(|&&cause| verdict.cause == Cause::Several || cause == verdict.cause);
    for (at, &cause) in named.take(2).enumerate() {
        match (verdict.cause, at) {
            (Cause::Several, 0) => write!(out, ": {} ", Text(cause.name()))?,
            (Cause::Several, _) => write!(out, "; {} ", Text(cause.name()))?,
            _ => out.write_char(' ')?,
        }
        write!(out, "{}", Text(time(verdict.excess.get(cause))))?;
    }
    Ok(())
}

/// A bar of the parts of an observation, beside the longest, and the parts in words.
fn write_parts(out: &mut dyn Write, exemplar: &Exemplar, verdict: &Verdict, longest: u64) -> fmt::Result {
    let parts = Causes::of(&verdict.parts);
    let share = |cause| verdict.parts.get(cause) as f64;
    // Without a verdict, its accounts may be of what came before it.
    if parts.is_empty() || verdict.cause == Cause::NotKnown {
        return out.write_str("not known");
    }
    let mut drawn = parts.iter().map(|&cause| (color(cause), share(cause) / longest.max(1) as f64));
    write_bar(out, "width:100%;min-width:13em;max-width:20em", &mut drawn)?;
    let least = exemplar.wall_nanos as f64 * NAMED;
    // The largest always has a name.
    let named = parts.iter().enumerate().filter(|&(at, &cause)| at == 0 || share(cause) >= least);
    for (at, &cause) in named {
        let between = if at == 0 { "" } else { "; " };
        // Most of that is as usual, and needs no cause.
        let name = if cause == Cause::OnCpu { "on CPU" } else { cause.name() };
        write!(out, "{between}{} {}", Text(name), Text(time(verdict.parts.get(cause))))?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
