//! Pictures of snapshots that are difficult to draw.
use picollo_codec::Codec;
use std::boxed::Box;
use std::format;
use std::string::String;
use std::vec::Vec;

use super::*;
use crate::example;
use picollo_core::{Options, SharedHistogram};

fn recorded(layout: &Options, counts: &[(u64, u64)]) -> Box<Snapshot> {
    let histogram = SharedHistogram::create(layout).unwrap();
    counts.iter().for_each(|&(value, count)| histogram.record_n(value, count));
    histogram.snapshot().unwrap()
}

fn full(counts: &[(u64, u64)]) -> Box<Snapshot> {
    recorded(&Options { relative_error: 0.01, ..Default::default() }, counts)
}

fn examples() -> [Box<Snapshot>; 2] {
    [example::first_values(), example::second_values()].map(|values| example::recorded(&values))
}

/// Difficult snapshots, by name.
fn difficult() -> Vec<(&'static str, Box<Snapshot>)> {
    std::vec![
        ("empty", full(&[])),
        ("one value", full(&[(1_000_000, 1)])),
        ("zero", full(&[(0, 1)])),
        ("zeros", full(&[(0, 1_000_000_000_000)])),
        (
            "one bucket",
            recorded(&Options { min_trackable: 5, max_trackable: 6, ..Default::default() }, &[(5, 7)])
        ),
        ("one large bucket", full(&[(1 << 50, 3)])),
        ("trillions", full(&[(900, 500_000_000_000), (1_000, 499_999_999_999), (2_000_000, 1)])),
        ("largest", full(&[(u64::MAX, 1)])),
        ("all", full(&[(0, 10), (1, 10), (1 << 20, 100), (1 << 40, 10), (u64::MAX, 1)])),
        ("full counts", full(&[(7, u64::MAX), (1 << 60, u64::MAX / 2)])),
        ("neighbours", full(&[(u64::MAX - (1 << 57), 4), (u64::MAX, 1)])),
    ]
}

fn draw(snapshots: &[(&str, &Snapshot)], title: &str, unit: &str, picture: Picture) -> String {
    let series: Vec<Series<'_>> =
        snapshots.iter().map(|&(title, snapshot)| Series { title, snapshot }).collect();
    let get = |at: usize| series[at];
    let mut svg = String::new();
    Pictures { title, unit, ..Pictures::new(series.len(), &get) }.write_svg(&mut svg, picture).unwrap();
    svg
}

/// Checks that elements are closed, attributes quoted, and numbers within the picture. Returns the paths' numbers.
fn check_svg(svg: &str) -> Vec<f64> {
    let mut open: Vec<&str> = Vec::new();
    let mut numbers = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("an end of a tag");
        assert!(!text.contains('>'), "{text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{svg}");
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split([' ', '/']).next().unwrap();
        if !tag.ends_with('/') {
            open.push(name);
        }
        for (at, value) in tag.split('"').enumerate().filter(|(at, _)| at % 2 == 1) {
            let attribute = tag.split('"').nth(at - 1).unwrap().trim();
            if ["d=", "x=", "y=", "width=", "height="].contains(&attribute) {
                let pieces = value.split(|c: char| c.is_ascii_alphabetic() && c != 'e' || c == ' ');
                for number in pieces.filter(|piece| !piece.is_empty()) {
                    let number: f64 = number.parse().unwrap_or_else(|_| panic!("{number} in {tag}"));
                    assert!((0.0..=4_000.0).contains(&number), "{number} in {tag}");
                    numbers.push(number);
                }
            }
        }
    }
    assert_eq!(open, [""; 0], "{svg}");
    numbers
}

