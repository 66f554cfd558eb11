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

. ci/tools/checks.sh

# build NAME FLAGS... SOURCES...
build() { "${compiler[@]}" "${cflags[@]}" "${@:2}" -o "$out/$1" "${libs[@]}" -lpthread; }
# A program that ended early has no last line.
run() {
    local text
    text=$("${memcheck[@]}" "$out/$1" 2>&1)
    echo "$text"
    [[ $text == *" 0 failed" ]]
}
build_and_run() { build "$@" && run "$1"; }
mixed() {
    "${compiler[@]}" "${cflags[@]}" -fno-exceptions -DMIXED_RESULTS -c c-tests/cpp_mixed.cpp -o "$out/mixed_results.o" &&
        build_and_run mixed c-tests/cpp_mixed.cpp "$out/mixed_results.o"
}
# The clock is read in the innermost code: it must not wait for an initialization, or check for one.
no_guard() {
    nm -u "$out/cpp_perf_$1" >"$out/undefined.txt" && grep -q picollo_clock_ticks "$out/undefined.txt" && ! grep __cxa_guard "$out/undefined.txt"
}
every_function_is_called() {
    local source name
    rm -rf "$out/called"
    mkdir "$out/called"
    for source in c-tests/cpp_*.cpp "$out/docs_exceptions.cpp"; do
        name=$(basename "$source" .cpp)
        [ "$name" = cpp_mixed ] ||
            { build "called/$name" -O0 --coverage -fkeep-inline-functions "$source" && "$out/called/$name" >/dev/null; } || true
    done
    python3 c-tests/cpp_called.py "$out/called"
}
alone() { "${compiler[@]}" "${cflags[@]}" -fsyntax-only -x c++ - <<<"#include <$1>"; }

for kind in exceptions results; do
    flags=()
    [ $kind = results ] && flags=(-fno-exceptions)
    python3 c-tests/cpp_snippets.py $kind docs/measure-latency.md docs/languages/cpp.md docs/coming-from.md docs/llms.txt docs/export.md >"$out/docs_$kind.cpp"
    for source in c-tests/cpp_*.cpp "$out/docs_$kind.cpp"; do
        name=$(basename "$source" .cpp)
        [ "$name" = cpp_mixed ] || check "$name, $kind" build_and_run "${name%"_$kind"}_$kind" "${flags[@]}" "$source"
    done
    check "no static that is initialized at its first use, $kind" no_guard $kind
done
check "translation units with and without exceptions" mixed
if [ "${CXX:-g++}${SANITIZE:-}${1:-}" = g++ ]; then check "a test calls every function of the headers" every_function_is_called; fi
for header in include/*.hpp; do
    check "$(basename "$header") compiles alone" alone "$(basename "$header")"
done
finish
