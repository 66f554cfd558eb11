//! Why B executes more than A: by function, caller and line, so that the parts add up.

use std::collections::BTreeMap;

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
    /// All that differ, the largest first.
    pub(super) parts: Vec<Part>,
    pub(super) causes: Vec<Cause>,
}

impl Difference {
    /// Of some runs of A and of B; the first of each is compared, the others show what varies.
    pub(super) fn of(a: &[Source], b: &[Source]) -> Difference {
        let mut first = a[0].clone();
        let renamed = rename(&mut first, &b[0]);
        let (a_first, b_first) = (&first, &b[0]);
        let total = i128::from(b_first.total()) - i128::from(a_first.total());
        let (a_called, b_called) = (a_first.called(), b_first.called());
        let count = |of: &BTreeMap<&str, u64>, name: &str| of.get(name).copied().unwrap_or(0);
        let mut more: Vec<(&(String, String), i128)> = a_first
            .calls
            .keys()
            .chain(b_first.calls.keys().filter(|arc| !a_first.calls.contains_key(*arc)))
            .map(|arc| {
                (
                    arc,
                    difference(a_first.calls.get(arc).map(|of| of.0), b_first.calls.get(arc).map(|of| of.0)),
                )
            })
            .filter(|&(_, more)| more != 0)
            .collect();
        more.sort_by_key(|&(_, more)| std::cmp::Reverse(more.abs()));
        // Runs of A and of B that overlap prove no difference, and a difference that is not proven has no cause.
        let range = |runs: &[Source]| {
            let totals = || runs.iter().map(Source::total);
            (totals().min(), totals().max())
        };
        let (of_a, of_b) = (range(a), range(b));
        let is_proven = of_a.1 < of_b.0 || of_b.1 < of_a.0;
        let name = |name: &String| renamed.get(name).unwrap_or(name).clone();
        let old = |arc: &(String, String)| (name(&arc.0), name(&arc.1));
        let below =
            |arc| difference(a_first.calls.get(arc).map(|of| of.1), b_first.calls.get(arc).map(|of| of.1));
        let mut causes: Vec<Cause> = more
            .iter()
            .filter(|((caller, _), _)| count(&a_called, caller) == count(&b_called, caller))
            .filter(|(arc, _)| is_proven && !arc_varies(a, &old(arc)) && !arc_varies(b, arc))
            .map(|&(arc, calls)| {
                let itself = (arc.1.clone(), arc.1.clone());
                let is_recursive = [a_first, b_first].iter().any(|of| of.calls.contains_key(&itself));
                let below = Some(below(arc)).filter(|below| !is_recursive && *below != 0);
                Cause { caller: arc.0.clone(), callee: arc.1.clone(), calls, below }
            })
            .filter(|cause| {
                // What is not known of all that the callee calls is known of the callee.
                let cost = |of: &Source| of.functions.get(&cause.callee).map(Function::cost);
                let more = cause.below.unwrap_or_else(|| difference(cost(a_first), cost(b_first)));
                more.signum() == total.signum() && more.abs() * 20 > total.abs()
            })
            .collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.below.map_or(0, i128::abs)));
        let none = Function::default();
        let names = a_first
            .functions
            .keys()
            .chain(b_first.functions.keys().filter(|name| !a_first.functions.contains_key(*name)));
        let mut parts: Vec<Part> = names
            .filter_map(|name| {
                let [of_a, of_b] = [a_first, b_first].map(|of| of.functions.get(name).unwrap_or(&none));
                let cost = [of_a.cost(), of_b.cost()];
                let lines: Vec<LineDifference> =
                    align(of_a, of_b).into_iter().filter(|line| line.2 != 0).collect();
                let function = name.clone();
                let part = Part {
                    cost,
                    calls: [count(&a_called, name), count(&b_called, name)],
                    caller: more
                        .iter()
                        .find(|(arc, _)| arc.1 == function)
                        .map(|(arc, more)| (arc.0.clone(), *more)),
                    inlined_into: of_b.inlined_into.union(&of_a.inlined_into).cloned().collect(),
                    varies: varies(a, renamed.get(name).unwrap_or(name)) || varies(b, name),
                    was: renamed.get(name).cloned(),
                    lines,
                    function,
                };
                (part.difference() != 0).then_some(part)
            })
            .collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.difference().abs()));
        Difference { total, parts, causes }
    }
}

fn difference(a: Option<u64>, b: Option<u64>) -> i128 {
    i128::from(b.unwrap_or(0)) - i128::from(a.unwrap_or(0))
}

/// Whether runs of one program differ in how often a caller calls.
fn arc_varies(runs: &[Source], arc: &(String, String)) -> bool {
    let calls = |run: &Source| run.calls.get(arc).map(|of| of.0);
    runs.iter().any(|run| calls(run) != calls(&runs[0]))
}

