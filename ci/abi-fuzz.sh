#!/usr/bin/env bash
# Does the C interface keep its promises for any calls in any order? Random sequences of calls, with valid and invalid
# arguments, are compared with an oracle (c-tests/sequences). ABI_SEQUENCES of them (default 20,000; 1,000,000 in the
# long form) run against the release build, a tenth as many under AddressSanitizer and LeakSanitizer. ABI_SEED sets the
# first seed; it defaults to the date, so that every day tries others.
#
# The target `abi` of ci/fuzz.sh uses the same driver, guided by coverage.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
sequences=${ABI_SEQUENCES:-20000}
seed=${ABI_SEED:-$(($(date +%Y%m%d) * 1000000))}
out=$PWD/target/abi-fuzz
mkdir -p "$out"

[ "${PICOLLO_STAGED:-0}" = 1 ] || ci/stage.sh
compile=(gcc -std=gnu11 -O2 -g -Wall -Wextra -Werror -Itarget/stage/include c-tests/sequences/*.c)
"${compile[@]}" target/stage/lib/libpicollo.a -lpthread -lm -ldl -lrt -o "$out/sequences"

# A check that cannot fail proves nothing: it must find one fault for each family.
faults=$(grep -oh 'PLANTED([0-9]*)' c-tests/sequences/*.c | sort -u | wc -l)
for fault in $(seq "$faults"); do
    if (PICOLLO_PLANT=$fault "$out/sequences" 1000; exit $?) >/dev/null 2>&1; then
        echo "FAILED: planted fault $fault was not found"
        exit 1
    fi
done
"$out/sequences" "$sequences" "$seed" | tee "$out/plain"
echo "ABI: $(head -n 1 "$out/plain"); $faults planted faults found; $((SECONDS - started)) s"

rm -f "$out/asan"
(
    sanitizer=address runtime=asan
    . ci/sanitizers/build.sh
    build_library
    objects=()
    for source in c-tests/sequences/*.c; do
        gcc -std=gnu11 -O1 -g -fno-omit-frame-pointer -fsanitize=address -Iinclude -c "$source" \
            -o "$programs/sequences_$(basename "$source" .c).o"
        objects+=("$programs/sequences_$(basename "$source" .c).o")
    done
    g++ -no-pie "${objects[@]}" "$built/libpicollo.a" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -rdynamic \
        -lpthread -lm -ldl -lrt -o "$programs/sequences"
    export ASAN_OPTIONS="detect_leaks=1:quarantine_size_mb=64:handle_abort=1"
    "$programs/sequences" $((sequences / 10)) $((seed + 500000)) | tee "$out/asan"
)
# Without a sanitizer, ci/sanitizers/build.sh has already reported that.
[ ! -e "$out/asan" ] || echo "ABI under AddressSanitizer: $(head -n 1 "$out/asan"); no error, no leak; $((SECONDS - started)) s"
