//! Why B executes more than A: by function, caller and line, so that the parts add up.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::source::{Function, Line, Source};

/// A function that B executes more of, or less.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Part {
    pub(super) function: String,
    /// What it is called in A, where B has another name for what seems to be the same function.
    pub(super) was: Option<String>,
    pub(super) cost: [u64; 2],
    pub(super) calls: [u64; 2],
    /// Who calls it more often, or less, and by how much.
    pub(super) caller: Option<(String, i128)>,
    pub(super) inlined_into: Vec<String>,
    /// Whether runs of one program differ in it.
    pub(super) varies: bool,
    pub(super) lines: Vec<LineDifference>,
}

/// Lines of A and B that belong together, and by how much B executes more there.
pub(super) type LineDifference = (Option<Line>, Option<Line>, i128);

impl Part {
    pub(super) fn difference(&self) -> i128 {
        i128::from(self.cost[1]) - i128::from(self.cost[0])
    }

    /// Whether a call takes as much as before, and there are more of them, or fewer.
    pub(super) fn is_only_called(&self) -> bool {
        let [cost, calls] = [self.cost, self.calls].map(|pair| pair.map(u128::from));
        calls[0] > 0 && calls[0] != calls[1] && cost[0] * calls[1] == cost[1] * calls[0]
    }
}

/// A caller that is called as often as before, and calls something more often, or less.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cause {
    pub(super) caller: String,
    pub(super) callee: String,
    pub(super) calls: i128,
    /// With all that the callee calls; `None` where it calls itself, so that this is not known.
    pub(super) below: Option<i128>,
}

pub(super) struct Difference {
    pub(super) total: i128,
    /// Whether all runs of one side are below all of the other.
    pub(super) is_proven: bool,
    /// All that differ, the largest first.
    pub(super) parts: Vec<Part>,
    pub(super) causes: Vec<Cause>,
}

impl Difference {
    /// Of some runs of A and of B; the first of each is compared, the others show what varies.
    pub(super) fn between(a: &[Source], b: &[Source]) -> Difference {
        let names = renamed(&a[0], &b[0]);
        let a: Vec<Source> = a.iter().map(|run| run.with_names(&names)).collect();
        let olds: BTreeMap<&String, &String> = names.iter().map(|(old, new)| (new, old)).collect();
        let first = [&a[0], &b[0]];
        let total = difference(first.map(|of| Some(of.total())));
        let called = first.map(Source::called);
        let calls = |name: &str| [0, 1].map(|side| called[side].get(name).copied().unwrap_or(0));
        // Whether runs of one program differ in something.
        let varies = |of: &dyn Fn(&Source) -> Option<u64>| {
            [&a[..], b].iter().any(|runs| runs.iter().any(|run| of(run) != of(&runs[0])))
        };
        let mut more: Vec<_> = both(&first[0].calls, &first[1].calls)
            .map(|(arc, of)| {
                (arc, difference(of.map(|of| Some(of?.0))), difference(of.map(|of| Some(of?.1))))
            })
            .filter(|&(_, calls, _)| calls != 0)
            .collect();
        more.sort_by_key(|&(_, calls, _)| Reverse(calls.abs()));
        // Runs of A and of B that overlap prove no difference, and a difference that is not proven has no cause.
        let is_proven = range(&a)[1] < range(b)[0] || range(b)[1] < range(&a)[0];
        let is_new = |name: &String| first.map(|of| of.functions.contains_key(name)) == [false, true];
        let is_gone = |name: &String| first.map(|of| of.functions.contains_key(name)) == [true, false];
        let cause = |&(arc, number, below): &(&(String, String), i128, i128)| {
            // A function that takes the place of another one is no further call.
            let is_instead = more.iter().any(|&((from, to), other, _)| {
                let are_two = is_new(to) && is_gone(&arc.1) || is_gone(to) && is_new(&arc.1);
                *from == arc.0 && other == -number && are_two
            });
            let ([in_a, in_b], itself) = (calls(&arc.0), (arc.1.clone(), arc.1.clone()));
            let is_recursive = first.iter().any(|of| of.calls.contains_key(&itself));
            let below = Some(below).filter(|below| !is_recursive && *below != 0);
            // The cost of the callee alone is known, even if the cost of its callees is not.
            let cost = |of: &Source| of.functions.get(&arc.1).map(Function::cost);
            let more = below.unwrap_or_else(|| difference(first.map(cost)));
            let matters = more.signum() == total.signum() && more.abs() * 20 > total.abs();
            let is_cause =
                in_a == in_b && matters && !is_instead && !varies(&|run| Some(run.calls.get(arc)?.0));
            is_cause.then(|| Cause { caller: arc.0.clone(), callee: arc.1.clone(), calls: number, below })
        };
        let mut causes: Vec<Cause> = more.iter().filter(|_| is_proven).filter_map(cause).collect();
        causes.sort_by_key(|cause| Reverse(cause.below.map_or(0, i128::abs)));
        let none = Function::default();
        let part = |(name, of): (&String, [Option<&Function>; 2])| {
            let [of_a, of_b] = of.map(|of| of.unwrap_or(&none));
            let part = Part {
                function: name.clone(),
                was: olds.get(name).map(|old| (*old).clone()),
                cost: [of_a.cost(), of_b.cost()],
                calls: calls(name),
                caller: more.iter().find(|of| of.0.1 == *name).map(|of| (of.0.0.clone(), of.1)),
                inlined_into: of_b.inlined_into.union(&of_a.inlined_into).cloned().collect(),
                varies: varies(&|run| run.functions.get(name).map(Function::cost)),
                lines: Vec::new(),
            };
            let lines = || align(of_a, of_b).into_iter().filter(|line| line.2 != 0).collect();
            (part.difference() != 0).then(|| Part { lines: lines(), ..part })
        };
        let mut parts: Vec<Part> = both(&first[0].functions, &first[1].functions).filter_map(part).collect();
        parts.sort_by_key(|part| Reverse(part.difference().abs()));
        Difference { total, is_proven, parts, causes }
    }
}