/// Whether runs of one program differ in a function.
fn varies(runs: &[Source], name: &str) -> bool {
    let cost = |run: &Source| run.functions.get(name).map_or(0, Function::cost);
    runs.iter().any(|run| cost(run) != cost(&runs[0]))
}

/// Gives functions of A that B does not have the names of functions that only B has, where both call the same, and take as much but
/// for a twentieth. Returns the names that A had, by their new ones.
fn rename(a: &mut Source, b: &Source) -> BTreeMap<String, String> {
    fn callees(of: &Source) -> BTreeMap<&str, BTreeMap<&str, u64>> {
        let mut callees: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for ((caller, callee), (calls, _)) in of.calls.iter().filter(|((caller, callee), _)| caller != callee)
        {
            callees.entry(caller).or_default().insert(callee, *calls);
        }
        callees
    }
    let mut renamed = BTreeMap::new();
    // A caller fits only when its callees have their new names.
    loop {
        let of = [callees(a), callees(b)];
        let mut gone: Vec<&String> =
            a.functions.keys().filter(|name| !b.functions.contains_key(*name)).collect();
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for new in b.functions.keys().filter(|name| !a.functions.contains_key(*name)) {
            let cost = b.functions[new].cost();
            let off = |old: &str| a.functions[old].cost().abs_diff(cost);
            let fits = |old: &str| off(old) <= cost / 20 && of[0].get(old) == of[1].get(new.as_str());
            let best = (0..gone.len()).filter(|&at| fits(gone[at])).min_by_key(|&at| off(gone[at]));
            if let Some(at) = best {
                found.insert(gone.swap_remove(at).clone(), new.clone());
            }
        }
        if found.is_empty() {
            return renamed;
        }
        let name = |name: String| found.get(&name).cloned().unwrap_or(name);
        a.functions = std::mem::take(&mut a.functions).into_iter().map(|(old, of)| (name(old), of)).collect();
        let calls = std::mem::take(&mut a.calls).into_iter();
        a.calls = calls.map(|((from, to), calls)| ((name(from), name(to)), calls)).collect();
        renamed.extend(found.into_iter().map(|(old, new)| (new, old)));
    }
}

