#!/usr/bin/env bash
# Is the code formatted, and has the compiler nothing to say? rustfmt, and clippy over the whole workspace, and over the core without
# any of its features. A warning fails, but with another compiler than the lints hold for, which may warn of something else.
# Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
deny=(-- -D warnings)
if ! other=$(ci/tools/compiler.sh rustc); then
    echo "SKIPPED failing on warnings: $other, which may warn of something else"
    deny=()
fi
passed=0 failed=0
check() {
    if "${@:2}"; then
        passed=$((passed + 1))
        echo "ok: $1"
    else
        failed=$((failed + 1))
        echo "FAILED: $1"
    fi
}
check "formatted" cargo fmt --all --check
check "clippy, everything" cargo clippy --workspace --all-targets --quiet "${deny[@]}"
check "clippy, the core without features" cargo clippy -p picollo-core --no-default-features --quiet "${deny[@]}"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