/// The least and the most of some runs.
pub(super) fn range(runs: &[Source]) -> [u64; 2] {
    let totals = || runs.iter().map(Source::total);
    [totals().min().unwrap_or(0), totals().max().unwrap_or(0)]
}

/// What either of two tables has.
pub(super) fn both<'a, K: Ord, V>(
    a: &'a BTreeMap<K, V>,
    b: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = (&'a K, [Option<&'a V>; 2])> {
    let keys: BTreeSet<&K> = a.keys().chain(b.keys()).collect();
    keys.into_iter().map(|key| (key, [a.get(key), b.get(key)]))
}

fn difference([a, b]: [Option<u64>; 2]) -> i128 {
    i128::from(b.unwrap_or(0)) - i128::from(a.unwrap_or(0))
}

/// New names of functions of A that B does not have. A function that only B has fits if both call the same functions, and their costs
/// differ by at most a twentieth. A function that calls nothing fits only if the same functions call or inline it, at the same cost.
fn renamed(a: &Source, b: &Source) -> BTreeMap<String, String> {
    type Calls<'a> = BTreeMap<&'a str, BTreeMap<&'a str, u64>>;
    /// Whom each function calls, and who calls it.
    fn calls(of: &Source) -> [Calls<'_>; 2] {
        let mut calls = [Calls::new(), Calls::new()];
        for ((from, to), (number, _)) in of.calls.iter().filter(|((from, to), _)| from != to) {
            calls[0].entry(from).or_default().insert(to, *number);
            calls[1].entry(to).or_default().insert(from, *number);
        }
        calls
    }
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    // A caller fits only when its callees have their new names.
    loop {
        let a = a.with_names(&names);
        let (of_a, of_b, mut found) = (calls(&a), calls(b), BTreeMap::new());
        let mut gone: Vec<(&String, &Function)> =
            a.functions.iter().filter(|(name, _)| !b.functions.contains_key(*name)).collect();
        for (new, of) in b.functions.iter().filter(|(name, _)| !a.functions.contains_key(*name)) {
            let off = |old: &Function| old.cost().abs_diff(of.cost());
            let same = |way: usize, old: &str| of_a[way].get(old) == of_b[way].get(new.as_str());
            let fits = |&(name, old): &(&String, &Function)| match of_b[0].contains_key(new.as_str()) {
                true => same(0, name) && off(old) <= of.cost() / 20,
                false => {
                    same(0, name) && same(1, name) && off(old) == 0 && old.inlined_into == of.inlined_into
                }
            };
            let best = (0..gone.len()).filter(|&at| fits(&gone[at])).min_by_key(|&at| off(gone[at].1));
            found.extend(best.map(|at| (gone.swap_remove(at).0.clone(), new.clone())));
        }
        if found.is_empty() {
            return names;
        }
        names.extend(found);
    }
}

