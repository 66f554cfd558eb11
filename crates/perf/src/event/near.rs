//! Suggestions for an unknown event name: the nearest names.

use core::ffi::c_char;
use core::fmt;

use crate::event::names;
use crate::event::spelling::parse_modifiers;
use picollo_native::seam::sys::Files;
use picollo_native::seam::text;

/// The parts of cache events' names.
const CACHES: [&str; 7] = ["L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"];
const ACCESSES: [&str; 6] =
    ["loads", "load-misses", "stores", "store-misses", "prefetches", "prefetch-misses"];

/// The distance of a longer name that begins with the wanted one.
const LONGER: usize = 3;
/// The largest number of suggestions.
const MOST: usize = 3;

/// A name's letters as they are compared: without case and separators, which do not matter or are easily confused.
fn letters(name: &str) -> impl Iterator<Item = u8> + Clone {
    name.bytes().filter(|byte| !matches!(byte, b'-' | b'_')).map(|byte| match byte {
        b':' => b'.',
        byte => byte.to_ascii_lowercase(),
    })
}

/// The largest distance at which another name is near one of this many letters.
fn reach(length: usize) -> usize {
    match length {
        0..=2 => 0,
        3..=5 => 1,
        6..=11 => 2,
        _ => 3,
    }
}

/// The number of letters to insert, delete, replace, or exchange with their neighbors; `None` if it is above the limit.
fn distance<I: Iterator<Item = u8> + Clone>(mut a: I, mut b: I, limit: usize) -> Option<usize> {
    loop {
        let (rest_a, rest_b) = (a.clone(), b.clone());
        let (x, y) = (a.next(), b.next());
        if x == y {
            if x.is_none() {
                return Some(0);
            }
            continue;
        }
        let limit = limit.checked_sub(1)?;
        let exchanged = {
            let (mut a, mut b) = (a.clone(), b.clone());
            (a.next() == y && b.next() == x).then(|| distance(a, b, limit))
        };
        let replaced = distance(a.clone(), b.clone(), limit);
        let ways = [replaced, distance(a, rest_b, limit), distance(rest_a, b, limit), exchanged.flatten()];
        return ways.into_iter().flatten().min().map(|rest| rest + 1);
    }
}

/// The nearest of the names that were offered.
pub(crate) struct Near<'a> {
    wanted: &'a str,
    takes_longer: bool,
    /// The distance of each, or `usize::MAX` for an empty place.
    best: [(usize, [c_char; 100]); MOST],
}

