//! Writes an interval as HTML: a section of a page, or a notebook's output.
//!
//! It takes the look of its page, refers to nothing outside, and runs no script. Bars are drawn, so that they are
//! printed, too, in colors that stand out from white and from black. A number stands beside each bar, so that no
//! information depends on color.

use core::fmt::{self, Display, Write, from_fn};

use picollo_core::seam::{Day, write_escaped};

use super::*;
use crate::NO_CPU;

/// Observations to show: as many as are kept by default.
const SHOWN: usize = 16;

/// Smaller parts of an observation are drawn but not named.
const NAMED: f64 = 0.01;

/// Width of a bar in its own units.
const WIDTH: f64 = 1000.0;

/// Nanoseconds per day.
const DAY: u64 = 86_400_000_000_000;

const LEFT: &str = " style=\"text-align:left\"";
const PROSE: &str = " style=\"text-align:left;white-space:normal;min-width:9em\"";
const WRAPPED: &str = " style=\"white-space:normal\"";

/// Escapes its input and writes one text before the first line and another before later ones. It skips empty lines.
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
            if !line.is_empty() && !self.is_within {
                self.out.write_str(self.before[self.count.min(1)])?;
                self.count += 1;
                self.is_within = true;
            }
            line.chars().try_for_each(|c| write_escaped(self.out, c))?;
        }
        Ok(())
    }
}

