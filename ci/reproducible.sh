#!/usr/bin/env bash
# Are builds reproducible? Builds the library twice, from copies of the sources in directories of different names and lengths, with
# different target directories, and compares the shared and the static library byte by byte.
# Ends with a line "N passed, N failed".
#
#   ci/reproducible.sh        two builds from nothing, without LTO's help from a cache: some minutes
#
# Paths would be the difference: of the sources, of the packages that cargo keeps, of the standard library. --remap-path-prefix
# gives them names that are the same everywhere; packagers can set RUSTFLAGS as this script does.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$PWD/target/reproducible
rm -rf "$work"
mkdir -p "$work"
cargo_home=${CARGO_HOME:-$HOME/.cargo}
build() {
    local place=$work/$1
    mkdir -p "$place"
    # What is in the tree, and no more: also what is not committed yet.
    git ls-files -z --cached --others --exclude-standard | xargs -0 tar -cf - 2>/dev/null | tar -xf - -C "$place"
    (
        cd "$place"
        export CARGO_TARGET_DIR=$work/$2 CFLAGS="-ffile-prefix-map=$place=."
        export RUSTFLAGS="--remap-path-prefix=$place=picollo --remap-path-prefix=$cargo_home=cargo"
        cargo build --quiet --locked --release -p picollo-ffi
    )
}
build a first-target
build somewhere-else-entirely/deeper second

passed=0 failed=0
for file in libpicollo.so libpicollo.a; do
    if cmp "$work/first-target/release/$file" "$work/second/release/$file"; then
        passed=$((passed + 1))
        echo "ok: $file is the same: $(sha256sum <"$work/second/release/$file" | cut -c1-16)..., $(stat -c %s "$work/second/release/$file") bytes"
    else
        failed=$((failed + 1))
        echo "FAILED: $file differs"
    fi
    # Nor is there a trace of where it was built.
    if grep -aoF -e "$work" -e "$cargo_home" "$work/second/release/$file" | sort | uniq -c | head -n 5 | grep .; then
        failed=$((failed + 1))
        echo "FAILED: $file names a directory of this machine"
    else
        passed=$((passed + 1))
        echo "ok: $file names no directory of this machine"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
