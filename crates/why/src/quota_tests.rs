//! Tests reading `cpu.stat` in both versions, and what it means for an observation.

use std::path::PathBuf;

use super::*;

/// Groups in a directory.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Tree {
        let path = std::env::temp_dir().join(format!("picollo-groups-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Tree(path)
    }

    fn write(&self, group: &str, text: &str) {
        let folder = self.0.join(group);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("cpu.stat"), text).unwrap();
    }

    fn open(&self, group: &str) -> Option<Cgroup> {
        let mounts = format!("30 22 0:26 / {} rw,nosuid - cgroup2 cgroup2 rw\n", self.0.display());
        Cgroup::from_groups(&Groups::find("cpu", format!("0::/{group}\n").as_bytes(), mounts.as_bytes())?)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const COUNTED: &str = "usage_usec 77\nnr_periods 100\nnr_throttled 7\nthrottled_usec 1234\nnr_bursts 0\n";
const UNCOUNTED: &str = "usage_usec 77\nuser_usec 50\nsystem_usec 27\n";

#[test]
fn groups_above_count_too() {
    let tree = Tree::new("above");
    tree.write("app.slice/web.service", UNCOUNTED);
    tree.write("app.slice", COUNTED);
    tree.write("", "nr_throttled 1\n");
    let cgroup = tree.open("app.slice/web.service").unwrap();
    assert_eq!((cgroup.0.len(), cgroup.throttled(), cgroup.throttled()), (2, Some(8), Some(8)));
    // The file is read again each time.
    tree.write("app.slice", "nr_periods 10\nnr_throttled 2\nthrottled_time 5999\n");
    assert_eq!(cgroup.throttled(), Some(3));
    // A missing number is not 0.
    for text in
        [UNCOUNTED, "", "nr_throttled x\n", "nr_throttled 99999999999999999999\n", "nr_throttled\n", "\u{7f}"]
    {
        tree.write("app.slice", text);
        assert_eq!(cgroup.throttled(), None, "{text}");
    }
    // Groups without counts are left out.
    assert!(tree.open("app.slice").is_some());
    tree.write("", UNCOUNTED);
    assert!(tree.open("app.slice").is_none() && tree.open("../x").is_none());
}

/// If a tree has more groups than are read, the nearest ones are used.
#[test]
fn the_nearest_groups_are_read() {
    let tree = Tree::new("nearest");
    for depth in 0..=10 {
        let path: String = (1..=depth).map(|at| format!("{at}/")).collect();
        tree.write(&path, &format!("nr_throttled {}\n", 1 << depth));
    }
    let cgroup = tree.open("1/2/3/4/5/6/7/8/9/10").unwrap();
    assert_eq!(cgroup.throttled(), Some(0b111_1111_1000));
}

#[test]
fn growth_is_reported_for_each_possible_window() {
    Clock::init();
    let mut quota =
        Quota { group: None, throttled: None, read: 0, is_readable: false, grown: Growth::default() };
    assert_eq!(quota.within(0, 10), None, "unreadable is not none");
    let t = 1_000_000;
    quota.update(Some(5), t);
    assert_eq!(
        quota.within(0, 2 * t),
        Some((0, false)),
        "what was before the first look is not known to be new"
    );
    quota.update(Some(5), 2 * t);
    quota.update(Some(7), 3 * t);
    // If the first reading was within, all growth was. If it was before, perhaps. If both were outside: none.
    assert_eq!(quota.within(2 * t - 5, 3 * t - 5), Some((2, true)));
    assert_eq!(quota.within(2 * t + 5, 3 * t - 5), Some((2, false)));
    assert_eq!(quota.within(t, 2 * t), Some((0, false)));
    assert_eq!(quota.within(3 * t, 4 * t), Some((0, false)));
    // The observation waited to be taken in, and ended long before the reading.
    assert_eq!(quota.within(2 * t - 5, 3 * t - t / 2), Some((2, false)));
    quota.update(None, 4 * t);
    assert_eq!(quota.within(2 * t + 5, 3 * t), None);
    // The growth may have been at any time between the readings.
    quota.update(Some(9), 5 * t);
    assert_eq!(quota.within(4 * t + 5, 5 * t), Some((2, false)));
}
