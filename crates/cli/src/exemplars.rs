//! Reads intervals of collectors from files that services wrote.

// A fuzz target includes it.
mod json;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use picollo_why::Interval;

use crate::failure::Failure;
use crate::table::printable;

/// Maximum size of a file: one day of one-minute intervals needs half of it.
const MOST_BYTES: u64 = 64 << 20;

/// The intervals in a file of JSON objects, in order.
pub(crate) fn read(path: &Path) -> Result<Vec<Interval>, Failure> {
    let name = printable(&path.to_string_lossy());
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| Failure::for_file(&name, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!(
            "{name}: the file has more than {} MiB; select fewer intervals",
            MOST_BYTES >> 20
        )
        .into());
    }
    let intervals = std::str::from_utf8(&bytes)
        .map_err(|error| format!("is not UTF-8, from byte {} on", error.valid_up_to() + 1))
        .and_then(json::intervals);
    // The message may contain long and arbitrary names from the file.
    intervals.map_err(|fault| {
        let fault: String = fault.chars().take(300).collect();
        format!("{name}: {}", printable(&fault)).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use picollo_why::Cause;

    /// An interval as JSON.
    fn whole() -> String {
        let causes = Cause::ALL
            .map(|cause| format!("{{\"cause\":\"{}\",\"observations\":0}}", cause.name()))
            .join(",");
        format!(
            "{{\"begin_unix_nanos\":1,\"end_unix_nanos\":2,\"observations\":9,\"slow\":3,\"known\":0,\"controls\":5,\"without_controls\":0,\
             \"without_evidence\":0,\"causes\":[{causes}],\"exemplars\":[]}}"
        )
    }

    #[test]
    fn what_is_no_interval_is_refused_with_its_place() {
        let whole = whole();
        for (text, expected) in [
            (" \n ".into(), "has no interval"),
            ("{\"threshold\":NaN}".into(), "interval 1, threshold: expected value at line 1 column 14"),
            (whole.replace("run queue", "rain"), "interval 1, causes[1].cause: \"rain\" is no cause"),
            (format!("{whole}\n{whole}\n{{}}"), "interval 3, .: missing field `begin_unix_nanos`"),
            (format!("{whole}]"), "interval 2, .: "),
            (
                format!("{{\"exemplars\":[{{\"later\":{}", "[".repeat(1_000_000)),
                "interval 1, exemplars[0].later",
            ),
        ] {
            let fault = json::intervals(&text).unwrap_err();
            assert!(fault.starts_with(expected), "{fault}");
        }
        assert_eq!(json::intervals(&format!("{whole}{whole} {whole}\n")).unwrap().len(), 3);
    }

    #[test]
    fn files_are_named_with_their_faults() {
        let directory = std::env::temp_dir().join(format!("picollo-exemplars-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("a.json");
        let read_of = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read(&path).map_err(|failure| failure.text().to_owned())
        };
        let name = path.display();
        assert_eq!(
            read_of(b"{\"a\":\"\xff\"}").unwrap_err(),
            format!("{name}: is not UTF-8, from byte 7 on")
        );
        assert_eq!(read_of(b"").unwrap_err(), format!("{name}: has no interval"));
        let hostile = whole().replacen("own waiting", "\\u001b[31m", 1);
        assert!(!read_of(hostile.as_bytes()).unwrap_err().contains('\u{1b}'));
        assert_eq!(read_of(whole().as_bytes()).unwrap().len(), 1);
        let file = File::create(&path).unwrap();
        file.set_len(MOST_BYTES + 1).unwrap();
        let failure = read(&path).unwrap_err();
        assert_eq!(failure.text(), format!("{name}: the file has more than 64 MiB; select fewer intervals"));
        std::fs::remove_dir_all(&directory).unwrap();
        assert_eq!(read(&path).unwrap_err().text(), format!("{name}: No such file or directory"));
    }
}