#[test]
fn what_is_difficult() {
    let all = difficult();
    for picture in [Picture::Percentiles, Picture::Density, Picture::HeatMap] {
        for (name, snapshot) in &all {
            let svg = draw(&[(name, snapshot)], name, "ns", picture);
            check_svg(&svg);
            assert_eq!(svg.contains(NOTHING), *name == "empty", "{name}: {svg}");
            assert!(svg.len() < 60_000, "{name}: {}", svg.len());
        }
        let together: Vec<(&str, &Snapshot)> =
            all.iter().map(|(name, snapshot)| (*name, &**snapshot)).collect();
        let svg = draw(&together, "", "", picture);
        check_svg(&svg);
        assert!(svg.contains(if picture == Picture::HeatMap { "largest" } else { "trillions" }), "{svg}");
        check_svg(&draw(&[], "None", "ns", picture));
        let many: Vec<(&str, &Snapshot)> = together.iter().copied().cycle().take(200).collect();
        check_svg(&draw(&many, "Many", "ns", picture));
    }
}

#[test]
fn curves_are_where_the_numbers_are() {
    // Half of the observations are at 100 and half at 1,000: a step at the median, to ten times the height.
    let two = recorded(&Options::default(), &[(100, 50), (1_000, 50)]);
    let svg = draw(&[("", &two)], "", "cycles", Picture::Percentiles);
    let path = svg.split("pk-c pk-s0 pk-d0\" d=\"M").nth(1).unwrap().split('"').next().unwrap();
    let numbers: Vec<f64> = path.split(['H', 'V', ' ']).map(|number| number.parse().unwrap()).collect();
    let [left, y_100, x_50, y_300, right] = numbers[..] else { panic!("{path}") };
    let bottom = 400.0 - 46.0;
    assert!(((bottom - y_300) / (bottom - y_100) - 10.0).abs() < 0.05, "{path}");
    // There are 100 observations. The last ends at 99.5 %, which is 2.3 nines; the median is at 0.3.
    let share = libm::log10(2.0) / libm::log10(200.0);
    assert!(((x_50 - left) / (right - left) - share).abs() < 0.001, "{path}");
    assert!(svg.contains(">Value (cycles)<") && svg.contains(">99%<") && !svg.contains(">99.9%<"), "{svg}");
    assert!(svg.contains("P50 100, P90 1,000,"), "{svg}");

    // The density contains all of them.
    let axis = axis::Axis::new(&axis::Extent::from_snapshots([&*two].into_iter()).unwrap(), 6.0, 3.0, true);
    for length in [1, 2, 7, 160] {
        let mut parts = std::vec![0.0; length];
        columns::shares(&two, &axis, &mut parts);
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        if length > 1 {
            assert!((parts[..length / 2].iter().sum::<f64>() - 0.5).abs() < 1e-12);
        }
    }
}

#[test]
fn titles_are_escaped() {
    let snapshot = full(&[(5, 5)]);
    let name = "a<b>&\"c'\u{1}\u{ffff} ]]> --";
    for picture in [Picture::Percentiles, Picture::Density, Picture::HeatMap] {
        let svg = draw(&[(name, &snapshot), ("", &snapshot)], name, name, picture);
        check_svg(&svg);
        assert!(svg.contains("a&lt;b&gt;&amp;&quot;c&#39;") && svg.contains("#2"), "{svg}");
        assert!(!svg.contains(['\u{1}', '\u{ffff}']));
    }
    let long = "x".repeat(500);
    let svg = draw(&[(&long, &snapshot)], &long, "", Picture::Percentiles);
    assert!(svg.contains(&format!(">{}…<", "x".repeat(39))));
}

#[test]
fn themes() {
    let snapshot = full(&[(5, 5)]);
    let get = |_| Series { title: "", snapshot: &snapshot };
    let draw = |theme| {
        let mut svg = String::new();
        let pictures = Pictures { theme, width: 1, height: u32::MAX, ..Pictures::new(1, &get) };
        pictures.write_svg(&mut svg, Picture::Density).unwrap();
        check_svg(&svg);
        assert!(svg.contains("viewBox=\"0 0 200 4000\""));
        svg
    };
    assert!(draw(Theme::Auto).contains("prefers-color-scheme:dark"));
    let (light, dark) = (draw(Theme::Light), draw(Theme::Dark));
    assert!(light.contains("#ffffff") && !light.contains("#0f1419"));
    assert!(dark.contains("#0f1419") && !dark.contains("#ffffff") && !dark.contains("@media"));
}

