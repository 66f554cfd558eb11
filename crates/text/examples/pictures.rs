//! Draws the pictures of docs/pictures.md: those for terminals without an argument, those as SVG into a directory, and a
//! report into a file.
//!
//! ```text
//! cargo run --release -p picollo-text --example pictures
//! cargo run --release -p picollo-text --example pictures -- docs/images target/report.html
//! ```

use std::fs;
use std::path::Path;

use picollo_core::{Options, Result, SharedHistogram, Since, Snapshot};
use picollo_text::picture::{ChartOptions, Picture, Pictures, Series, write_chart, write_sparkline};

/// Times of requests in nanoseconds, made up: most are quick, some wait for a disk, a few for something else.
struct Requests(u64);

impl Requests {
    fn random(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Around one, by a logarithm of this deviation.
    fn around(&mut self, deviation: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.random()).sum();
        ((sum - 6.0) * deviation).exp()
    }

    fn next(&mut self, disk: f64, share_of_disk: f64) -> u64 {
        let chosen = self.random();
        let nanos = if chosen < 0.001 {
            40e6 * self.around(0.5)
        } else if chosen < share_of_disk {
            disk * self.around(0.25)
        } else {
            90_000.0 * self.around(0.3)
        };
        nanos as u64
    }
}

fn measured(seed: u64, length: usize, disk: f64, share_of_disk: f64) -> Result<Box<Snapshot>> {
    let histogram = SharedHistogram::create(&Options { relative_error: 0.005, ..Options::default() })?;
    let mut requests = Requests(seed);
    (0..length).for_each(|_| histogram.record(requests.next(disk, share_of_disk)));
    let mut snapshot = Snapshot::boxed(*histogram.layout())?;
    histogram.update(&mut snapshot, Since::Reset)?;
    Ok(snapshot)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let before = measured(1, 200_000, 4e6, 0.12).map_err(|error| format!("{error:?}"))?;
    let after = measured(2, 200_000, 1.6e6, 0.06).map_err(|error| format!("{error:?}"))?;
    let Some(directory) = std::env::args().nth(1) else {
        let mut text = String::new();
        let _ = write_sparkline(&before, &mut text, 48, false);
        println!("{text}\n");
        for picture in [Picture::Density, Picture::Percentiles] {
            for ascii in [false, true] {
                let options =
                    ChartOptions { title: "Requests", unit: "ns", ascii, ..ChartOptions::default() };
                text.clear();
                let _ = write_chart(&before, &mut text, picture, &options);
                println!("{text}");
            }
        }
        return Ok(());
    };
    let directory = Path::new(&directory);
    let series = [Series { title: "before", snapshot: &before }, Series { title: "after", snapshot: &after }];
    let get = |at: usize| series[at];
    let pictures = Pictures { title: "Requests", unit: "ns", ..Pictures::new(series.len(), &get) };
    let save = |name: &str, pictures: &Pictures<'_>, picture| {
        let mut svg = String::new();
        let _ = pictures.write_svg(&mut svg, picture);
        fs::write(directory.join(name), svg)
    };
    save("percentile-curves.svg", &pictures, Picture::Percentiles)?;
    save("densities.svg", &pictures, Picture::Density)?;

    // Ten seconds each, with a disk that is slow for a while.
    let slices: Vec<(String, Box<Snapshot>)> = (0..60)
        .map(|slice| {
            let slow = if (25..38).contains(&slice) { 5.0 } else { 1.0 };
            let snapshot = measured(100 + slice, 4_000 + slice as usize * 40, 1.6e6 * slow, 0.06 * slow);
            Ok((format!("{}:{:02}", slice / 6, slice % 6 * 10), snapshot?))
        })
        .collect::<Result<_>>()
        .map_err(|error| format!("{error:?}"))?;
    let get = |at: usize| Series { title: &slices[at].0, snapshot: &slices[at].1 };
    let heat = Pictures { length: slices.len(), get: &get, ..pictures };
    save("heat-map.svg", &heat, Picture::HeatMap)?;
    if let Some(path) = std::env::args().nth(2) {
        let mut report = String::new();
        let _ = pictures.write_html(&mut report);
        fs::write(path, report)?;
    }
    Ok(())
}
