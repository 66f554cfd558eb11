//! Callgrind's files: how often each instruction was executed, and who called whom.

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::rc::Rc;
use std::str::SplitAsciiWhitespace;

/// What one address executed. Without debug information, the file is empty and the line is 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
    pub(super) object: Rc<str>,
    pub(super) symbol: Rc<str>,
    pub(super) file: Rc<str>,
    pub(super) line: u64,
    pub(super) address: u64,
}

/// An object and a symbol in it.
pub(super) type Symbol = (Rc<str>, Rc<str>);

/// The sum of some files.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) cells: HashMap<Place, u64>,
    /// By caller and callee: the number of calls, and what was executed below.
    pub(super) calls: HashMap<(Symbol, Symbol), (u64, u64)>,
}

/// Why a file was written, such as `Program termination`, and of which time it is: a number when it begins and when it ends.
#[derive(Default)]
pub(super) struct Part {
    pub(super) trigger: String,
    pub(super) time: [u64; 2],
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("Callgrind's file is incomplete or damaged ({what}): check whether the file system is full"),
    )
}

/// `number`, `+number`, `-number` or `*`, each hexadecimal or not, from where the last one was.
fn step(now: u64, text: &str) -> io::Result<u64> {
    let parse = |text: &str| {
        let hexadecimal = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
        hexadecimal.unwrap_or_else(|| text.parse()).map_err(|_| invalid(text))
    };
    match text.split_at_checked(1) {
        Some(("*", "")) => Some(now),
        Some(("+", more)) => now.checked_add(parse(more)?),
        Some(("-", less)) => now.checked_sub(parse(less)?),
        _ => Some(parse(text)?),
    }
    .ok_or_else(|| invalid(text))
}

/// Names that are written once, `(number) name`, and by their number from then on.
#[derive(Default)]
struct Names(HashMap<(char, u64), Rc<str>>);

impl Names {
    fn get(&mut self, kind: char, text: &str) -> io::Result<Rc<str>> {
        let numbered = text.strip_prefix('(').and_then(|text| text.split_once(')'));
        let Some((Ok(number), name)) = numbered.map(|(number, name)| (number.parse(), name)) else {
            return Ok(text.into());
        };
        if let Some(name) = name.strip_prefix(' ') {
            self.0.insert((kind, number), name.into());
        }
        self.0.get(&(kind, number)).cloned().ok_or_else(|| invalid(text))
    }
}