#[test]
fn sparklines() {
    let [first, _] = examples();
    let line = |snapshot: &Snapshot, columns, ascii| {
        let mut text = String::new();
        write_sparkline(snapshot, &mut text, columns, ascii).unwrap();
        text
    };
    assert_eq!(line(&first, 24, false), "▂▃▄▅▅▆▇█▇▅▄▄▃▃▃▃▃▃▃▃▃▃▂▁");
    assert_eq!(line(&first, 24, true), ":-=+*#%@%++====-------:.");
    // One distant observation in ten thousand does not change the picture; one in a hundred does.
    let most: Vec<(u64, u64)> = (0..100).map(|at| (1_000 + 10 * at, 100)).collect();
    let with = |count| [&most[..], &[(1_000_000_000, count)]].concat();
    assert_eq!(line(&full(&with(1)), 24, false), line(&full(&most), 24, false));
    let far = line(&full(&with(100)), 24, false);
    assert!(far.contains("          ") && far.ends_with('▁'), "{far}");
    for (name, snapshot) in difficult() {
        for columns in [0, 1, 7, MAX_COLUMNS, u32::MAX] {
            for ascii in [false, true] {
                let text = line(&snapshot, columns, ascii);
                if name == "empty" {
                    assert_eq!(text, NOTHING);
                    continue;
                }
                let expected = if columns == 0 { 40 } else { columns.min(MAX_COLUMNS) };
                assert_eq!(text.chars().count(), expected as usize, "{name}");
                assert!(!ascii || text.is_ascii());
                assert!(text.contains(if ascii { '@' } else { '█' }), "{name}: {text}");
                assert!(!text.starts_with(' ') && !text.ends_with(' '), "{name}: {text}");
            }
        }
    }
}

#[test]
fn charts() {
    let [first, _] = examples();
    let chart = |snapshot: &Snapshot, picture, options: &ChartOptions<'_>| {
        let mut text = String::new();
        write_chart(snapshot, &mut text, picture, options).unwrap();
        text
    };
    let options = ChartOptions { title: "Example", unit: "ns", columns: 48, rows: 6, ascii: false };
    assert_eq!(
        chart(&first, Picture::Density, &options),
        "\
Example
6% ┤
   │              ▂▄▃
4% ┤          ▁▄▅▇███▁
   │     ▁▄▅██████████▅▄▂▁
2% ┤ ▁▄▆████████████████████▆▆▆▆▆▆▅▅▄▅▅▅▅▅▅▅▅▅▄▄▂
0% ┤▇█████████████████████████████████████████████▅▂
   └────────────────────────────────────────────────
    2 µs               4 µs        6 µs     8 µs  time
"
    );
    assert_eq!(
        chart(&first, Picture::Percentiles, &options),
        "\
Example
10 µs ┤             ▁▂▃▃▄▄▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇
      │        ▃▄▆█████████████████████████████████████
      │     ▂▆█████████████████████████████████████████
 5 µs ┤  ▁▄▇███████████████████████████████████████████
      │▄▇██████████████████████████████████████████████
    0 ┤████████████████████████████████████████████████
      └────────────────────────────────────────────────
       0%      90%      99%     99.9%   99.99%  99.999%  percentile
"
    );
    let ascii = ChartOptions { ascii: true, unit: "cycles", ..options };
    assert_eq!(
        chart(&first, Picture::Percentiles, &ascii),
        "\
Example
10k |             ..::::::::#########################
    |        ::######################################
    |     .##########################################
 5k |  .:############################################
    |:###############################################
  0 |################################################
    +------------------------------------------------
     0%      90%      99%     99.9%   99.99%  99.999%  percentile; values in cycles
"
    );
    for (name, snapshot) in difficult() {
        for picture in [Picture::Percentiles, Picture::Density] {
            for (columns, rows) in [(0, 0), (1, 1), (5, 2), (u32::MAX, u32::MAX)] {
                let options = ChartOptions { title: "", unit: "us", columns, rows, ascii: true };
                let text = chart(&snapshot, picture, &options);
                assert!(text.is_ascii() && text.ends_with('\n'), "{text}");
                let expected = if rows == 0 { 10 } else { rows.min(MAX_ROWS) } as usize + 2;
                let lines = if name == "empty" { 1 } else { expected };
                assert_eq!(text.lines().count(), lines, "{name}: {text}");
            }
        }
    }
    let mut text = String::new();
    assert_eq!(write_chart(&first, &mut text, Picture::HeatMap, &options), Err(Error::InvalidArgument));
}