/// Matches lines of two versions of a function: first as many as possible with the same text, if the texts are known, and then so that
/// the fewest instructions differ. Lines that only moved cost nothing.
fn align(a: &Function, b: &Function) -> Vec<LineDifference> {
    const LARGEST: usize = 100_000_000;
    let [a, b] = [a, b].map(|of| of.lines.iter().map(|(line, &cost)| (line, cost)).collect::<Vec<_>>());
    let width = b.len() + 1;
    if a.len() * width > LARGEST {
        let sum = |of: &[(&Line, u64)]| Some(of.iter().map(|line| line.1).sum());
        return vec![(None, None, difference([sum(&a), sum(&b)]))];
    }
    // Of alignments that differ as little, the best has most lines moved as far as the last one, or else as the first.
    let moved = |a: &Line, b: &Line| b.1.wrapping_sub(a.1);
    let ends = [a.last().zip(b.last()), a.first().zip(b.first())];
    let ends = ends.map(|pair| pair.map(|(a, b)| moved(a.0, b.0)));
    // How many lines of what is done next have no other of the same text, by how much they differ, and how they moved.
    type Cost = (u32, u64, u32);
    let gone = |line: Option<&(&Line, u64)>| line.map(|line| (1, line.1, 0));
    let pair = |i: usize, j: usize| -> Option<Cost> {
        let (a, b) = a.get(i).zip(b.get(j))?;
        let rank = ends.iter().position(|&end| end == Some(moved(a.0, b.0))).unwrap_or(2);
        // A file of both was written since A was compiled, or has not changed at all.
        let has_same_text = a.0.2 == b.0.2 && !a.0.2.is_empty() && a.0.0 != b.0.0;
        Some((if has_same_text { 0 } else { 2 }, a.1.abs_diff(b.1), rank as u32))
    };
    // What the rest of both costs at least, from each pair of lines on, and which step is the first: of both, of A, of B.
    let (mut steps, mut below) = (vec![0u8; (a.len() + 1) * width], vec![(0, 0, 0); width]);
    for i in (0..=a.len()).rev() {
        let mut row: Vec<Cost> = vec![(0, 0, 0); width];
        for j in (0..width).rev() {
            let rests = [
                (pair(i, j), below.get(j + 1)),
                (gone(a.get(i)), below.get(j)),
                (gone(b.get(j)), row.get(j + 1)),
            ];
            let costs = rests.into_iter().enumerate().filter_map(|(step, (cost, rest))| {
                let (cost, rest) = cost.zip(rest)?;
                Some(((cost.0 + rest.0, cost.1.saturating_add(rest.1), cost.2 + rest.2), step as u8))
            });
            (row[j], steps[i * width + j]) = costs.min().unwrap_or_default();
        }
        below = row;
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        let step = steps[i * width + j];
        let of = [a.get(i).filter(|_| step != 2), b.get(j).filter(|_| step != 1)];
        let [of_a, of_b] = of.map(|of| of.map(|of| of.0.clone()));
        found.push((of_a, of_b, difference(of.map(|of| Some(of?.1)))));
        (i, j) = (i + usize::from(step != 2), j + usize::from(step != 1));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(functions: &[(&str, &[(u64, u64)])], calls: &[(&str, &str, u64, u64)]) -> Source {
        let mut source = Source::default();
        for (name, lines) in functions {
            let lines =
                lines.iter().map(|&(line, cost)| (("a.c".to_owned(), line, "".into()), cost)).collect();
            source.functions.insert((*name).into(), Function { lines, ..Function::default() });
        }
        for &(from, to, calls, below) in calls {
            source.calls.insert((from.into(), to.into()), (calls, below));
        }
        source
    }

    fn compare(a: &Source, b: &Source) -> Difference {
        Difference::between(std::slice::from_ref(a), std::slice::from_ref(b))
    }

    fn differing(a: &Function, b: &Function) -> Vec<LineDifference> {
        align(a, b).into_iter().filter(|line| line.2 != 0).collect()
    }

    #[test]
    fn lines_that_moved_cost_nothing() {
        let lines = |lines: &[(u64, u64)]| source(&[("f", lines)], &[]).functions["f"].clone();
        let at = |line: u64| Some(("a.c".to_owned(), line, "".into()));
        for (a, b, expected) in [
            (&[(1, 10), (2, 20)][..], &[(5, 10), (6, 20)][..], vec![]),
            (&[(1, 10), (2, 20)], &[(5, 10), (6, 21)], vec![(at(2), at(6), 1)]),
            (&[(1, 10), (2, 20)], &[(1, 10), (2, 7), (3, 20)], vec![(None, at(2), 7)]),
            (&[(1, 10), (2, 20)], &[(2, 20)], vec![(at(1), None, -10)]),
            (&[], &[(2, 20)], vec![(None, at(2), 20)]),
            // A new line that costs as much as another one, with and without a line that it takes.
            (&[(8, 50), (13, 50)], &[(8, 50), (11, 50), (13, 50)], vec![(None, at(11), 50)]),
            (&[(8, 50), (12, 50)], &[(8, 50), (11, 50), (13, 50)], vec![(None, at(11), 50)]),
            (&[(5, 50)], &[(4, 50), (5, 50)], vec![(None, at(4), 50)]),
        ] {
            assert_eq!(differing(&lines(a), &lines(b)), expected, "{a:?} {b:?}");
        }
        // Texts decide if the two versions have separate files.
        let texts = |file: &str, lines: &[(u64, &str, u64)]| {
            let line = |&(line, text, cost): &(u64, &str, u64)| ((file.to_owned(), line, text.into()), cost);
            Function { lines: lines.iter().map(line).collect(), ..Function::default() }
        };
        let old = texts("a.c", &[(5, "x;", 50), (6, "y;", 60), (7, "z;", 50), (9, "}", 1)]);
        let new = texts("b.c", &[(5, "x;", 50), (6, "new;", 60), (7, "y;", 60), (8, "z;", 50), (9, "}", 1)]);
        let found = differing(&old, &new);
        assert!(matches!(&found[..], [(None, Some(line), 60)] if line.1 == 6), "{found:?}");
    }

    #[test]
    fn causes_are_named() {
        let [a, b, same, old] =
            [("old", 4, 40), ("new", 5, 50), ("new", 4, 50), ("old", 5, 50)].map(|(name, calls, cost)| {
                let functions: [(&str, &[_]); 3] =
                    [("main", &[(1, 10)]), (name, &[(5, 100)]), ("leaf", &[(9, cost)])];
                source(&functions, &[("main", name, 1, 100 + cost), (name, "leaf", calls, cost)])
            });
        // A function that is called more often has other callees than before, and is not taken for the old one.
        assert!(compare(&a, &b).parts.iter().all(|part| part.was.is_none()));
        let found = compare(&a, &same);
        assert_eq!((found.total, found.parts.len(), found.parts[0].function.as_str()), (10, 1, "leaf"));
        // A leaf that takes about as much is another one, unless it takes just as much.
        for (cost, parts) in [(99, 2), (100, 0)] {
            let with =
                |name, cost| source(&[("main", &[(1, 10)]), (name, &[(5, cost)])], &[("main", name, 1, 100)]);
            assert_eq!(compare(&with("f", 100), &with("g", cost)).parts.len(), parts);
        }
        let mut other = a.clone();
        other.functions.get_mut("leaf").unwrap().lines.insert(("a.c".into(), 9, "".into()), 41);
        let found = Difference::between(&[a, other], &[old]);
        let part = &found.parts[0];
        assert!(part.is_only_called() && part.varies && part.caller == Some(("old".into(), 1)), "{part:?}");
        let cause = Cause { caller: "old".into(), callee: "leaf".into(), calls: 1, below: Some(10) };
        assert_eq!(found.causes, [cause]);
    }

    #[test]
    fn causes_are_not_invented() {
        // One more cheap call beside a loop that has grown; a call whose cost is not known (0); and a call that goes away.
        let [a, b] = [(1000, 11, 1), (9000, 22, 2)].map(|(cost, fib, calls)| {
            let functions: [(&str, &[_]); 3] =
                [("main", &[(1, 10)]), ("loop", &[(5, cost)]), ("fib", &[(9, fib)])];
            source(&functions, &[("main", "fib", calls, 0)])
        });
        assert_eq!(compare(&a, &b).causes, []);
        assert!(compare(&a, &b).is_proven && !compare(&a, &a).is_proven);
        let with_init = |of: &Source, calls, below| {
            let mut of = of.clone();
            of.calls.insert(("main".into(), "init".into()), (calls, below));
            of
        };
        assert_eq!(compare(&with_init(&a, 4, 5000), &with_init(&b, 2, 0)).causes, [], "of the other sign");
        // One function in the place of another.
        let [f, g] = [("f", 100), ("g", 300)].map(|(name, cost)| {
            source(&[("main", &[(1, 10)]), (name, &[(5, cost)])], &[("main", name, 1, cost)])
        });
        assert_eq!((compare(&f, &g).parts.len(), compare(&f, &g).causes.len()), (2, 0));
        // Calls that vary between runs of one program, and runs that prove nothing.
        let (few, many) = (with_init(&b, 2, 2000), with_init(&b, 3, 4000));
        assert_eq!(compare(&a, &many).causes.len(), 1);
        assert_eq!(Difference::between(std::slice::from_ref(&a), &[many.clone(), few]).causes, []);
        assert_eq!(Difference::between(&[a.clone(), b], &[many, a]).causes, []);
    }
}
