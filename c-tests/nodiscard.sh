#!/bin/sh
# Does an ignored status cause a warning if the language has an attribute for it, and otherwise none?
set -u
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cat >"$directory/passed_over.c" <<'END'
#include <picollo.h>
void passed_over(picollo_histogram *histogram) { picollo_histogram_reset(histogram); }
END
cat >"$directory/cast.c" <<'END'
#include <picollo.h>
void cast(picollo_histogram *histogram) { (void)picollo_histogram_reset(histogram); }
END
failed=0
# expect silent|warned PROGRAM COMPILER...
expect() {
    expected=$1 program=$2
    shift 2
    "$@" -Wall -Wextra -Wpedantic -Werror -c -o /dev/null $(pkg-config --cflags picollo) "$directory/$program.c" >"$directory/log" 2>&1
    if [ $? -eq 0 ]; then is=silent; else is=warned; fi
    if grep -q 'unrecognized command-line option' "$directory/log"; then
        echo "SKIPPED: this compiler has no $*"
    elif [ $is != "$expected" ]; then
        echo "nodiscard: $program, $*: $is, expected $expected"
        cat "$directory/log"
        failed=1
    fi
}
expect silent passed_over gcc -std=c11
expect warned passed_over gcc -std=c11 -DPICOLLO_WARN_UNUSED
expect warned cast gcc -std=c11 -DPICOLLO_WARN_UNUSED
expect warned passed_over gcc -std=c2x
expect silent cast gcc -std=c2x
expect silent passed_over g++ -x c++ -std=c++14
expect warned passed_over g++ -x c++ -std=c++17
expect silent cast g++ -x c++ -std=c++17
expect silent passed_over g++ -x c++ -std=c++17 -DPICOLLO_NODISCARD=
[ $failed -eq 0 ] && echo "statuses that are passed over are warned of where the language has a word for it"
