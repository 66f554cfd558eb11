#!/bin/sh
# Runs test programs and adds up their passed and failed tests.
#
#   ./run.sh [--valgrind] PROGRAM...
set -u

checker=
if [ "${1:-}" = --valgrind ]; then
    # Counts of sessions are nonsense there; the test is how they count.
    export PICOLLO_PERF_UNDER_VALGRIND=1
    # Two busy threads would keep a third one waiting for minutes.
    checker="valgrind --fair-sched=try --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,possible"
    shift
fi

passed=0
failed=0
for program in "$@"; do
    output=$($checker "$program")
    code=$?
    last=$(printf '%s\n' "$output" | tail -n 1)
    printf '%s\n' "$output" | sed '$d'
    case $last in
    *" passed, "*" failed") ;;
    *) last="0 passed, 1 failed" ;;
    esac
    program_passed=${last%% *}
    program_failed=${last#* passed, }
    program_failed=${program_failed% failed}
    # The program crashed, or the checker found an error.
    if [ "$code" -ne 0 ] && [ "$program_failed" -eq 0 ]; then program_failed=1; fi
    if [ "$program_failed" -ne 0 ]; then echo "$(basename "$program"): $last, exit code $code"; fi
    passed=$((passed + program_passed))
    failed=$((failed + program_failed))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
