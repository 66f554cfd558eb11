//! `picollo report --exemplars`: the JSON of a collector becomes a part of a page.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::common::{Place, outcome, picollo};
use picollo_core::counters::Metric;
use picollo_core::{Options, SharedHistogram};
use picollo_why::{Collector, Context, ExemplarOptions, Interval};

/// Status, and the output on standard error.
fn report(place: &Place, arguments: &[&str]) -> (i32, String) {
    let (status, shown, errors) = outcome(&picollo(&place.0, &[&["report"], arguments].concat()));
    assert_eq!(shown, "");
    (status, errors)
}

fn json(interval: &Interval) -> String {
    let mut text = String::new();
    interval.write_json(&mut text).unwrap();
    text
}

fn html(interval: &Interval) -> String {
    let mut text = String::new();
    interval.write_html(&mut text).unwrap();
    text
}

/// An interval of a service, two requests of which waited.
fn collected() -> picollo_why::Counted<Interval> {
    let latency = SharedHistogram::create(&Options::default()).unwrap();
    let options = ExemplarOptions { threshold: 5_000_000, ..ExemplarOptions::default() };
    let slow = Collector::create(&latency, &options).unwrap();
    for request in 1..=3000u64 {
        let mut scope = slow.scope();
        std::hint::black_box((0..50_000).fold(request, |sum, one| sum ^ (one * sum)));
        if request % 1500 == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        if scope.end() {
            let context = Context { trace_id: [0xab; 16], span_id: [0xcd; 8], words: [request, 0] };
            scope.annotate(&context).unwrap();
        }
    }
    slow.collect().unwrap()
}

#[test]
fn a_page_shows_what_the_collector_found() {
    let place = Place::new("exemplars-page");
    let interval = collected();
    let file = place.write("slow <b>&.json", json(&interval) + "\n" + &json(&interval) + "\n");
    let page = place.path("page.html");
    assert_eq!(report(&place, &["--exemplars", &file, "-o", &page]), (0, String::new()));
    let text = fs::read_to_string(&page).unwrap();
    // The page has the same bytes that the interval writes, once for each object.
    let section = html(&interval);
    assert_eq!(text.matches(&section).count(), 2, "{section}\n\n{text}");
    assert!(section.contains("Why observations above 5.0") && section.contains("<td>3000</td>"), "{section}");
    assert!(section.contains("abababababababab<wbr>abababababababab<br>cdcdcdcdcdcdcdcd</code>"));
    assert!(text.contains("slow &lt;b&gt;&amp;.json</h1>") && !text.contains("<b>"), "{text}");
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</section>\n</body></html>\n"), "{text}");

    // Together with the histograms of a program.
    let segment = place.segment("checkout");
    let metric = Metric { name: "latency", unit: "ns", ..Metric::default() };
    segment.histogram(&metric, &Options::default()).unwrap().record(7);
    assert_eq!(report(&place, &["checkout", "--exemplars", &file, "-o", &page]), (0, String::new()));
    let text = fs::read_to_string(&page).unwrap();
    let (histogram, slow) = (text.find("<h2>latency</h2>").unwrap(), text.find(&section).unwrap());
    assert!(
        histogram < slow && text.contains("<h1>checkout</h1>") && text.contains("<dd>checkout</dd>"),
        "{text}"
    );
}

#[test]
fn a_report_without_data_fails() {
    let place = Place::new("exemplars-usage");
    let page = place.path("page.html");
    let interval = json(&collected());
    let file = place.write("slow.json", &interval);
    let cut = place.write("cut.json", &interval[..interval.len() / 2]);
    for (arguments, status, told) in [
        (vec!["-o", &page], 2, "<TARGET>"),
        (vec!["--exemplars", &file, "-o", &page, "--match", "a"], 2, "<TARGET>"),
        (vec!["--exemplars", &file], 2, "--output <PAGE.html>"),
        (vec!["--exemplars", &cut, "-o", &page], 1, "picollo report: /dev/shm/"),
    ] {
        let (found, text) = report(&place, &arguments);
        assert!(found == status && text.contains(told), "{text}");
    }
    assert!(!Path::new(&page).exists());
    // Only the last intervals of long files are shown.
    let marked =
        |threshold: &str| interval.replacen("\"threshold\":5", &format!("\"threshold\":{threshold}"), 1);
    let rest = format!("{interval}\n").repeat(129);
    let many = place.write("many.json", marked("7") + "\n" + &rest);
    let file = place.write("slow.json", marked("9"));
    assert_eq!(report(&place, &["--exemplars", &many, "--exemplars", &file, "-o", &page]).0, 0);
    let text = fs::read_to_string(&page).unwrap();
    assert_eq!(text.matches("<section").count(), 100);
    assert!(text.contains("The last 100 intervals; 31 before them are not shown."));
    assert!(text.contains("above 9.") && !text.contains("above 7."), "{text}");
    assert!(text.contains("many.json, ") && text.contains("slow.json"));
}