impl<'a> Near<'a> {
    /// Starts a search for this name. Its modifiers, and the PMU before two colons, are ignored.
    pub(crate) fn new(name: &'a str) -> Near<'a> {
        let name = name.split_once("::").map_or(name, |(_, name)| name);
        let name = match name.rsplit_once(':') {
            Some((event, letters)) if parse_modifiers(letters).is_some() => event,
            _ => name,
        };
        Near { wanted: name, takes_longer: false, best: [(usize::MAX, [0; 100]); MOST] }
    }

    /// Also accepts names that begin with the wanted one and a point.
    pub(crate) fn or_longer(self) -> Self {
        Near { takes_longer: true, ..self }
    }

    /// Suggests the second text if `name` is near.
    pub(crate) fn offer_as(&mut self, name: &str, suggestion: fmt::Arguments<'_>) {
        let (wanted, mut rest) = (letters(self.wanted), letters(name));
        let mut is_longer =
            || wanted.clone().all(|letter| rest.next() == Some(letter)) && rest.next() == Some(b'.');
        // A name that differs only in case or separators is unknown for another reason. It is suggested all the same.
        let far = match distance(wanted.clone(), letters(name), reach(wanted.clone().count())) {
            Some(far) => far,
            None if self.takes_longer && is_longer() => LONGER,
            None => return,
        };
        let Some(place) = self.best.iter().position(|&(other, _)| far < other) else { return };
        let mut text = [0; 100];
        text::set(&mut text, suggestion);
        // Several devices may share one event, and one event may have several names.
        if self.best.iter().any(|(_, known)| *known == text) {
            return;
        }
        self.best[place..].rotate_right(1);
        self.best[place] = (far, text);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.best[0].0 == usize::MAX
    }

    pub(crate) fn offer(&mut self, name: &str) {
        self.offer_as(name, format_args!("{name}"));
    }

    /// Offers every generic event.
    pub(crate) fn offer_generic(&mut self) {
        names::generic().for_each(|name| self.offer(name));
        for (cache, access) in CACHES.into_iter().flat_map(|cache| ACCESSES.map(|access| (cache, access))) {
            let mut name = [0; 40];
            text::set(&mut name, format_args!("{cache}-{access}"));
            self.offer(text::get(&name));
        }
    }

    /// Offers the events that the kernel's drivers name.
    pub(crate) fn offer_devices(&mut self, sys: &dyn Files, devices: &str) {
        let _ = sys.list(devices, &mut |device| {
            let mut path = [0; 300];
            text::set(&mut path, format_args!("{devices}/{device}/events"));
            let _ = sys.list(text::get(&path), &mut |name| {
                // An event's unit and scale are files beside it.
                if !name.contains('.') {
                    self.offer_as(name, format_args!("{device}/{name}/"));
                }
            });
        });
    }
}

/// `. Did you mean …?` with all names at the smallest distance, or nothing.
impl fmt::Display for Near<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nearest = self.best[0].0;
        let best = self.best.iter().filter(|(far, _)| *far == nearest && !self.is_empty());
        let number = best.clone().count();
        for (at, (_, name)) in best.enumerate() {
            let before = match at {
                0 => ". Did you mean ",
                _ if at + 1 == number => " or ",
                _ => ", ",
            };
            write!(f, "{before}{}", text::get(name))?;
        }
        if number > 0 { f.write_str("?") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::event::Event;
    use proptest::prelude::*;

    fn near(name: &str) -> String {
        let mut near = Near::new(name);
        near.offer_generic();
        near.to_string()
    }

    #[test]
    fn typing_mistakes() {
        for (typed, suggested) in [
            ("cylces", ". Did you mean cycles?"),
            ("instrutions", ". Did you mean instructions?"),
            ("branch-mises:u", ". Did you mean branch-misses?"),
            ("brnach_misses", ". Did you mean branch-misses?"),
            ("pagefault", ". Did you mean page-faults?"),
            ("L1-dcache-laod-misses", ". Did you mean L1-dcache-load-misses?"),
            ("LLC-laods", ". Did you mean LLC-loads?"),
            // Nothing is near.
            ("no-such-event", ""),
            ("xyz", ""),
            ("r", ""),
            ("", ""),
            ("häuser", ""),
        ] {
            assert_eq!(near(typed), suggested, "{typed}");
        }
        assert_eq!(near(&"x".repeat(200)), "");
    }

    #[test]
    fn every_suggested_name_exists() {
        for name in names::generic() {
            assert!(Event::parse(name).is_ok(), "{name}");
        }
        for (cache, access) in CACHES.into_iter().flat_map(|cache| ACCESSES.map(|access| (cache, access))) {
            assert!(Event::parse(&format!("{cache}-{access}")).is_ok(), "{cache}-{access}");
        }
    }

    #[test]
    fn few_names_and_the_nearest_first() {
        let mut longer = Near::new("ABC:u").or_longer();
        ["ABC.X", "ABCD.X", "ABCX", "abc:y"].into_iter().for_each(|name| longer.offer(name));
        assert_eq!(longer.to_string(), ". Did you mean ABCX?");
        let mut longer = Near::new("x::ABC").or_longer();
        ["ABC.XX", "ABCD.X", "AB.CXXX", "abc:yyy"].into_iter().for_each(|name| longer.offer(name));
        assert_eq!(longer.to_string(), ". Did you mean ABC.XX or abc:yyy?");
        let mut near = Near::new("skx::ABCDEF.GHIJKL");
        let mut offer = |names: &str| {
            names.split(' ').for_each(|name| near.offer(name));
            near.to_string()
        };
        let two = offer("ABCDEF.GHIxxx ABCDEF.GHIJyy ABCDEF:GHIJKx ABCDEF:GHIJKx ABCDEF.GHIJwL AxCDEFGHIJKL");
        assert_eq!(two, ". Did you mean ABCDEF:GHIJKx or ABCDEF.GHIJwL?");
        let three = offer("ABCDE.GHIJKL BACDEF.GHIJKL XABCDEF.GHIJKL");
        assert_eq!(three, ". Did you mean ABCDEF:GHIJKx, ABCDEF.GHIJwL or ABCDE.GHIJKL?");
    }

    /// The plain definition.
    fn naive(a: &[u8], b: &[u8]) -> usize {
        let ([short @ .., x], [other @ .., y]) = (a, b) else { return a.len() + b.len() };
        let plain =
            (naive(short, other) + usize::from(x != y)).min(naive(short, b) + 1).min(naive(a, other) + 1);
        match (short, other) {
            ([before @ .., w], [above @ .., z]) if x == z && w == y => plain.min(naive(before, above) + 1),
            _ => plain,
        }
    }

    proptest! {
        #[test]
        fn distances(a in "[abc]{0,5}", b in "[abc]{0,5}") {
            let exact = naive(a.as_bytes(), b.as_bytes());
            for limit in 0..4 {
                prop_assert_eq!(distance(a.bytes(), b.bytes(), limit), Some(exact).filter(|&exact| exact <= limit));
            }
        }
    }
}
