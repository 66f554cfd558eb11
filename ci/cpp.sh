#!/usr/bin/env bash
# The tests of picollo.hpp and the code in docs/languages/cpp.md and docs/coming-from.md, on a staged tree, with and without
# exceptions.
#
#   ci/cpp.sh                 compile and run; the last line is "N passed, N failed"
#   ci/cpp.sh --valgrind      the same under memcheck
#   CXX=clang++ ci/cpp.sh     with another compiler; SANITIZE=address,undefined with sanitizers
#
# The tree is target/stage, or the directory in STAGE.
set -euo pipefail
cd "$(dirname "$0")/.."

stage=$(realpath -m "${STAGE:-target/stage}")
[ -e "$stage/lib/libpicollo.so" ] || ci/stage.sh
out=target/cpp-tests
mkdir -p "$out"
export PKG_CONFIG_PATH=$stage/lib/pkgconfig LD_LIBRARY_PATH=$stage/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

compiler=("${CXX:-g++}" -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -O2 -g -I c-tests)
[ -n "${SANITIZE:-}" ] && compiler+=("-fsanitize=$SANITIZE")
read -ra cflags <<<"$(pkg-config --cflags picollo)"
read -ra libs <<<"$(pkg-config --libs picollo)"
memcheck=()
# Sessions are refused under memcheck, unless their code is the test.
[ "${1:-}" = --valgrind ] && export PICOLLO_PERF_UNDER_VALGRIND=1 && memcheck=(valgrind -q --error-exitcode=9 --leak-check=full)

passed=0 failed=0
add() { passed=$((passed + $1)) failed=$((failed + $2)); }

# build NAME FLAGS... SOURCES...
build() {
    "${compiler[@]}" "${cflags[@]}" "${@:2}" -o "$out/$1" "${libs[@]}" -lpthread && return
    echo "FAILED $1 does not compile"
    add 0 1
    return 1
}

run() {
    local text
    text=$("${memcheck[@]}" "$out/$1" 2>&1) || true
    local last
    last=$(tail -n 1 <<<"$text")
    # Other output of a program matters only if it fails.
    if [[ $last == *" 0 failed" ]]; then
        grep '^SKIPPED' <<<"$text" || true
        echo "$1: $last"
    else
        echo "$1: $text"
    fi
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        add "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    else
        echo "FAILED $1 did not come to an end"
        add 0 1
    fi
}

for kind in exceptions results; do
    flags=()
    [ $kind = results ] && flags=(-fno-exceptions)
    python3 c-tests/cpp_snippets.py $kind docs/measure-latency.md docs/languages/cpp.md docs/coming-from.md docs/llms.txt docs/export.md >"$out/docs_$kind.cpp"
    for source in c-tests/cpp_*.cpp; do
        name=$(basename "$source" .cpp)
        [ "$name" != cpp_mixed ] || continue
        if build "${name}_$kind" "${flags[@]}" "$source"; then run "${name}_$kind"; fi
    done
    if build docs_$kind "${flags[@]}" "$out/docs_$kind.cpp"; then run docs_$kind; fi
done
if "${compiler[@]}" "${cflags[@]}" -fno-exceptions -DMIXED_RESULTS -c c-tests/cpp_mixed.cpp -o "$out/mixed_results.o" \
    && build mixed c-tests/cpp_mixed.cpp "$out/mixed_results.o"; then
    run mixed
else
    add 0 1
fi
# The clock is read in the innermost code: it must not wait for an initialization, or check for one.
for kind in exceptions results; do
    if [ -e "$out/cpp_perf_$kind" ] && nm -u "$out/cpp_perf_$kind" >"$out/undefined.txt" \
        && grep -q picollo_clock_ticks "$out/undefined.txt" && ! grep __cxa_guard "$out/undefined.txt"; then
        add 1 0
    else
        echo "FAILED cpp_perf_$kind has a static that is initialised at its first use"
        add 0 1
    fi
done
# A test calls every function of the headers.
if [ "${CXX:-g++}${SANITIZE:-}${1:-}" = g++ ]; then
    rm -rf "$out/called"
    mkdir "$out/called"
    for source in c-tests/cpp_*.cpp "$out/docs_exceptions.cpp"; do
        name=$(basename "$source" .cpp)
        [ "$name" = cpp_mixed ] ||
            { build "called/$name" -O0 --coverage -fkeep-inline-functions "$source" && "$out/called/$name" >/dev/null; } || true
    done
    if python3 c-tests/cpp_called.py "$out/called"; then add 1 0; else add 0 1; fi
fi
# Compiles each header alone.
for header in include/*.hpp; do
    if "${compiler[@]}" "${cflags[@]}" -fsyntax-only -x c++ - <<<"#include <$(basename "$header")>"; then add 1 0; else add 0 1; fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
