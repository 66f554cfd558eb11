#!/usr/bin/env bash
# Does the Rust interface of picollo-core stay compatible? Compares the documented items of the tree with those of the newest tag
# v*, or of the commit in SEMVER_BASELINE; without either there is no release to be compatible with, and that is what it says.
# cargo-semver-checks does the comparing. Ends with a summary line.
set -euo pipefail
cd "$(dirname "$0")/.."

baseline=${SEMVER_BASELINE:-$(git tag --list 'v*' --sort=-version:refname | head -n 1)}
if [ -z "$baseline" ]; then
    echo "SKIPPED: no release is tagged yet, so there is nothing to be compatible with (SEMVER_BASELINE=COMMIT compares with a commit)"
    exit 0
fi
tools=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/tools
export PATH=$tools/bin:$PATH
if ! command -v cargo-semver-checks >/dev/null; then
    echo "compiling cargo-semver-checks, once"
    CARGO_TARGET_DIR=$tools/build CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off \
        cargo install cargo-semver-checks --locked --quiet --root "$tools"
    rm -rf "$tools/build"
fi
passed=0 failed=0
for package in picollo-core picollo-native; do
    if cargo semver-checks --package $package --baseline-rev "$baseline"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done

# A check that cannot fail proves nothing: the same comparison when a public function has lost its name.
planted=$PWD/target/semver
rm -rf "$planted"
mkdir -p "$planted"
git ls-files -z --cached Cargo.toml Cargo.lock core native ffi benches | xargs -0 cp --parents -t "$planted"
sed -i "s/pub const fn storage_index(/pub const fn storage_index_of(/" "$planted/core/src/layout.rs"
if output=$(cargo semver-checks --manifest-path "$planted/Cargo.toml" --package picollo-core --baseline-root "$PWD" 2>&1) ||
    ! grep -q 'storage_index' <<<"$output"; then
    failed=$((failed + 1))
    tail -n 20 <<<"$output"
    echo "FAILED: a function without its name was not found"
else
    passed=$((passed + 1))
    echo "ok: a planted change, a function without its name, is found"
fi
echo "compared with $baseline: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
