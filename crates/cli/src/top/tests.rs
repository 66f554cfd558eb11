//! Tests pictures of known rows on screens of several sizes.

use std::time::Duration;

use picollo_core::{Options, SharedHistogram, Since, Snapshot};
use picollo_segment::{SegmentEntry, SegmentKind};
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::row::Row;
use super::screen;
use super::state::{Action, State};
use super::watch::Watch;
use crate::reader::Reader;

const SIZES: [(u16, u16); 6] = [(80, 24), (200, 60), (40, 10), (20, 4), (10, 2), (1, 1)];

fn entry(name: &str, labels: &[(&str, &str)], kind: SegmentKind) -> SegmentEntry {
    let labels = labels.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    SegmentEntry { kind, labels, name: name.into(), unit: "ns".into(), ..SegmentEntry::default() }
}

/// A histogram and its row.
struct Shown {
    histogram: SharedHistogram,
    snapshot: Box<Snapshot>,
    row: Row,
}

impl Shown {
    fn new(process: &str, name: &str, labels: &[(&str, &str)]) -> Shown {
        let options = Options {
            relative_error: 0.01,
            min_trackable: 1,
            max_trackable: 3_600_000_000_000,
            ..Options::default()
        };
        let histogram = SharedHistogram::create(&options).unwrap();
        let row = Row::new(process, 1234, entry(name, labels, SegmentKind::Histogram));
        let snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
        let mut shown = Shown { histogram, snapshot, row };
        shown.interval(&[]);
        shown
    }

    /// One second with these records.
    fn interval(&mut self, values: &[(u64, u64)]) {
        values.iter().for_each(|&(value, count)| self.histogram.record_n(value, count));
        self.histogram.update(&mut self.snapshot, Since::PreviousUpdate).unwrap();
        self.row.take(&self.snapshot, 1.0, 60, 300);
        self.row.is_since_start = false;
    }
}

fn watch(rows: Vec<Row>) -> Watch {
    let mut watch = Watch::new(Reader::default(), Duration::from_secs(1));
    watch.rows = (1..).zip(rows).collect();
    watch.seconds = Some(1.0);
    watch
}

fn backend(watch: &mut Watch, state: &mut State, size: (u16, u16)) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| screen::draw(frame.buffer_mut(), watch, state, true)).unwrap();
    terminal.backend().clone()
}

/// The lines of the screen.
fn lines(watch: &mut Watch, state: &mut State, size: (u16, u16)) -> Vec<String> {
    let backend = backend(watch, state, size);
    let cells = backend.buffer().content();
    let line =
        |cells: &[ratatui_core::buffer::Cell]| cells.iter().map(|cell| cell.symbol()).collect::<String>();
    cells.chunks(size.0.into()).map(|cells| line(cells).trim_end().to_owned()).collect()
}

fn key(state: &mut State, watch: &Watch, code: KeyCode) -> Action {
    state.key(KeyEvent::new(code, KeyModifiers::NONE), &watch.rows)
}

fn press(state: &mut State, watch: &Watch, text: &str) {
    text.chars().for_each(|character| {
        key(state, watch, KeyCode::Char(character));
    });
}

fn three() -> Watch {
    let mut pay = Shown::new("shop", "request", &[("route", "/pay")]);
    let mut list = Shown::new("shop", "request", &[("route", "/list")]);
    let idle = Shown::new("till", "scan", &[]);
    pay.interval(&[(1_000_000, 90_000), (3_290_000, 10_000), (45_000_000, 1)]);
    list.interval(&[(50_000, 500)]);
    let mut jobs = Row::new("till", 77, entry("jobs", &[], SegmentKind::Counter));
    jobs.count(0, 0, 1.0);
    jobs.is_since_start = false;
    jobs.count(7, 7, 1.0);
    watch(vec![pay.row, list.row, idle.row, jobs])
}

