#!/usr/bin/env bash
# Does the distribution work elsewhere? Tests the output of packaging/dist.sh in an empty directory: the required C library;
# the tarball after a move, with pkg-config and CMake, shared and static, gcc and clang; the command; the wheel in an
# empty environment with its tests; and the instruction budgets of the hot paths. Ends with a line "N passed, N failed".
#
#   ci/dist/test.sh [DIRECTORY]      default: target/dist; everything except the instructions, which take minutes
#   ci/dist/test.sh instructions     only those, of target/dist
#   ci/dist/test.sh twice            the same bytes from copies of the sources in two directories? Takes some minutes
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
tools=$(packaging/portable.sh)

. ci/tools/checks.sh

if [ "${1:-}" = twice ]; then
    work=$PWD/target/dist-twice
    rm -rf "$work"
    build() {
        mkdir -p "$work/$1"
        git ls-files -z --cached --others --exclude-standard | xargs -0 tar -cf - | tar -xf - -C "$work/$1"
        SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) "$work/$1/packaging/dist.sh" "$work/$2" >/dev/null
    }
    build a first
    build somewhere-else-entirely/deeper second
    for file in "$work"/first/picollo-*.{tar.gz,whl}; do
        check "$(basename "$file") is the same twice" cmp "$file" "$work/second/$(basename "$file")"
    done
    # There is no trace of the build directory either.
    names_no_place() { ! grep -rlaF -e "$work/somewhere" -e "${CARGO_HOME:-$HOME/.cargo}" "$work"/second/picollo-*/lib; }
    check "no library names a directory of this machine" names_no_place
    finish
    exit
fi

only=""
if [ "${1:-}" = instructions ]; then only=$1 && shift; fi
out=$(realpath -m "${1:-target/dist}")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=picollo-$version-linux-$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Moved after it was unpacked.
mkdir "$work/unpacked"
tar -C "$work/unpacked" -xzf "$out/$name.tar.gz"
mv "$work/unpacked/$name" "$work/moved here"
tree="$work/moved here"
cd "$work"
unset LD_LIBRARY_PATH PYTHONPATH PICOLLO_LIBRARY PKG_CONFIG_PATH

wants() {
    local file highest
    for file in "$@"; do
        highest=$(readelf -VW "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
        echo "$file: $highest"
        [ "$(printf '%s\n' "$highest" GLIBC_2.17 | sort -V | tail -n 1)" = GLIBC_2.17 ] || return 1
        # Only the C library's own libraries.
        ! readelf -dW "$file" | grep NEEDED | grep -vE '\[(lib(m|c|pthread|dl|rt)\.so\.[0-9]|ld-linux-.*)\]' || return 1
    done
}
is_told_apart() { ! wants "$root/target/stage/lib/libpicollo.so"; }
loads_as_it_should() {
    local dynamic
    dynamic=$(readelf -dW "$tree/lib/libpicollo.so")
    grep -q "SONAME.*\[libpicollo\.so\.$("$root/ci/tools/abi-version.sh")\]" <<<"$dynamic" &&
        grep -q NODELETE <<<"$dynamic" &&
        grep -q STATIC_TLS <<<"$dynamic" &&
        # Only the header's functions are exported.
        nm -D --defined-only "$tree/lib/libpicollo.so" | awk '{ sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u |
        diff - <(python3 "$root/ffi/describe/description.py")
}
objects() {
    # Every linker can read each object; none is bitcode.
    mkdir -p objects && (cd objects && ar x "$tree/lib/libpicollo.a") &&
        [ -z "$(find objects -type f -exec sh -c 'head -c 4 "$1" | grep -qa ELF || echo "$1"' _ {} \;)" ]
}
example() { sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '/^```/d' >example.c; }
by_pkg_config() {
    local flags
    example && export PKG_CONFIG_PATH="$tree/lib/pkgconfig" && eval "flags=($(pkg-config --cflags --libs picollo))" &&
        gcc example.c -o shared "${flags[@]}" "-Wl,-rpath,$tree/lib" && LD_BIND_NOW=1 ./shared
}
static_by() {
    # clang and gcc find gcc_s; zig's clang has its own.
    example && "$@" -I"$tree/include" example.c "$tree/lib/libpicollo.a" -o static -lpthread -lm -ldl && ./static &&
        ! readelf -dW static | grep -q picollo
}
command_runs() {
    [ "$("$tree/bin/picollo" --version)" = "picollo $version" ] && "$tree/bin/picollo" list
}
wheel_is_for_many() {
    "$tools/bin/auditwheel" show "$out"/picollo-*.whl | tr '\n' ' ' | grep -q "consistent with *the following platform tag: \"manylinux_2_17_$(uname -m)\""
}
wheel_works() {
    python3 -m venv venv &&
        venv/bin/pip --disable-pip-version-check install -q --no-index "$out"/picollo-*.whl &&
        venv/bin/python -I "$root/ci/install/wheel.py" &&
        venv/bin/picollo list && venv/bin/python -m picollo --version
}
# The tests that need only the package, away from the sources.
wheel_passes() {
    mkdir -p elsewhere/tests && local file
    for file in conftest test_batch test_clock test_counter test_errors test_log \
        test_picture test_recording test_segment test_snapshot test_summary test_timing; do
        cp "$root/python/tests/$file.py" elsewhere/tests/ || return 1
    done
    venv/bin/pip --disable-pip-version-check install -q -c "$root/python/requirements-test.txt" pytest hypothesis numpy &&
        cd elsewhere && ../venv/bin/python -m pytest -q -p no:cacheprovider tests
}
instructions() { cd "$root" && STAGE=$out/$name PICOLLO_STAGED=1 ci/cost.sh; }

mkdir unzipped && python3 -m zipfile -e "$out"/picollo-*.whl unzipped
if [ "$only" = instructions ]; then
    check "the instructions of the hot paths" instructions
    finish
    exit
fi
check "glibc 2.17 and nothing besides is wanted" wants "$tree/lib/libpicollo.so" "$tree/bin/picollo" unzipped/picollo/*.so \
    unzipped/picollo/bin/picollo "$out"/nuget/runtimes/*/native/*
if [ -e "$root/target/stage/lib/libpicollo.so" ]; then
    check "a library for this machine alone is told apart" is_told_apart
fi
check "checksums" sh -c "cd '$out' && sha256sum -c SHA256SUMS"
check "SONAME, NODELETE, thread-local storage, exports" loads_as_it_should
check "the static library is of objects for any linker" objects
check "the tarball by pkg-config, bound at once" by_pkg_config
check "the static library by gcc" static_by gcc
check "the static library by clang (zig's)" static_by "$tools/bin/zig-cc" -lunwind
check "the tarball by CMake" cmake_project "$tree" cmake
check "the command" command_runs
check "auditwheel: manylinux_2_17" wheel_is_for_many
check "the wheel in an empty environment" wheel_works
check "the wheel passes its tests" wheel_passes
finish
