#!/usr/bin/env bash
# Do counters count correctly on a real arm64 kernel with a PMU? Boots Debian's in an emulator whose PMU counts
# instructions exactly. There it runs the own tests of the crates native and perf (built by the compiler of ci/tools/cross.sh),
# and the programs of ci/targets/aarch64/, one machine for each setting. Ends with a line "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."

root=$(ci/tools/debian.sh aarch64)
compiler=$(ci/tools/cross.sh aarch64-unknown-linux-gnu std)
export PATH=$PATH:$root/run
work=$PWD/target/aarch64
mkdir -p "$work/initramfs"

echo "aarch64-pmu: building"
target=aarch64-unknown-linux-gnu
eval "$compiler"
build() {
    env -u RUSTFLAGS CARGO_TARGET_DIR="$PWD/target/cross" \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-C target-feature=+crt-static" \
        CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc AR_aarch64_unknown_linux_gnu=aarch64-linux-gnu-ar \
        cargo test --no-run --locked --target $target -p picollo-native -p picollo-perf --message-format=json |
        python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message.get("profile", {}).get("test"):
        print(message["target"]["name"], message["executable"])'
}
rm -rf "$work/initramfs"/*
mkdir -p "$work/initramfs/tests"
build >"$work/tests.list"
while read -r name executable; do
    cp "$executable" "$work/initramfs/tests/$name"
    aarch64-linux-gnu-strip "$work/initramfs/tests/$name"
done <"$work/tests.list"
aarch64-linux-gnu-gcc -static -O2 -Wall -Wextra -o "$work/initramfs/init" ci/targets/aarch64/init.c

python3 ci/targets/aarch64/initramfs.py "$work/initramfs" "$work/initramfs.gz"

. ci/tools/checks.sh
# Boots one machine: its name, CPU model, number of CPUs, 1 or 0 for user access, and the programs to run, each with
# comma-separated filters for its tests.
machine() {
    local name=$1 model=$2 cpus=$3 access=$4 log=$work/$1.log
    shift 4
    echo "aarch64-pmu: machine \"$name\": $model, $cpus CPU(s), perf_user_access=$access"
    # With -icount an instruction is a nanosecond and counts are exact. The CPUs run in turn.
    timeout 1800 qemu-system-aarch64 -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" -M virt -m 512 -cpu "$model" -smp "$cpus" -icount shift=0,sleep=off \
        -nographic -nic none -no-reboot -kernel "$root"/boot/vmlinuz-* -initrd "$work/initramfs.gz" \
        -append "console=ttyAMA0 quiet panic=-1 picollo.access=$access -- $*" </dev/null >"$log" 2>&1 || true
    tr -d '\r' <"$log" | grep -v '^\[' | sed "s/^/    /"
    add_up "$name" "$log"
    if ! grep -q '^init: done$' <<<"$(tr -d '\r' <"$log")"; then
        fail "the machine $name did not come to its end (log: $log)"
    fi
}

[ -s "$work/tests.list" ] || { echo "aarch64-pmu: no test program was built" >&2; exit 1; }
max=max,pauth-impdef=on
# (The excluded test needs branch misses, which the emulated PMU lacks.)
machine user-access $max 1 1 picollo_native,thread::,tsc:: picollo_perf,pmc::,page::,fault::,cpu_tests:: pmu \
    session,--skip,hardware_events_count_or_say_why_not forks allocation
machine two-cpus $max 2 1 pmu
machine no-user-access $max 1 0 pmu
# All its counters except cycles have 32 bits.
machine narrow-counters cortex-a57 2 1 pmu

finish