#[test]
fn rows_of_an_interval() {
    let (mut watch, mut state) = (three(), State::new());
    let shown = lines(&mut watch, &mut state, (80, 24));
    assert!(shown[0].starts_with("picollo top  4 entries  last 1.0 s"), "{shown:#?}");
    assert!(shown[1].starts_with("HISTOGRAM▾") && shown[1].ends_with("p99 1min"), "{shown:#?}");
    // Sorted by name; the ends of the routes are visible.
    assert!(shown[2].contains("/list}"), "{shown:#?}");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let pay = words(&shown[3]).join(" ");
    assert!(pay.contains("100 k/s 1.00 ms 3.29 ms 3.29 ms"), "{shown:#?}");
    assert!(pay.contains(" 44.8 ms") && pay.ends_with('▄'), "{shown:#?}");
    assert_eq!(words(&shown[4])[1..], ["7", "/s"], "{shown:#?}");
    assert_eq!(words(&shown[5])[1..], ["0", "/s", "-", "-", "-", "-", "-"], "{shown:#?}");
    assert!(shown[23].contains("q quit"), "{shown:#?}");
    // A wide screen has all columns and whole names.
    let shown = lines(&mut watch, &mut state, (200, 60));
    for title in ["RATE", "p50", "p90", "p99", "p99.9", "max", "p99 1min"] {
        assert!(shown[1].contains(title), "{shown:#?}");
    }
    assert!(shown[3].starts_with("shop/request{route=/pay} "), "{shown:#?}");
}

#[test]
fn sorted_filtered_and_moved() {
    let (mut watch, mut state) = (three(), State::new());
    let first = |watch: &mut Watch, state: &mut State| lines(watch, state, (120, 24))[2].clone();
    key(&mut state, &watch, KeyCode::Right);
    assert!(first(&mut watch, &mut state).contains("/pay"), "by rate");
    press(&mut state, &watch, "i");
    assert!(first(&mut watch, &mut state).contains("scan"), "the least");
    // p50, p90, p99, p99.9, max, and back to the name.
    for _ in 0..5 {
        press(&mut state, &watch, ">");
        assert!(first(&mut watch, &mut state).contains("/pay"));
    }
    press(&mut state, &watch, ">");
    assert!(first(&mut watch, &mut state).contains("/list"));
    key(&mut state, &watch, KeyCode::Left);
    assert!(first(&mut watch, &mut state).contains("/pay"), "back to max");
    press(&mut state, &watch, "/SCAN");
    let shown = lines(&mut watch, &mut state, (120, 24));
    assert!(
        shown[2].contains("scan") && shown[3].is_empty() && shown[23].starts_with("filter: SCAN_"),
        "{shown:#?}"
    );
    press(&mut state, &watch, "qq");
    assert!(lines(&mut watch, &mut state, (120, 24))[2].is_empty(), "letters are typed, not obeyed");
    key(&mut state, &watch, KeyCode::Esc);
    assert!(!lines(&mut watch, &mut state, (120, 24))[5].is_empty());
    // Esc goes back, but no further.
    assert_eq!(key(&mut state, &watch, KeyCode::Esc), Action::None);
    assert_eq!(state.message, "q quits");
    // A counter cannot be opened, and shows a message.
    press(&mut state, &watch, "/jobs");
    key(&mut state, &watch, KeyCode::Enter);
    key(&mut state, &watch, KeyCode::Enter);
    assert!(!state.is_open && state.message.starts_with("till/jobs: 7 in all"), "{}", state.message);
    key(&mut state, &watch, KeyCode::Esc);
    press(&mut state, &watch, "p");
    assert!(state.is_paused && lines(&mut watch, &mut state, (120, 24))[0].ends_with("PAUSED"));
    for (character, action) in
        [('q', Action::Quit), ('m', Action::Mark), ('r', Action::Record), ('x', Action::ForgetEnded)]
    {
        assert_eq!(key(&mut state, &watch, KeyCode::Char(character)), action);
    }
    press(&mut state, &watch, "?");
    assert!(lines(&mut watch, &mut state, (80, 24)).join("\n").contains("PgUp"));
    press(&mut state, &watch, "q");
    assert!(!state.is_help, "any key");
}

