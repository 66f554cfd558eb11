//! Where groups are found: containers, both versions, names with spaces, and groups that are not visible.

use proptest::prelude::*;

use super::*;

/// The files that are tried, nearest first.
fn found(cgroup: &str, mountinfo: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    Groups::find("cpu", cgroup.as_bytes(), mountinfo.as_bytes()).map(|places| {
        places.each("/cpu.stat", |file| found.push(file.to_str().unwrap().to_owned()));
        found
    })
}

fn list(files: &[&str]) -> Option<Vec<String>> {
    Some(files.iter().map(|file| (*file).to_owned()).collect())
}

const V2: &str = "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

#[test]
fn version_2() {
    let service = [
        "/sys/fs/cgroup/system.slice/web.service/cpu.stat",
        "/sys/fs/cgroup/system.slice/cpu.stat",
        "/sys/fs/cgroup/cpu.stat",
    ];
    assert_eq!(found("0::/system.slice/web.service\n", V2), list(&service));
    // A container with a separate namespace.
    assert_eq!(found("0::/\n", V2), list(&["/sys/fs/cgroup/cpu.stat"]));
    assert_eq!(found("0::/", V2.trim_end()), list(&["/sys/fs/cgroup/cpu.stat"]));
    // Optional fields: none, and several.
    for optional in ["", "shared:4 master:1 "] {
        let line = format!("30 22 0:26 / /cg rw {optional}- cgroup2 none rw\n");
        assert_eq!(found("0::/a\n", &line), list(&["/cg/a/cpu.stat", "/cg/cpu.stat"]));
    }
}

#[test]
fn version_1() {
    let mounts = "33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n\
                  34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
                  32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                  41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    let groups = "9:name=systemd:/\n3:cpuset:/x\n2:cpuacct:/y\n1:cpu:/batch\n0::/z\n";
    assert_eq!(
        found(groups, mounts),
        list(&["/sys/fs/cgroup/cpu/batch/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"])
    );
    // Several controllers in one tree, a container without a namespace: the mount's root is the path's beginning.
    let mounts =
        "32 31 0:29 /docker/1f /sys/fs/cgroup/cpu,cpuacct ro master:9 - cgroup cgroup rw,cpu,cpuacct\n";
    assert_eq!(found("4:cpu,cpuacct:/docker/1f\n", mounts), list(&["/sys/fs/cgroup/cpu,cpuacct/cpu.stat"]));
    let file = ["/sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "/sys/fs/cgroup/cpu,cpuacct/cpu.stat"];
    assert_eq!(found("4:cpu,cpuacct:/docker/1f/a\n", mounts), list(&file));
    // Both, and the controller in the common tree.
    assert_eq!(
        found("4:cpuset:/a\n0::/b\n", V2),
        list(&["/sys/fs/cgroup/b/cpu.stat", "/sys/fs/cgroup/cpu.stat"])
    );
    // A line for a controller that is mounted nowhere.
    assert_eq!(found("4:cpu:/\n0::/\n", V2), list(&["/sys/fs/cgroup/cpu.stat"]));
}

#[test]
fn no_other_group_is_taken() {
    let below = V2.replace(" / /sys", " /docker/1f /sys");
    for path in "/ /docker /docker/1 /docker/1fe /docker/1e/x /../../docker/1f /docker/1f/../x x".split(' ') {
        assert_eq!(found(&format!("0::{path}\n"), &below), None, "{path}");
    }
    assert_eq!(found("0::/../a\n", V2), None);
    for (cgroup, mounts) in
        [("", V2), ("0::/\n", ""), ("1:cpu\n", V2), ("nonsense\n\n:::\n", V2), ("0::/\n", "a b c\n - - -\n")]
    {
        assert_eq!(found(cgroup, mounts), None, "{cgroup}");
    }
}

/// If several mounts share a place, the last one is visible.
#[test]
fn the_last_mount_is_the_one() {
    let mounts = format!(
        "{V2}50 30 0:99 / /elsewhere rw - cgroup2 cgroup2 rw\n51 30 0:99 /other /other rw - cgroup2 cgroup2 rw\n"
    );
    assert_eq!(found("0::/\n", &mounts), list(&["/elsewhere/cpu.stat"]));
}

#[test]
fn names_are_unescaped() {
    let mounts = "30 22 0:26 /my\\040pod /sys/fs/c\\011g\\134x rw - cgroup2 cgroup2 rw\n";
    assert_eq!(
        found("0::/my pod/a\n", mounts),
        list(&["/sys/fs/c\tg\\x/a/cpu.stat", "/sys/fs/c\tg\\x/cpu.stat"])
    );
    let mounts = "30 22 0:26 / /sys\\0 rw - cgroup2 cgroup2 rw\n";
    assert_eq!(found("0::/\n", mounts), list(&["/sys\\0/cpu.stat"]));
}

/// Hosts of containers have hundreds of lines of many kilobytes.
#[test]
fn long_lines_are_passed_over() {
    let long = format!("1 1 0:1 / /var/lib rw - overlay overlay rw,lowerdir={}\n", "x".repeat(20_000));
    assert_eq!(found("0::/\n", &format!("{long}{V2}{long}{long}")), list(&["/sys/fs/cgroup/cpu.stat"]));
    assert_eq!(found(&format!("0::/{}\n", "y".repeat(600)), V2), None);
    // This path fits, but not with the file's name after it. The group above it is still visible.
    let long = format!("0::/a/{}\n", "y".repeat(360));
    assert_eq!(found(&long, V2), list(&["/sys/fs/cgroup/a/cpu.stat", "/sys/fs/cgroup/cpu.stat"]));
}

proptest! {
    #[test]
    fn any_text_is_survived(cgroup in "[0-9:a-z/,\n ]{0,60}|0::/[a-c/.]{0,9}\n", mounts in "[0-9a-z/,\n\\\\ -]{0,120}|30 22 0:26 /[a-c]{0,2} /[a-c]{0,3} rw - cgroup2 [a-z ]{0,5}\n") {
        for file in found(&cgroup, &mounts).unwrap_or_default() {
            prop_assert!(file.ends_with("/cpu.stat"));
        }
    }
}