/// Lines of two versions of a function, so that the fewest differ: lines that only moved cost nothing.
fn align(a: &Function, b: &Function) -> Vec<LineDifference> {
    const LARGEST: usize = 2_000_000;
    let [a, b] = [a, b].map(|of| of.lines.iter().map(|(line, &cost)| (line, cost)).collect::<Vec<_>>());
    if a.len() * b.len() > LARGEST {
        // By their numbers, then.
        let mut lines: BTreeMap<&Line, (Option<u64>, Option<u64>)> = BTreeMap::new();
        a.iter().for_each(|&(line, cost)| lines.entry(line).or_default().0 = Some(cost));
        b.iter().for_each(|&(line, cost)| lines.entry(line).or_default().1 = Some(cost));
        let row = |(line, (a, b)): (&Line, (Option<u64>, Option<u64>))| {
            (a.map(|_| line.clone()), b.map(|_| line.clone()), difference(a, b))
        };
        return lines.into_iter().map(row).collect();
    }
    // Of alignments that differ as little, the best has most lines moved as far as the last one, or else as the first.
    let moved = |a: &Line, b: &Line| b.1.wrapping_sub(a.1);
    let ends = [a.last().zip(b.last()), a.first().zip(b.first())];
    let ends = ends.map(|pair| pair.map(|(a, b)| moved(a.0, b.0)));
    let pair = |i: usize, j: usize| {
        let (a, b) = a.get(i).zip(b.get(j))?;
        let rank = ends.iter().position(|&end| end == Some(moved(a.0, b.0))).unwrap_or(2);
        Some((a.1.abs_diff(b.1), rank as u32))
    };
    let width = b.len() + 1;
    let add = |to: (u64, u32), more: (u64, u32)| (to.0.saturating_add(more.0), to.1 + more.1);
    // What the rest of both costs at least, from each pair of lines on.
    let mut least = vec![(0u64, 0u32); (a.len() + 1) * width];
    for i in (0..=a.len()).rev() {
        for j in (0..=b.len()).rev() {
            let left = a.get(i).map(|line| add(least[(i + 1) * width + j], (line.1, 0)));
            let right = b.get(j).map(|line| add(least[i * width + j + 1], (line.1, 0)));
            let both = pair(i, j).map(|cost| add(least[(i + 1) * width + j + 1], cost));
            least[i * width + j] = [both, left, right].into_iter().flatten().min().unwrap_or_default();
        }
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        let best = Some(least[i * width + j]);
        if pair(i, j).map(|cost| add(least[(i + 1) * width + j + 1], cost)) == best {
            found.push((Some(a[i].0.clone()), Some(b[j].0.clone()), difference(Some(a[i].1), Some(b[j].1))));
            (i, j) = (i + 1, j + 1);
        } else if a.get(i).map(|line| add(least[(i + 1) * width + j], (line.1, 0))) == best {
            found.push((Some(a[i].0.clone()), None, -i128::from(a[i].1)));
            i += 1;
        } else {
            found.push((None, Some(b[j].0.clone()), i128::from(b[j].1)));
            j += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(functions: &[(&str, &[(u64, u64)])], calls: &[(&str, &str, u64, u64)]) -> Source {
        let mut source = Source::default();
        for (name, lines) in functions {
            let lines = lines.iter().map(|&(line, cost)| (("a.c".to_owned(), line), cost)).collect();
            source.functions.insert((*name).into(), Function { lines, ..Function::default() });
        }
        for &(from, to, calls, below) in calls {
            source.calls.insert((from.into(), to.into()), (calls, below));
        }
        source
    }

    #[test]
    fn lines_that_moved_cost_nothing() {
        let lines = |lines: &[(u64, u64)]| source(&[("f", lines)], &[]).functions["f"].clone();
        let at = |line: u64| Some(("a.c".to_owned(), line));
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
            let found: Vec<_> = align(&lines(a), &lines(b)).into_iter().filter(|line| line.2 != 0).collect();
            assert_eq!(found, expected, "{a:?} {b:?}");
        }
        // Functions of too many lines for that are still right.
        let many: Vec<(u64, u64)> = (1..3000).map(|line| (line, line)).collect();
        let mut more = many.clone();
        more[7].1 += 5;
        let sum: i128 = align(&lines(&many), &lines(&more)).iter().map(|line| line.2).sum();
        assert_eq!(sum, 5);
    }

    #[test]
    fn causes_are_named() {
        let a = source(
            &[("main", &[(1, 10)]), ("old", &[(5, 100)]), ("leaf", &[(9, 40)])],
            &[("main", "old", 1, 140), ("old", "leaf", 4, 40)],
        );
        let b = source(
            &[("main", &[(1, 10)]), ("new", &[(7, 100)]), ("leaf", &[(9, 50)])],
            &[("main", "new", 1, 150), ("new", "leaf", 5, 50)],
        );
        // A function that is called more often has other callees than before, and is not taken for the old one.
        assert!(
            Difference::of(std::slice::from_ref(&a), std::slice::from_ref(&b))
                .parts
                .iter()
                .all(|part| part.was.is_none())
        );
        let mut same = b.clone();
        same.calls.insert(("new".into(), "leaf".into()), (4, 50));
        let found = Difference::of(std::slice::from_ref(&a), &[same]);
        assert_eq!((found.total, found.parts.len(), found.parts[0].function.as_str()), (10, 1, "leaf"));
        let mut old = b.clone();
        let new = old.functions.remove("new").unwrap();
        old.functions.insert("old".into(), new);
        old.calls =
            [(("main".into(), "old".into()), (1, 150)), (("old".into(), "leaf".into()), (5, 50))].into();
        let mut other = a.clone();
        other.functions.get_mut("leaf").unwrap().lines.insert(("a.c".into(), 9), 41);
        let found = Difference::of(&[a, other], &[old]);
        let part = &found.parts[0];
        assert!(part.is_only_called() && part.varies && part.caller == Some(("old".into(), 1)), "{part:?}");
        let cause = Cause { caller: "old".into(), callee: "leaf".into(), calls: 1, below: Some(10) };
        assert_eq!(found.causes, [cause]);
    }

    #[test]
    fn causes_are_not_invented() {
        // One more cheap call beside a loop that has grown; a call whose cost is not known (0); and a call that goes away.
        let a = source(
            &[("main", &[(1, 10)]), ("loop", &[(5, 1000)]), ("fib", &[(9, 11)])],
            &[("main", "fib", 1, 0)],
        );
        let b = source(
            &[("main", &[(1, 10)]), ("loop", &[(5, 9000)]), ("fib", &[(9, 22)])],
            &[("main", "fib", 2, 0)],
        );
        let one = |of: &Source| vec![of.clone()];
        assert_eq!(Difference::of(&one(&a), &one(&b)).causes, []);
        let with_init = |of: &Source, calls, below| {
            let mut of = of.clone();
            of.calls.insert(("main".into(), "init".into()), (calls, below));
            of
        };
        let (more, fewer) = (with_init(&a, 4, 5000), with_init(&b, 2, 0));
        assert_eq!(Difference::of(&[more], &[fewer]).causes, [], "of the other sign");
        // Calls that vary between runs of one program, and runs that prove nothing.
        let (few, many) = (with_init(&b, 2, 2000), with_init(&b, 3, 4000));
        assert_eq!(Difference::of(&one(&a), &one(&many)).causes.len(), 1);
        assert_eq!(Difference::of(&one(&a), &[many.clone(), few]).causes, []);
        assert_eq!(Difference::of(&[a.clone(), b.clone()], &[many, a]).causes, []);
    }
}
