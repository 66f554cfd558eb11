//! Results as Markdown tables, and their comparison with the targets.

/// A table of contenders that did the same job.
pub struct Section {
    /// The job.
    pub title: String,
    /// The unit of the numbers.
    pub unit: &'static str,
    /// Names and numbers.
    pub rows: Vec<(String, f64)>,
    /// The reference row for ratios.
    pub reference: usize,
}

/// A target for a ratio.
pub struct Target {
    /// What the ratio compares.
    pub name: String,
    /// The measured ratio.
    pub ratio: f64,
    /// The largest allowed ratio.
    pub limit: f64,
}

/// All results of a run.
#[derive(Default)]
pub struct Report {
    /// The place and time of the run.
    pub about: Vec<(&'static str, String)>,
    /// The ratios with targets.
    pub targets: Vec<Target>,
}

impl Section {
    /// An empty table.
    pub fn new(title: impl Into<String>, unit: &'static str) -> Section {
        Section { title: title.into(), unit, rows: Vec::new(), reference: 0 }
    }

    /// Appends rows from contenders and their medians.
    pub fn extend(&mut self, contenders: &[crate::Contender], medians: &[f64]) {
        self.rows.extend(contenders.iter().zip(medians).map(|(c, &median)| (c.name.into(), median)));
    }

    /// The number in a row; `None` if it was not measured.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.rows.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// The ratio of two rows, if both were measured.
    pub fn ratio(&self, of: &str, to: &str) -> Option<f64> {
        Some(self.get(of)? / self.get(to)?)
    }

    /// Prints the table, with ratios to the reference row.
    pub fn print(&self) {
        let width = self.rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(3).max(3);
        println!("\n##### {}", self.title);
        println!(
            "| {:width$} | {:>9} | ratio |\n| :{:-<3$} | --------: | ----: |",
            "",
            self.unit,
            "",
            width - 1
        );
        let reference = self.rows.get(self.reference).map_or(f64::NAN, |row| row.1);
        for (name, number) in &self.rows {
            let digits = if *number >= 1000.0 { 0 } else { 2 };
            println!("| {name:width$} | {number:9.digits$} | {:5.2} |", number / reference);
        }
    }
}

impl Report {
    /// Compares a ratio with its target, if it was measured.
    pub fn target(&mut self, name: impl Into<String>, ratio: Option<f64>, limit: f64) {
        match ratio {
            Some(ratio) => self.targets.push(Target { name: name.into(), ratio, limit }),
            None => println!("SKIPPED: not measured here: {}", name.into()),
        }
    }

    /// Prints the targets.
    pub fn print_targets(&self) {
        let width = self.targets.iter().map(|target| target.name.chars().count()).max().unwrap_or(3);
        println!("\n##### Targets");
        println!(
            "| {:width$} | ratio | at most |        |\n| :{:-<2$} | ----: | ------: | :----- |",
            "",
            "",
            width - 1
        );
        for Target { name, ratio, limit } in &self.targets {
            let verdict = if ratio <= limit { "met" } else { "missed" };
            println!("| {name:width$} | {ratio:5.2} | {limit:7.2} | {verdict:6} |");
        }
    }
}
