#!/usr/bin/env bash
# Is the shared library fit for programs that were built against an older one, and safe to load?
#
# 1. The file: it exports what the header declares and nothing else; the SONAME; no text relocations, full RELRO, no executable
#    stack, no run path, no segment that is both writable and executable, no foreign dependencies.
# 2. The interface: ffi/picollo.abi.json is compared with that of the newest tag v*. Additions pass, changes fail. `make lint`
#    compares headers, description and Rust code with each other; ci/tests plants changes that must be found.
#
#   ci/abi.sh [LIBRARY]     default: the library that ci/stage.sh stages (PICOLLO_STAGED=1: already staged)
#   ci/abi.sh semver        is the Rust interface of the libraries compatible? cargo-semver-checks compares the
#                           documented items with those of the newest tag v*, or of the commit in SEMVER_BASELINE
#
# Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."

semver() {
    local baseline packages package planted output passed=0 failed=0
    baseline=${SEMVER_BASELINE:-$(git tag --list 'v*' --sort=-version:refname | head -n 1)}
    if [ -z "$baseline" ]; then
        echo "SKIPPED: no release is tagged yet, so there is nothing to be compatible with (SEMVER_BASELINE=COMMIT compares with a commit)"
        exit 0
    fi
    PATH=$(ci/tools/cargo-tool.sh semver-checks 0.51.0):$PATH
    export PATH
    packages=$(ci/tools/packages.sh)
    while read -r package _; do
        if cargo semver-checks --package "$package" --baseline-rev "$baseline"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done <<<"$packages"

    # A check that cannot fail proves nothing: the same comparison must fail after a public function is renamed.
    planted=$PWD/target/semver
    rm -rf "$planted"
    mkdir -p "$planted"
    git ls-files -z --cached Cargo.toml Cargo.lock adapters benches core crates embedded ffi fuzz native | xargs -0 cp --parents -t "$planted"
    sed -i "s/pub const fn storage_index(/pub const fn storage_index_of(/" "$planted/core/src/layout/layout.rs"
    if output=$(cargo semver-checks --manifest-path "$planted/Cargo.toml" --package picollo-core --baseline-root "$PWD" 2>&1) ||
        ! grep -q 'storage_index' <<<"$output"; then
        failed=$((failed + 1))
        tail -n 20 <<<"$output"
        echo "FAILED: a function without its name was not found"
    else
        passed=$((passed + 1))
        echo "ok: a planted change, a function without its name, is found"
    fi
    echo "compared with $baseline:"
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
if [ "${1:-}" = semver ]; then
    semver
    exit
fi

work=$PWD/target/abi
mkdir -p "$work"
if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "SKIPPED: the checks read an ELF file for x86-64"
    exit 0
fi
python3 ffi/describe/description.py >"$work/functions"

library=${1:-target/stage/lib/libpicollo.so}
[ $# -gt 0 ] || [ "${PICOLLO_STAGED:-0}" = 1 ] || ci/stage.sh
. ci/tools/checks.sh

dynamic=$(readelf -dW "$library")
segments=$(readelf -lW "$library")
exported() { diff "$work/functions" <(nm -D --defined-only "$1" | awk '{ print $3 }' | LC_ALL=C sort); }
soname() { grep -q "SONAME.*\[libpicollo\.so\.$(ci/tools/abi-version.sh)\]" <<<"$dynamic" || { echo "$dynamic"; return 1; }; }
no_text_relocations() { ! grep 'TEXTREL' <<<"$dynamic"; }
full_relro() { grep -q 'GNU_RELRO' <<<"$segments" && grep -qE 'BIND_NOW|FLAGS_1.*NOW' <<<"$dynamic" || { echo "$segments"; return 1; }; }
stack() { grep 'GNU_STACK' <<<"$segments" | grep -q ' RW ' || { grep STACK <<<"$segments"; return 1; }; }
no_run_path() { ! grep -E 'RPATH|RUNPATH' <<<"$dynamic"; }
write_or_execute() { ! grep -E '^ *LOAD' <<<"$segments" | grep ' RWE '; }
# See docs/threads.md: the kernel keeps an address inside the library for threads that recorded per CPU.
stays_loaded() { grep -q 'FLAGS_1.*NODELETE' <<<"$dynamic" || { echo "$dynamic"; return 1; }; }
# Every other dependency burdens installation.
dependencies() { ! sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' <<<"$dynamic" | grep -vE '^(libc|libgcc_s|libm|ld-linux-x86-64)\.so\.[0-9]+$'; }

check "exports what the header declares, and only picollo_*" exported "$library"
check "SONAME" soname
check "no text relocations" no_text_relocations
check "full RELRO" full_relro
check "no executable stack" stack
check "no run path" no_run_path
check "nothing both writable and executable" write_or_execute
check "stays loaded after dlclose" stays_loaded
check "needs the C library and the unwinder only" dependencies

# Without an operating system, functions that need one return an error, and nothing of std is linked.
bare=target/embedded/libpicollo.so
needs_no_std() {
    ! nm -D --undefined-only "$bare" | awk '{ print $NF }' | sed 's/@.*//' |
        grep -vxE '__cxa_finalize|__gmon_start__|_ITM_.*|mem(cpy|set|move|cmp)|bcmp|strlen|__tls_get_addr'
}
check "builds without std" cargo build --quiet --locked --target-dir target --profile embedded -p picollo-ffi --no-default-features
check "without std: exports the same" exported "$bare"
explains() {
    ln -sf "$PWD/$bare" "$work/libpicollo.so.$(ci/tools/abi-version.sh)"
    gcc -std=c11 -Wall -Wextra -Werror -I include -I c-tests ci/targets/unsupported.c "$bare" "-Wl,-rpath,$work" -o "$work/unsupported" &&
        "$work/unsupported"
}
check "without std: explains what it lacks" explains
check "without std: needs memcpy and its like only" needs_no_std

release=$(git tag --list 'v*' --sort=-version:refname | head -n 1)
compatible() { git show "$release:ffi/picollo.abi.json" >"$work/release.json" && python3 ffi/describe/compatible.py "$work/release.json" ffi/picollo.abi.json; }
if [ -z "$release" ]; then
    echo "SKIPPED: no release is tagged yet, so there is no interface to be compatible with"
else
    before=$failed
    check "the interface is compatible with $release" compatible
    if [ "$failed" -gt "$before" ]; then
        echo "A program that was built against $release would notice. Add a function, struct or constant beside the old one instead,"
        echo "or raise PICOLLO_ABI_VERSION, and with it the SONAME (docs/abi.md)."
    fi
fi
finish