/// Adds one file. Cells get the sum of these events. An error if they do not add up to the file's own total, or if the file has no end.
pub(super) fn read(profile: &mut Profile, input: impl BufRead, events: &[&str]) -> io::Result<Part> {
    let (mut names, mut part, mut is_whole) = (Names::default(), Part::default(), false);
    let (mut object, mut symbol, mut file): (Rc<str>, Rc<str>, Rc<str>) = ("".into(), "".into(), "".into());
    let (mut columns, mut positions, mut sum) = (Vec::new(), [0, 0], 0u64);
    let (mut callee, mut callee_object, mut calls) = (None, None, None);
    // Of numbers, one for each column, those that count.
    let sum_of = |columns: &[bool], words: SplitAsciiWhitespace<'_>| {
        let counting = columns.iter().zip(words).filter(|(counts, _)| **counts);
        counting.map(|(_, word)| word.parse::<u64>().map_err(|_| invalid(word))).sum::<io::Result<u64>>()
    };
    for line in input.split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        let row = line.trim_end_matches('\r');
        let assigned = row.split_once('=').filter(|(key, _)| key.bytes().all(|c| c.is_ascii_lowercase()));
        if let Some((key, value)) = assigned {
            match key {
                "ob" => object = names.get('o', value)?,
                "fn" => symbol = names.get('n', value)?,
                "fl" | "fi" | "fe" => file = names.get('f', value)?,
                "cob" => callee_object = Some(names.get('o', value)?),
                "cfi" | "cfl" => drop(names.get('f', value)?),
                "cfn" => callee = Some(names.get('n', value)?),
                "calls" => calls = Some(step(0, value.split(' ').next().unwrap_or(""))?),
                _ => {}
            }
        } else if row.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            let mut words = row.split_ascii_whitespace();
            for position in &mut positions {
                *position = step(*position, words.next().ok_or_else(|| invalid(row))?)?;
            }
            let cost = sum_of(&columns, words)?;
            let [address, line] = positions;
            let (object, symbol) = (Rc::clone(&object), Rc::clone(&symbol));
            if let Some(calls) = calls.take() {
                let in_object = callee_object.take().unwrap_or_else(|| Rc::clone(&object));
                let to = (in_object, callee.take().unwrap_or_default());
                let arc = profile.calls.entry(((object, symbol), to)).or_default();
                *arc = (arc.0.saturating_add(calls), arc.1.saturating_add(cost));
            } else if cost > 0 {
                let place = Place { object, symbol, file: Rc::clone(&file), line, address };
                let cell = profile.cells.entry(place).or_default();
                *cell = cell.saturating_add(cost);
                sum = sum.saturating_add(cost);
            }
        } else if let Some(names) = row.strip_prefix("events:") {
            columns = names.split_ascii_whitespace().map(|name| events.contains(&name)).collect();
        } else if let Some(why) = row.strip_prefix("desc: Trigger: ") {
            why.clone_into(&mut part.trigger);
        } else if let Some((begin, end)) =
            row.strip_prefix("desc: Timerange: Basic block ").and_then(|row| row.split_once(" - "))
        {
            part.time = [step(0, begin)?, step(0, end)?];
        } else if let Some(totals) = row.strip_prefix("totals:") {
            if sum_of(&columns, totals.split_ascii_whitespace())? != std::mem::take(&mut sum) {
                return Err(invalid("its lines do not add up to its total"));
            }
            is_whole = true;
        }
    }
    if is_whole && sum == 0 { Ok(part) } else { Err(invalid("it has no end")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> io::Result<Profile> {
        let mut profile = Profile::default();
        read(&mut profile, text.as_bytes(), &["Ir"]).map(|_| profile)
    }

    const FILE: &str = "# callgrind format\nversion: 1\ncmd: ./a b=c\npart: 1\n\ndesc: Timerange: Basic block 50176 - 50183\ndesc: Trigger: Program termination\n\
        positions: instr line\nevents: Ir Dr\n\nob=(1) /a b/prog\nfl=(1) a.c\nfn=(1) operator==\n0x1000 10 5 1\n+4 * 2\n\
        fi=(2) b.h\n+4 -7 3\nfe=(1)\n* +8 1\ncob=(2) /lib/libc.so.6\ncfi=(3) s.c\ncfn=(2) strlen\ncalls=4 0x2000 +2\n* * 400\n\
        jump=7 0x1008 11\n0x1014 12\njcnd=1/2 +4 +1\n+4 +1\n\nob=(2)\nfl=(3)\nfn=(2)\n0x2000 1 400\n\ntotals: 411 1\n";

    #[test]
    fn files_are_read() {
        let profile = parsed(FILE).unwrap();
        let text = |(of, cost): (&Place, &u64)| {
            format!("{} {} {:x} {} {cost}", of.symbol, of.file, of.address, of.line)
        };
        let mut cells: Vec<String> = profile.cells.iter().map(text).collect();
        cells.sort();
        let of_a = "operator== a.c 1000 10 5, operator== a.c 1004 10 2, operator== a.c 1008 11 1";
        assert_eq!(cells.join(", "), format!("{of_a}, operator== b.h 1008 3 3, strlen s.c 2000 1 400"));
        let symbol = |object: &str, name: &str| (Rc::from(object), Rc::from(name));
        let arc = (symbol("/a b/prog", "operator=="), symbol("/lib/libc.so.6", "strlen"));
        assert_eq!(profile.calls, [(arc, (4, 400))].into());
        let part = read(&mut Profile::default(), FILE.as_bytes(), &["Ir"]).unwrap();
        assert_eq!((part.trigger.as_str(), part.time), ("Program termination", [50_176, 50_183]));
        // Names without numbers, and a file of two parts.
        let plain = "events: Ir\nfl=x.c\nfn=f\n7 1 1\n+1 2 2\ntotals: 3\npart: 2\nfn=g\n9 4 4\ntotals: 4\n";
        assert_eq!(parsed(plain).unwrap().cells.into_values().sum::<u64>(), 7);
    }

    #[test]
    fn damaged_files_are_refused() {
        let texts = "|fn=f\n1 1 2\n|1 1 2\ntotals: 3\n|1 1 x\ntotals: 0\n|fn=(7)\ntotals: 0\n|-1 1 1\ntotals: 1\n|1\ntotals: 0\n|\
            1 5 1\n1 +18446744073709551615 1\ntotals: 2\n|calls=x 1\ntotals: 0\n|1 1 -1\ntotals: 0\n|0xg 1 1\ntotals: 1\n|+é 1 1\ntotals: 1\n";
        for text in texts.split('|').map(|text| format!("events: Ir\n{text}")) {
            assert!(parsed(&text).is_err(), "{text:?}");
        }
        // Cut off, or with one byte changed, a file is refused or read, and nothing panics.
        for at in 0..FILE.len() {
            assert!(parsed(&FILE[..at]).is_err() || at + 4 > FILE.len());
            for byte in *b"\0=*+-(9 \n\xff" {
                let mut bytes = FILE.as_bytes().to_vec();
                bytes[at] = byte;
                let _ = read(&mut Profile::default(), &bytes[..], &["Ir"]);
            }
        }
    }
}