#[test]
fn every_size_with_nothing_and_with_many() {
    for size in SIZES {
        let mut nothing = watch(Vec::new());
        let shown = lines(&mut nothing, &mut State::new(), size);
        assert!(size.0 < 80 || shown.join("").contains("no program publishes here"), "{shown:#?}");
        let rows = (0..1000).map(|at| Shown::new("many", &format!("h{at:03}"), &[]).row).collect();
        let (mut many, mut state) = (watch(rows), State::new());
        for (code, last) in [(KeyCode::End, "h999"), (KeyCode::Home, "h000"), (KeyCode::PageDown, "")] {
            key(&mut state, &many, code);
            let shown = lines(&mut many, &mut state, size);
            assert!(size.0 < 40 || shown.iter().any(|line| line.contains(last)), "{size:?} {shown:#?}");
        }
        assert!(size.1 < 24 || state.page == usize::from(size.1) - 3);
        key(&mut state, &many, KeyCode::Enter);
        assert!(state.is_open);
        lines(&mut many, &mut state, size);
    }
}

#[test]
fn names_do_nothing_to_the_terminal() {
    let long = "x".repeat(300);
    let bad = "a\u{1b}[2J\u{202e}b\u{200f}\tc\u{9b}d";
    let rows = vec![
        Shown::new("p", &long, &[]).row,
        Shown::new("q", bad, &[("l", bad)]).row,
        Shown::new("r", "幅幅幅", &[]).row,
    ];
    let (mut watch, mut state) = (watch(rows), State::new());
    for size in SIZES {
        for code in [KeyCode::Home, KeyCode::Down, KeyCode::Enter, KeyCode::Esc] {
            if size.0 >= 20 {
                key(&mut state, &watch, code);
            }
            let backend = backend(&mut watch, &mut state, size);
            for cell in backend.buffer().content() {
                let is_quiet = |c: char| !c.is_control() && !matches!(c, '\u{202e}' | '\u{200f}');
                assert!(cell.symbol().chars().all(is_quiet), "{:?}", cell.symbol());
            }
        }
        state.is_open = false;
    }
    let shown = lines(&mut watch, &mut state, (80, 24));
    assert!(shown[2].starts_with("p/xx") && shown[2].contains('…'), "{shown:#?}");
    let shown = lines(&mut watch, &mut state, (200, 60));
    assert!(shown[3].starts_with(r"q/a\x1b[2J\u202eb\u200f\x09c\x9bd{l=a\x1b[2J"), "{shown:#?}");
}

#[test]
fn one_histogram() {
    let mut pay = Shown::new("shop", "request", &[]);
    for second in 0..40 {
        // A second kind of request begins later and is eight times as slow.
        let slow = if second < 20 { 0 } else { 300 };
        pay.interval(&[(1_000_000, 1000), (8_000_000, slow)]);
    }
    let (mut watch, mut state) = (watch(vec![pay.row]), State::new());
    key(&mut state, &watch, KeyCode::Enter);
    let shown = lines(&mut watch, &mut state, (80, 24));
    let all = shown.join("\n");
    assert!(shown[1].starts_with("shop/request") && shown[2].starts_with("1.30 k/s  p50 1.00 ms"), "{all}");
    assert!(shown[3].starts_with("process 1234  46,000 in all"), "{all}");
    assert!(shown[4].starts_with("value at percentile"), "{all}");
    // The curve is at 1 ms, and at 8 ms from the 77th percentile on, which is before the first nine.
    let picture = |from: usize, to: usize| shown[from..to].to_vec();
    let curve = picture(5, 12);
    let (top, bottom) = (&curve[0], curve.iter().rfind(|line| line.contains('●')).unwrap());
    assert!(top.contains("8.0") && top.contains("●") && bottom.contains("1.00 ms"), "{all}");
    assert!(bottom.find('●').unwrap() < top.find('●').unwrap(), "{all}");
    // The heat map shows both on the right half, and only the fast ones before.
    let heat = shown.iter().position(|line| line.starts_with("the last 40 s")).unwrap();
    let marks = |line: &str| line.chars().filter(|c| "░▒▓█".contains(*c)).count();
    let counts: Vec<usize> =
        shown[heat + 1..23].iter().map(|line| marks(line)).filter(|count| *count > 0).collect();
    assert_eq!(counts, [20, 40], "{all}");
    key(&mut state, &watch, KeyCode::Esc);
    assert!(!state.is_open);
}

