#!/usr/bin/env bash
# Does the library as it ships touch memory that is not its own, read what nobody wrote, or leak? Memcheck over the C tests and
# those of picollo.hpp, against the staged release build.
#
# The library is built for the baseline of its architecture and asks the processor what more it may use; under valgrind that is
# what valgrind emulates. VALGRIND_FULL=1 runs every round of every test instead of one in fifty.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
ci/setup.sh
[ "${PICOLLO_STAGED:-0}" = 1 ] || ci/stage.sh
stage=$PWD/target/stage
out=$PWD/target/valgrind
mkdir -p "$out"
if [ "${VALGRIND_FULL:-0}" != 1 ]; then export PICOLLO_QUICK=1; fi

# A checker that does not find planted faults proves nothing. The release build has no debug info, but its calls are seen.
export LD_LIBRARY_PATH=$stage/lib
gcc -std=c11 -O1 -g -D_DEFAULT_SOURCE -I"$stage/include" -Ic-tests c-tests/planted.c -o "$out/planted" \
    -L"$stage/lib" -lpicollo -lpthread -lm
memcheck="valgrind --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,possible --errors-for-leak-kinds=definite"
$memcheck --quiet "$out/planted" none >/dev/null
planted=0
for fault in "overflow:Invalid write" "use-after-free:Invalid read" "leak:definitely lost"; do
    if output=$($memcheck "$out/planted" "${fault%%:*}" 2>&1) || ! grep -q "${fault#*:}" <<<"$output"; then
        echo "FAILED: a planted fault (${fault%%:*}) was not found"
        tail -n 30 <<<"$output"
        exit 1
    fi
    planted=$((planted + 1))
done

make --no-print-directory -C c-tests valgrind | tee "$out/c"
ci/cpp.sh --valgrind | tee "$out/cpp"
echo "memcheck: C $(tail -n 1 "$out/c"); C++ $(tail -n 1 "$out/cpp"); $planted planted faults found; no error, no leak;" \
    "$((SECONDS - started)) s"
