use super::super::tests::interval;
use super::*;
use crate::{Context, Evidence, KNOWN_COUNTERS, Share};
use picollo_native::{ExplainedError, Status};

fn html(interval: &Interval) -> String {
    let mut text = String::new();
    interval.write_html(&mut text).unwrap();
    text
}

/// The visible text of a page, with its line breaks and `|` between cells. Requires tags that are closed in order,
/// attributes in quotes, and nothing that would run or be fetched.
fn visible_text(html: &str) -> String {
    let (mut open, mut text, mut rest) = (Vec::new(), String::new(), html);
    while let Some((before, behind)) = rest.split_once('<') {
        assert!(!before.contains(['>', '"']), "{before}");
        text += before;
        let (tag, after) = behind.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{html}");
            if matches!(name, "td" | "th") {
                text += "|";
            }
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split([' ', '/']).next().unwrap();
        let known = "section h2 h3 p div table thead tbody tr th td svg rect ul li code br wbr";
        assert!(known.split(' ').any(|known| known == name), "{tag}");
        if !matches!(name, "br" | "wbr") && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && !rest.contains('>'), "{open:?} {rest}");
    for fetched in ["http", "url(", "src=", "href", "onload", "script"] {
        assert!(!html.contains(fetched), "{fetched}");
    }
    text + rest
}

fn one(value: u64, parts: [u64; PARTS]) -> (Exemplar, Diagnosis) {
    let exemplar = Exemplar { value, wall_nanos: value, cpu: NO_CPU, ..Exemplar::default() };
    let (parts, excess) = (Parts(parts), Parts(parts));
    (exemplar, Diagnosis { cause: Cause::Several, parts, excess, ..Diagnosis::new(&exemplar, None) })
}

#[test]
fn pages_show_what_the_text_shows() {
    let expected = "
Why observations above 8.00 ms were slow
Mostly run queue (53%): what was slow was ready to run, and others had the CPU.
8 of 12,345 observations were above 8.00 ms; causes are known of 4.
From 1970-01-01 00:00:00.000 to 1970-01-01 00:00:00.000 UTC.

Cause|Share of the excess|Observations|Typical|It|

run queue||53%|1|30.0 ms|was ready to run, and others had the CPU|
own waiting||25%|1|12.0 ms|waited for something: a lock, a disk, another process|
on CPU, cause not known||22%|1|10.0 ms|ran for longer, with 6,144 page faults|
several|||1||no cause makes up more than half|
not known|||4||without evidence|

The slowest

Value|Began (UTC)|Cause, beyond the usual|Where its time went|Page faults|Thread|Kind|Trace and span|Words|

31.0 ms|–|run queue 30.0 ms|run queue 30.0 ms; on CPU 1.00 ms|3|–|0||101|
13.0 ms|–|own waiting 12.0 ms|own waiting 12.0 ms; on CPU 1.00 ms|3|–|0||102|
13.0 ms|–|several: own waiting 4.00 ms; run queue 4.00 ms|on CPU 5.00 ms; own waiting 4.00 ms; run queue 4.00 ms|3|–|0||104|
11.0 ms|–|on CPU, cause not known 10.0 ms|on CPU 11.0 ms|6,147|–|0||103|
10.0 ms|–|not known|not known|3|–|3|4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b0707070707070707|5 6|
9.00 ms|–|not known|not known|–|–|0||106|


Meanwhile, on the whole machine: 12% of the CPU time was stolen by the host; something waited for a disk in 50% of the time.

Not known of 2: only counted: they were recorded without a scope, or were too many at once. If requests share a thread \
(an event loop), offer each with its duration (`offer`), or put a scope around the call that blocks.
Not known of 1: too few ordinary ones of their kind.
Not known of 1: ended on another thread than they were begun on.

";
    let found = visible_text(&html(&interval()));
    let squeezed = |text: &str| text.split_inclusive("\n\n").map(str::trim_start).collect::<String>();
    assert_eq!(squeezed(&found), squeezed(expected));
}

#[test]
fn bars_are_as_long_as_what_they_show() {
    let html = html(&interval());
    // The run queue has 34 of 64 ms. The slowest has 30 ms of that and 1 ms on the CPU; a bar of 13 ms is shorter.
    for bar in [
        "<rect x=\"0.0\" width=\"531.2\" height=\"10\" fill=\"#d55e00\"/></svg></td><td>53%",
        "<rect x=\"0.0\" width=\"967.7\" height=\"10\" fill=\"#d55e00\"/><rect x=\"967.7\" width=\"32.3\" height=\"10\" fill=\"#9a6b00\"/></svg>run",
        "<rect x=\"0.0\" width=\"387.1\" height=\"10\" fill=\"#2b7bba\"/>",
    ] {
        assert!(html.contains(bar), "{bar} is not in {html}");
    }
}