#[test]
fn changes_since_a_mark() {
    let mut rows: Vec<Shown> =
        ["slower", "same", "faster", "idle"].map(|name| Shown::new("p", name, &[])).into();
    let spread = |middle: u64| (0..200).map(|at| (middle + middle * at / 1000, 20)).collect::<Vec<_>>();
    rows[..3].iter_mut().for_each(|row| row.interval(&spread(1_000_000)));
    rows.iter_mut().for_each(|row| row.row.mark());
    for (row, middle) in rows.iter_mut().zip([1_500_000, 1_000_000, 700_000]) {
        row.interval(&spread(middle));
    }
    let (mut watch, mut state) = (watch(rows.into_iter().map(|row| row.row).collect()), State::new());
    let shown = lines(&mut watch, &mut state, (80, 24));
    let line = |name: &str| shown.iter().find(|line| line.contains(name)).unwrap().clone();
    assert!(shown[1].contains("p99 SINCE THE MARK"), "{shown:#?}");
    assert!(line("p/slower").contains(" +4") && line("p/slower").ends_with("more"), "{shown:#?}");
    assert!(line("p/faster").contains("-3") && line("p/faster").ends_with("less"), "{shown:#?}");
    assert!(line("p/same").ends_with("same") || line("p/same").ends_with("unclear"), "{shown:#?}");
    assert!(line("p/idle").ends_with("too few yet"), "{shown:#?}");
    press(&mut state, &watch, "c");
    assert!(lines(&mut watch, &mut state, (80, 24))[1].contains("p50 SINCE"));
    // Without the mark, everything is as before.
    watch.rows.values_mut().for_each(Row::unmark);
    assert!(!lines(&mut watch, &mut state, (80, 24))[1].contains("SINCE"));
    assert!(watch.rows.values().all(|row| !row.has_mark()));
}

/// An interval around few values, or around distant ones, extends below zero.
#[test]
fn nothing_falls_by_more_than_all_of_it() {
    let mut row = Shown::new("p", "wide", &[]);
    row.interval(&[(1_000, 5000), (2_000_000, 200), (900_000_000, 40)]);
    row.row.mark();
    row.interval(&[(1_000, 5000), (3_000, 60)]);
    let (mut watch, mut state) = (watch(vec![row.row]), State::new());
    let shown = lines(&mut watch, &mut state, (120, 24));
    let line = shown.iter().find(|line| line.contains("p/wide")).unwrap();
    let lower = line.split_once('[').and_then(|(_, rest)| rest.split_once(',')).unwrap().0;
    assert!(lower.parse::<f64>().unwrap() >= -100.0, "{line}");
}

#[test]
fn names_are_in_their_natural_order_and_columns_hold_wide_characters() {
    let named =
        |name: &str| Shown::new("p", name, &[("q", "幅幅幅幅幅幅幅幅幅幅幅幅幅幅幅幅幅幅幅幅幅幅")]).row;
    let rows = ["web-10", "web-2", "web-2a", "web-02", "web"].map(named);
    let (mut watch, mut state) = (watch(rows.into()), State::new());
    let shown = lines(&mut watch, &mut state, (80, 24));
    let names: Vec<&str> = shown[2..7].iter().map(|line| line.split('{').next().unwrap()).collect();
    assert_eq!(names, ["p/web", "p/web-02", "p/web-2", "p/web-2a", "p/web-10"], "{shown:#?}");
    // A wide character has two cells; the second is a space.
    let at = |line: &str| line.find("/s").map(|at| line[..at].chars().count());
    assert!(shown[2..7].iter().all(|line| line.contains('…') && at(line) == at(&shown[2])), "{shown:#?}");
}

#[test]
fn memory_is_bounded() {
    // A hundred histograms over minutes, with layouts of all values.
    let histogram =
        SharedHistogram::create(&Options { max_trackable: u64::MAX, ..Options::default() }).unwrap();
    let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
    histogram.update(&mut snapshot, Since::Reset).unwrap();
    let mut watch = watch((0..100).map(|_| Row::new("p", 1, SegmentEntry::default())).collect());
    let (points, columns) = (watch.points(), watch.columns());
    for _ in 0..320 {
        let row = watch.rows.get_mut(&1).unwrap();
        row.is_since_start = false;
        row.take(&snapshot, 1.0, points, columns);
    }
    let row = &watch.rows[&1];
    assert!(row.coarse.len() == columns && columns > 80 && row.p99s.len() == 60, "{columns}");
    let bytes: usize = row.coarse.iter().map(|coarse| size_of_val(&**coarse) + 16).sum();
    assert!(100 * bytes < 20 << 20, "{bytes}");
}