#[test]
fn reports() {
    let [first, second] = examples();
    let nothing = full(&[]);
    let name = "</script><b>\"x\"";
    let series = [
        Series { title: "before", snapshot: &first },
        Series { title: name, snapshot: &second },
        Series { title: "", snapshot: &nothing },
    ];
    let get = |at: usize| series[at];
    let mut html = String::new();
    let facts = [("Host", "<host>"), ("Nothing", " ")];
    let pictures = Pictures { title: name, unit: "ns", facts: &facts, ..Pictures::new(3, &get) };
    pictures.write_html(&mut html).unwrap();
    assert_eq!(html.matches("<svg ").count(), 3);
    assert_eq!(html.matches("</script>").count(), 1, "the end of the data");
    assert!(
        html.contains(
            "\"answer\">&lt;/script&gt;&lt;b&gt;&quot;x&quot; is 2.7 % slower than before (95 %: +"
        ),
        "{html}"
    );
    assert!(html.contains("nothing to compare") && !html.contains("<pre") && !html.contains("| "), "{html}");
    assert!(html.contains("<dt>Host</dt><dd>&lt;host&gt;</dd>") && !html.contains("<dt>Nothing"));
    assert!(!html.contains("http://www.w3.org/2000/svg\" src") && !html.contains("href="));
    assert!(html.contains("<th>Out of range</th>") && html.contains("<td>9.79 µs</td><td>60</td><td>0</td>"));
    let data = html.split("id=\"picollo-data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!((&data["title"], &data["unit"]), (&name.into(), &"ns".into()));
    for (at, series) in series.iter().enumerate() {
        let found = &data["snapshots"][at];
        assert_eq!(found["summary"]["title"], series.title);
        assert_eq!(found["summary"]["total_count"], series.snapshot.counts().total);
        let counts = found["buckets"].as_array().unwrap().iter().map(|bucket| bucket[2].as_u64().unwrap());
        assert_eq!(counts.sum::<u64>(), series.snapshot.counts().total);
        let encoded = found["native_base64"].as_str().unwrap();
        let decoded = Snapshot::decode(encoded.as_bytes(), 0).unwrap();
        assert_eq!(decoded.counts(), series.snapshot.counts());
        assert!(decoded.buckets().eq(series.snapshot.buckets()));
    }
    let body: String = html.split("<script").next().unwrap().into();
    for part in body.split("<svg ").skip(1) {
        check_svg(&format!("<svg {}</svg>", part.split("</svg>").next().unwrap()));
    }
    for length in [0, 1] {
        let mut html = String::new();
        Pictures { length, ..pictures }.write_html(&mut html).unwrap();
        assert_eq!(html.contains("<th>Out of range</th>"), length > 0);
        assert!(!html.contains("<h2>Comparison") && html.ends_with("</html>\n"));
    }
}

#[test]
fn writing_stops_where_there_is_no_room() {
    let snapshot =
        recorded(&Options { relative_error: 0.1, max_trackable: 100, ..Default::default() }, &[(5, 5)]);
    let get = |_| Series { title: "t", snapshot: &snapshot };
    let pictures = Pictures { title: "T", ..Pictures::new(3, &get) };
    for room in (0..1_500).step_by(7) {
        for picture in [Picture::Percentiles, Picture::Density, Picture::HeatMap] {
            assert_eq!(pictures.write_svg(&mut example::Full(room), picture), Err(fmt::Error));
        }
        assert_eq!(pictures.write_html(&mut example::Full(room)), Err(fmt::Error));
    }
}