/// Values that are not times, a whole context, counters, and a text from anywhere.
#[test]
fn columns_are_there_for_what_is_known() {
    let (exemplar, diagnosis) = one(123_456, [0; PARTS]);
    let context = Context { span_id: [1; 8], words: [0, 7], ..Context::default() };
    let (thread, cpu, unix_nanos) = (12, 3, 951_868_799_987_000_000);
    let exemplar = Exemplar { wall_nanos: 0, thread, cpu, unix_nanos, context, ..exemplar };
    let uncounted = ExplainedError::new(Status::Os, format_args!("<em>alert('1')</em> & \"quoted\"\u{7} é"));
    let counts_only = Interval {
        threshold: 5000,
        observations: 9,
        slow: 1,
        uncounted: Some(uncounted),
        ..Interval::default()
    };
    let plain = Interval { exemplars: vec![(exemplar, diagnosis)], ..counts_only.clone() };
    let evidence = Evidence { known: KNOWN_COUNTERS, instructions: 500, cycles: 1000, ..Evidence::default() };
    let counted = (Exemplar { evidence, label: 1, ..exemplar }, Diagnosis { usual_ipc: 2.0, ..diagnosis });
    let unusual = (Exemplar { evidence, ..exemplar }, diagnosis);
    let whole = Interval { exemplars: vec![counted, unusual, (exemplar, diagnosis)], ..counts_only };
    let [plain, whole] = [plain, whole].map(|interval| html(&interval));
    for (found, parts) in [
        (
            &plain,
            &[
                "Why observations above 5,000 were slow",
                "1 of 9 observations were above 5,000; causes",
                "<td>123,456</td><td>2000-02-29 23:59:59.987</td>",
                "<td>12<br>CPU 3</td>",
                "0000000000000000<wbr>0000000000000000<br>0101010101010101</code></td><td>0 7</td>",
                "&lt;em&gt;alert(&#39;1&#39;)&lt;/em&gt; &amp; &quot;quoted&quot;  é",
            ][..],
        ),
        (
            &whole,
            &[
                "<th scope=\"col\">Instructions a cycle</th><th scope=\"col\">Kind</th>",
                "<td>0.50<br>usually 2.00</td><td>1</td>",
                "<td>0.50</td><td>0</td>",
                "<td>–</td><td>0</td>",
            ],
        ),
    ] {
        parts.iter().for_each(|part| assert!(found.contains(part), "{part} is not in {found}"));
    }
    assert!(!plain.contains("Kind") && !plain.contains("Instructions a cycle"));
    visible_text(&whole);
}

#[test]
fn pages_are_bounded_and_bars_within_them() {
    let (exemplar, diagnosis) = one(u64::MAX, [u64::MAX / 10; PARTS]);
    let context = Context { trace_id: [255; 16], span_id: [255; 8], words: [u64::MAX; 2] };
    let evidence =
        Evidence { known: u32::MAX, minor_faults: u32::MAX, major_faults: u32::MAX, ..Evidence::default() };
    let (thread, cpu, unix_nanos) = (i32::MIN, u32::MAX - 1, u64::MAX);
    let longest = Exemplar { label: u32::MAX, context, evidence, thread, cpu, unix_nanos, ..exemplar };
    let share = Share {
        cause: Cause::Several,
        excess_nanos: Some(u64::MAX / 12),
        observations: 1 << 53,
        typical_nanos: Some(u64::MAX),
        typical_faults: Some(u64::MAX),
    };
    let counts =
        Interval { known: 1 << 53, shares: [share; 12], missing: [1 << 50; 8], ..Interval::default() };
    let overlong = one(u64::MAX, [u64::MAX; PARTS]);
    let mut exemplars = vec![(longest, diagnosis); 50_000];
    exemplars[3] = overlong;
    let html = html(&Interval { observations: 1 << 53, slow: 1 << 53, exemplars, ..counts });
    assert!(html.contains("<p class=\"note\">16 of 50,000 observations that were kept.</p>"));
    assert!(html.len() < 50_000, "{}", html.len());
    let numbers = |name: &str| -> Vec<f64> {
        let found = html.split("<rect x=\"").skip(1).filter_map(|rect| {
            let mut quoted = rect.split('"');
            if name == "x" { quoted.next() } else { quoted.nth(2) }
        });
        found.map(|number| number.parse().unwrap()).collect()
    };
    for (x, width) in numbers("x").iter().zip(numbers("width")) {
        assert!(*x >= 0.0 && width > 0.0 && x + width <= WIDTH + 0.1, "{x} {width}");
    }
    assert!(numbers("x").len() > 10 * (SHOWN - 1), "{html}");
    visible_text(&html);
}

#[test]
fn colors_stand_out_from_light_and_dark_pages() {
    let luminance = |color: &str| -> f64 {
        let parts =
            [1, 3, 5].map(|at| f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0);
        let linear =
            parts.map(|part| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    };
    let contrast = |a: f64, b: f64| (a.max(b) + 0.05) / (a.min(b) + 0.05);
    for cause in Cause::ALL {
        for page in ["#ffffff", "#0f1419"] {
            let found = contrast(luminance(cause.color()), luminance(page));
            assert!(found >= 3.0, "{} on {page}: {found}", cause.name());
        }
    }
}
