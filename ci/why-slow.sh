#!/usr/bin/env bash
# Is the named cause of a slow observation its real cause? Requests with planted causes run among ordinary ones, under a
# collector. An oracle that shares nothing with the library checks the effect of each plant. Prints the planted and
# reported causes. Fails if less than 95 % are right, more than 1 % are wrong with confidence, more than 5 % of the
# excess is unexplained, or a part is off by more than 5 %.
#
#   ci/why-slow.sh [ENVIRONMENT...]     default: ring no-ring perf-forbidden no-schedstat fixed-order, 80 seconds;
#                                       WHY_SLOW_TIMES=100 for the long form
#
# The judge must also notice wrong answers. Other programs on this machine delay
# requests, too: plants with additional delays are counted, but not judged. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
times=${WHY_SLOW_TIMES:-12} seed=${WHY_SLOW_SEED:-1}
stage=${STAGE:-$PWD/target/stage} work=$PWD/target/why-slow here=ci/why-slow
[ $# -gt 0 ] || set -- ring no-ring perf-forbidden no-schedstat fixed-order
if [ "$(uname -s)" != Linux ]; then
    echo "SKIPPED: accounts of threads are Linux's"
    exit 0
fi
[ -n "${PICOLLO_STAGED:-}" ] || ci/stage.sh "$stage"
mkdir -p "$work"
gcc -std=gnu11 -O2 -Wall -Wextra -Werror "$here/run.c" "$here/plants.c" -o "$work/run" -I"$stage/include" -L"$stage/lib" -Wl,-rpath,"$stage/lib" -lpicollo -lpthread

# A separate control group with an adjustable quota, in either version.
group=
for parent in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
    if mkdir "$parent/picollo-why-slow-$$" 2>/dev/null; then
        group=$parent/picollo-why-slow-$$
        if [ -w "$group/cpu.max" ] || [ -w "$group/cpu.cfs_quota_us" ]; then break; fi
        rmdir "$group"
        group=
    fi
done
# A group has one weight against everything else on the machine, independent of its members.
if [ -n "$group" ]; then
    if [ -w "$group/cpu.weight" ]; then echo 10000 >"$group/cpu.weight"; fi
    if [ -w "$group/cpu.shares" ]; then echo 262144 >"$group/cpu.shares"; fi
fi
trap '[ -z "$group" ] || rmdir "$group"' EXIT
[ -n "$group" ] || echo "SKIPPED: the CPU quota: no control group here may be written to"
# With priority over other programs, if permitted, and in the group.
in_group() {
    GROUP=$group bash -c '[ -z "$GROUP" ] || echo $$ >"$GROUP/cgroup.procs"; renice -n -10 $$ >/dev/null 2>&1 || true; exec "$@"' - "$@"
}

passed=0 failed=0 judged=()
for environment in "$@"; do
    code=0
    in_group "$work/run" "$environment" "$times" "$seed" "$group" >"$work/$environment.json" || code=$?
    case $code in
    0) judged+=("$environment" "$work/$environment.json") ;;
    77) echo "SKIPPED: $environment cannot be made here" ;;
    *) failed=$((failed + 1)); echo "FAILED: $environment: the program ended with $code" ;;
    esac
done
python3 "$here/judge.py" "${judged[@]}" | tee "$work/judged.txt" || true
read -r more _ less _ < <(tail -n 1 "$work/judged.txt")
if python3 "$here/judge_notices.py" "${judged[@]:0:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
echo "$((passed + more)) passed, $((failed + less)) failed"
[ $((failed + less)) -eq 0 ]
