#!/usr/bin/env bash
# Is the shared library fit for programs that were built against an older one, and safe to load?
#
# 1. Of the file itself: it exports what the header declares and nothing else; the SONAME; no text relocations, full RELRO, no
#    executable stack, no run path, no segment that is both writable and executable, no foreign dependencies.
# 2. Of the interface, against ci/abi/baseline.abi (functions, types, sizes, by abidiff) and ci/abi/constants.txt: additions pass,
#    changes fail. What is compared is what a C compiler makes of picollo.h and of its description, ffi/picollo.abi.json, which
#    have to agree; that both are what the Rust code exports is a test of picollo-ffi.
# 3. That the comparison can fail: planted changes must be found.
#
#   ci/abi.sh [LIBRARY]     default: the library that ci/stage.sh stages (PICOLLO_STAGED=1: that is there already)
#   ci/abi.sh --write       makes the interface as it is the baseline
#   ci/abi.sh semver        does the Rust interface of picollo-core and picollo-native stay compatible? Compares the documented items
#                           with those of the newest tag v*, or of the commit in SEMVER_BASELINE; without either there is no release
#                           to be compatible with, and that is what it says. cargo-semver-checks does the comparing
#
# Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."

semver() {
    local baseline tools package planted output passed=0 failed=0
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
    for package in picollo-core picollo-native; do
        if cargo semver-checks --package $package --baseline-rev "$baseline"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done

    # A check that cannot fail proves nothing: the same comparison when a public function has lost its name.
    planted=$PWD/target/semver
    rm -rf "$planted"
    mkdir -p "$planted"
    git ls-files -z --cached Cargo.toml Cargo.lock core native ffi benches | xargs -0 cp --parents -t "$planted"
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
baseline=ci/abi/baseline.abi
constants=ci/abi/constants.txt
mkdir -p "$work"
if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "SKIPPED: the baseline is that of x86-64 Linux"
    exit 0
fi

if ! command -v abidiff >/dev/null; then
    tools=$(ci/tools/debian.sh abigail)
    abidiff() { LD_LIBRARY_PATH=$tools/usr/lib/x86_64-linux-gnu "$tools/usr/bin/abidiff" "$@"; }
    abidw() { LD_LIBRARY_PATH=$tools/usr/lib/x86_64-linux-gnu "$tools/usr/bin/abidw" "$@"; }
fi

# interface OUTPUT [WITNESS'S ARGUMENTS]: what a compiler makes of the interface. No places on this machine, no lines.
interface() {
    python3 ci/abi/witness.py "${@:2}" >"$work/witness.c" || return 1
    gcc -std=c11 -g -shared -fPIC -I include -fdebug-prefix-map="$work"=. -Wl,-soname,libpicollo.so.0 \
        "$work/witness.c" -o "$work/witness.so" || return 1
    abidw --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed --type-id-style hash \
        "$work/witness.so" | sed "s| path='[^']*'| path='picollo.h'|" >"$1"
}

if [ "${1:-}" = --write ]; then
    interface "$baseline"
    python3 ci/abi/witness.py --constants >"$constants"
    echo "written: $baseline, $constants"
    exit 0
fi

library=${1:-target/stage/lib/libpicollo.so}
[ $# -gt 0 ] || [ "${PICOLLO_STAGED:-0}" = 1 ] || ci/stage.sh
passed=0 failed=0
check() {
    if "${@:2}" >"$work/log.txt" 2>&1; then
        passed=$((passed + 1))
        echo "ok: $1"
    else
        failed=$((failed + 1))
        cat "$work/log.txt"
        echo "FAILED: $1"
    fi
}

dynamic=$(readelf -dW "$library")
segments=$(readelf -lW "$library")
exported() { diff c-tests/exports.txt <(nm -D --defined-only "$1" | awk '{ print $3 }' | LC_ALL=C sort); }
soname() { grep -q 'SONAME.*\[libpicollo\.so\.0\]' <<<"$dynamic" || { echo "$dynamic"; return 1; }; }
no_text_relocations() { ! grep 'TEXTREL' <<<"$dynamic"; }
full_relro() { grep -q 'GNU_RELRO' <<<"$segments" && grep -qE 'BIND_NOW|FLAGS_1.*NOW' <<<"$dynamic" || { echo "$segments"; return 1; }; }
stack() { grep 'GNU_STACK' <<<"$segments" | grep -q ' RW ' || { grep STACK <<<"$segments"; return 1; }; }
no_run_path() { ! grep -E 'RPATH|RUNPATH' <<<"$dynamic"; }
write_or_execute() { ! grep -E '^ *LOAD' <<<"$segments" | grep ' RWE '; }
# See docs/threads.md: threads that recorded by CPU have left an address inside it with the kernel.
stays_loaded() { grep -q 'FLAGS_1.*NODELETE' <<<"$dynamic" || { echo "$dynamic"; return 1; }; }
# Anything else that it needs is somebody's burden at installation.
dependencies() { ! sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' <<<"$dynamic" | grep -vE '^(libc|libgcc_s|libm|ld-linux-x86-64)\.so\.[0-9]+$'; }

check "what is generated from the description is fresh" python3 ci/describe/generate.py --check
check "exports what the header declares, and only picollo_*" exported "$library"
check "SONAME" soname
check "no text relocations" no_text_relocations
check "full RELRO" full_relro
check "no executable stack" stack
check "no run path" no_run_path
check "nothing both writable and executable" write_or_execute
check "stays loaded after dlclose" stays_loaded
check "needs the C library and the unwinder only" dependencies

# Where there is no operating system, functions that need one refuse; and nothing of std comes along.
bare=target/embedded/libpicollo.so
needs_no_std() {
    ! nm -D --undefined-only "$bare" | awk '{ print $NF }' | sed 's/@.*//' |
        grep -vxE '__cxa_finalize|__gmon_start__|_ITM_.*|mem(cpy|set|move|cmp)|bcmp|strlen|__tls_get_addr'
}
check "builds without std" cargo build --quiet --locked --target-dir target --profile embedded -p picollo-ffi --no-default-features
check "without std: exports the same" exported "$bare"
check "without std: needs memcpy and its like only" needs_no_std

# compare OLD NEW: additions are fine.
compare() { abidiff --no-added-syms --harmless "$1" "$2"; }
# compare_constants OLD NEW
compare_constants() {
    local lost
    lost=$(comm -23 <(sort "$1") <(sort "$2"))
    [ -z "$lost" ] || { printf 'changed or gone:\n%s\n' "$lost"; return 1; }
}

interface "$work/now.abi"
python3 ci/abi/witness.py --constants >"$work/now.txt"
before=$failed
check "functions and types are compatible with the baseline" compare "$baseline" "$work/now.abi"
check "constants are compatible with the baseline" compare_constants "$constants" "$work/now.txt"
if [ "$failed" -gt "$before" ]; then
    cat <<'END'

The interface has changed in a way that programs built against the old header would notice.
- Was it on purpose? If not, add a new function, struct or constant beside the old one instead: frozen structs do not grow, numbers
  are not reused, options structs grow at their end only (docs/abi.md).
- Before the first release, or for fields appended to an options struct: run ci/abi.sh --write, and commit the baseline with the
  change and a line in CHANGELOG.md marked (breaking) where it is.
- After the first release, a change that breaks programs also raises PICOLLO_ABI_VERSION and the SONAME (docs/abi.md).

END
elif ! cmp -s "$baseline" "$work/now.abi" || ! cmp -s "$constants" "$work/now.txt"; then
    echo "note: something was added since the baseline; ci/abi.sh --write takes it in"
fi

# Without the header, so that changes can be planted in the description.
alone() {
    interface "$work/alone.abi" --alone || return 1
    compare "$work/now.abi" "$work/alone.abi" && compare "$work/alone.abi" "$work/now.abi"
}
check "the description says what the header says" alone

# planted SED: with the description changed so, the comparison must fail.
planted() {
    sed "$1" ffi/picollo.abi.json >"$work/planted.json"
    if cmp -s ffi/picollo.abi.json "$work/planted.json"; then
        echo "the planted change is none any more: $1"
        return 1
    fi
    interface "$work/planted.abi" --alone "$work/planted.json" || return 1
    python3 ci/abi/witness.py --constants "$work/planted.json" >"$work/planted.txt"
    # The other way round, the interface of now is the old one.
    ! { compare "$work/now.abi" "$work/planted.abi" && compare_constants "$work/now.txt" "$work/planted.txt"; }
}
find_planted() { check "a planted change is found: $1" planted "$2"; }
find_planted "a parameter wider" '/"picollo_clock_frequency"/,/\]}/s/"clock", "type": "uint32_t"/"clock", "type": "uint64_t"/'
find_planted "another type returned" '/"name": "picollo_clock_ticks"/s/"returns": "uint64_t"/"returns": "uint32_t"/'
find_planted "a function gone" '/"name": "picollo_abi_version"/d'
find_planted "a field narrower" '/"name": "picollo_counts"/,/\]}/s/"lost", "type": "uint64_t"/"lost", "type": "uint32_t"/'
find_planted "a constant renumbered" '/"PICOLLO_ERR_BUSY"/s/"expression": "(-14)"/"expression": "(-16)"/'
# And what is allowed passes.
added() {
    sed '/"name": "picollo_abi_version"/{p;s/picollo_abi_version/picollo_added/}' ffi/picollo.abi.json >"$work/planted.json"
    interface "$work/planted.abi" --alone "$work/planted.json" || return 1
    grep -q picollo_added "$work/planted.abi" && compare "$work/now.abi" "$work/planted.abi"
}
check "an added function passes" added

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