/// A time in UTC, to the millisecond, with its day if requested; a dash for 0.
fn moment(nanos: u64, has_day: bool) -> impl Display {
    let time = from_fn(move |f| {
        if has_day {
            write!(f, "{} ", Day((nanos / DAY) as i64))?;
        }
        let millis = nanos / 1_000_000;
        let of_day = millis / 1000 % 86_400;
        write!(f, "{:02}:{:02}:{:02}.{:03}", of_day / 3600, of_day / 60 % 60, of_day % 60, millis % 1000)
    });
    or((nanos != 0).then_some(time), "–")
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

/// Writes the cell of a column for an observation with its diagnosis.
type Cell<'a> = &'a dyn Fn(&mut dyn Write, &Exemplar, &Diagnosis) -> fmt::Result;

impl Interval {
    /// Writes HTML: a section with a heading, the answer, the causes, the slowest, and unknown things. It suits any
    /// page, and looks best with [`REPORT_STYLE`](picollo_text::picture::REPORT_STYLE). Fails only if `out` does.
    pub fn write_html(&self, out: &mut dyn Write) -> fmt::Result {
        out.write_str("<section class=\"picollo-slow\">\n<h2>Why ")?;
        match self.threshold {
            0 => out.write_str("the slowest observations were slow")?,
            threshold => write!(out, "observations above {} were slow", self.time_or_number(threshold))?,
        }
        out.write_str("</h2>\n")?;
        self.write_answer(&mut Lines::new(out, &["<p class=\"answer\">", "</p>\n<p class=\"count\">"]))?;
        out.write_str("</p>\n")?;
        if self.end_unix_nanos != 0 {
            let [begin, end] = [self.begin_unix_nanos, self.end_unix_nanos].map(|time| moment(time, true));
            writeln!(out, "<p class=\"note\">From {begin} to {end} UTC.</p>")?;
        }
        self.write_causes(out)?;
        self.write_slowest(out)?;
        if self.has_hints() {
            self.hints.write_text(&mut Lines::new(out, &["<p class=\"note\">", ""]))?;
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
            let (percent, observations, typical, meaning) = self.cells(cause);
            write!(out, "<tr><td>{}</td><td>", cause.name())?;
            if self.share(cause).excess_nanos.is_some() {
                let share = (cause.color(), self.percent(cause) / 100.0);
                write_bar(out, "width:9em", &mut core::iter::once(share))?;
            }
            let (count, left) = (observations, PROSE);
            writeln!(
                out,
                "</td><td>{percent}</td><td>{count}</td><td>{typical}</td><td{left}>{meaning}</td></tr>"
            )?;
        }
        out.write_str("</tbody></table></div>\n")
    }

    fn write_slowest(&self, out: &mut dyn Write) -> fmt::Result {
        let shown = || self.exemplars().iter().take(SHOWN);
        let Some(longest) = shown().map(|(exemplar, _)| exemplar.wall_nanos).max() else { return Ok(()) };
        let has = |what: &dyn Fn(&Exemplar) -> bool| shown().any(|(exemplar, _)| what(exemplar));
        let is_traced = |one: &Exemplar| one.context.trace_id != [0; 16] || one.context.span_id != [0; 8];
        let has_days = has(&|one| one.unix_nanos / DAY != self.begin_unix_nanos / DAY);
        // For each column: whether it has contents, its title, the styles of the title and of its cells, and its cells.
        let columns: [(bool, &str, [&str; 2], Cell<'_>); 10] = [
            (true, "Value", ["", ""], &|out, one, _| write!(out, "{}", self.time_or_number(one.value))),
            (true, "Began (UTC)", ["", ""], &|out, one, _| {
                write!(out, "{}", moment(one.unix_nanos, has_days))
            }),
            (true, "Cause, beyond the usual", [LEFT, PROSE], &|out, _, diagnosis| {
                write!(out, "{}", cause_and_excess(diagnosis, ";"))
            }),
            (true, "Where its time went", [LEFT, PROSE], &|out, one, diagnosis| {
                write_parts(out, one, diagnosis, longest)
            }),
            (true, "Page faults", ["", ""], &|out, one, _| {
                let evidence = &one.evidence;
                let faults = evidence.knows(KNOWN_ACCOUNTS).then(|| Grouped::from(evidence.faults()));
                write!(out, "{}", or(faults, "–"))?;
                match evidence.major_faults {
                    0 => Ok(()),
                    major => write!(out, ", {} from disk", Grouped(major.into())),
                }
            }),
            (true, "Thread", ["", ""], &|out, one, _| {
                write!(out, "{}", or(Some(one.thread).filter(|&thread| thread != 0), "–"))?;
                if one.cpu == NO_CPU { Ok(()) } else { write!(out, "<br>CPU {}", one.cpu) }
            }),
            (
                has(&|one| one.evidence.ipc().is_some()),
                "Instructions a cycle",
                ["", ""],
                &|out, one, diagnosis| match (one.evidence.ipc(), diagnosis.usual_ipc) {
                    (None, _) => out.write_str("–"),
                    (Some(ipc), 0.0) => write!(out, "{ipc:.2}"),
                    (Some(ipc), usual) => write!(out, "{ipc:.2}<br>usually {usual:.2}"),
                },
            ),
            (has(&|one| one.label != 0), "Kind", ["", ""], &|out, one, _| write!(out, "{}", one.label)),
            (has(&is_traced), "Trace and span", ["", WRAPPED], &|out, one, _| {
                if !is_traced(one) {
                    return Ok(());
                }
                // On paper a trace takes two lines.
                let (first, second) = one.context.trace_id.split_at(8);
                let [first, second, span] = [first, second, &one.context.span_id].map(hex);
                write!(out, "<code style=\"font-size:.85em\">{first}<wbr>{second}<br>{span}</code>")
            }),
            (has(&|one| one.context.words != [0, 0]), "Words", ["", ""], &|out, one, _| {
                write!(out, "{}", words(&one.context))
            }),
        ];
        let columns = || columns.iter().filter(|(is_there, ..)| *is_there);
        out.write_str("<h3>The slowest</h3>\n")?;
        if self.exemplars().len() > SHOWN {
            let all = Grouped::from(self.exemplars().len() as u64);
            writeln!(out, "<p class=\"note\">{SHOWN} of {all} observations that were kept.</p>")?;
        }
        out.write_str("<div class=\"wide\"><table aria-label=\"The slowest\">\n<thead><tr>")?;
        for (_, name, [style, _], _) in columns() {
            write!(out, "<th scope=\"col\"{style}>{name}</th>")?;
        }
        out.write_str("</tr></thead>\n<tbody>\n")?;
        for (exemplar, diagnosis) in shown() {
            out.write_str("<tr>")?;
            for (_, _, [_, style], cell) in columns() {
                write!(out, "<td{style}>")?;
                cell(out, exemplar, diagnosis)?;
                out.write_str("</td>")?;
            }
            out.write_str("</tr>\n")?;
        }
        out.write_str("</tbody></table></div>\n")
    }
}

/// A bar with the parts of an observation, relative to the longest, and the parts in words.
fn write_parts(out: &mut dyn Write, exemplar: &Exemplar, diagnosis: &Diagnosis, longest: u64) -> fmt::Result {
    let parts = Causes::from_parts(&diagnosis.parts);
    let share = |cause| diagnosis.parts.get(cause) as f64;
    // Without a diagnosis, its accounts may describe what came before it.
    if parts.is_empty() || diagnosis.cause == Cause::NotKnown {
        return out.write_str("not known");
    }
    let mut drawn = parts.iter().map(|&cause| (cause.color(), share(cause) / longest.max(1) as f64));
    write_bar(out, "width:100%;min-width:13em;max-width:20em", &mut drawn)?;
    let least = exemplar.wall_nanos as f64 * NAMED;
    // The largest always has a name.
    let named = parts.iter().enumerate().filter(|&(at, &cause)| at == 0 || share(cause) >= least);
    for (at, &cause) in named {
        let between = if at == 0 { "" } else { "; " };
        // Most of this time is usual and needs no cause.
        let name = if cause == Cause::OnCpu { "on CPU" } else { cause.name() };
        write!(out, "{between}{name} {}", time(diagnosis.parts.get(cause)))?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
