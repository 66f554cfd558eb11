#!/usr/bin/env bash
# Does it run without an operating system? Runs the Rust program and the C program of embedded/ on an emulated
# Cortex-M0 (no compare-and-swap) and Cortex-M4, both without 64-bit atomics, with interrupts that record meanwhile.
# Ends with the sizes and a line "N passed, N failed". (ci/abi.sh tests the C interface without std on this machine.)
#
#   ci/targets/bare-metal.sh
#
# The compilers and the emulator come from Debian and are kept in the cache directory.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$PWD/target/bare-metal
mkdir -p "$work"
python3 ffi/describe/description.py >"$work/exports"
. ci/tools/checks.sh

m0=$(ci/tools/cross.sh thumbv6m-none-eabi core,alloc)
m4=$(ci/tools/cross.sh thumbv7em-none-eabi core,alloc)
arm=$(ci/tools/debian.sh arm)
emulator=$(ci/tools/debian.sh aarch64)
export PATH=$PATH:$arm/run:$emulator/run

# A separate build directory, because it may not be the usual compiler.
export CARGO_TARGET_DIR=$PWD/target/cross
rust() {
    RUSTFLAGS="-C linker=arm-none-eabi-ld -C linker-flavor=ld -C link-arg=$work/start-$cpu.o -C link-arg=-L$PWD/embedded/link -C link-arg=-T$1.ld -C link-arg=--gc-sections" \
        CARGO_PROFILE_RELEASE_OPT_LEVEL=s CARGO_PROFILE_RELEASE_PANIC=abort \
        cargo build --quiet --locked -p picollo-embedded "${build_std[@]}" --target "$2" --release "${@:3}"
}
# The library for C. It has another profile than the programs, but uses the same libraries.
library() {
    cargo build --quiet --locked "${build_std[@]}" --target "$1" --profile embedded -p picollo-ffi \
        --no-default-features --features critical-section 2>&1 | { grep -vE 'dropping unsupported crate type|^warning: `picollo-ffi`|^$' || true; }
}

# run NAME MACHINE PROGRAM: its output, and its own sum.
run() {
    local log=$work/$1.log
    timeout 120 qemu-system-arm -L "$emulator/usr/share/qemu" -M "$2" -nographic -monitor none -serial none \
        -semihosting-config enable=on,target=native -kernel "$3" >"$log" 2>&1 </dev/null || true
    add_up "$1" "$log"
    grep -E 'handler are' "$log" | sed 's/^ok: //' || true
}

sizes=()
# Flash: code and constants, with the initial values of .data; RAM: .data and .bss, without the stack.
note_size() {
    sizes+=("$(printf '| %-44s | %-10s | %7d | %6d |' "$1" "$2" $(arm-none-eabi-size "$3" | awk 'NR == 2 { print $1 + $2, $2 + $3 }'))")
}

for cpu in m0 m4; do
    if [ $cpu = m0 ]; then target=thumbv6m-none-eabi machine=microbit; else target=thumbv7em-none-eabi machine=mps2-an386; fi
    name=Cortex-${cpu^^}
    eval "${!cpu}"
    echo "bare-metal: building for $name"
    programs=$CARGO_TARGET_DIR/$target/release
    c() {
        arm-none-eabi-gcc -mthumb -mcpu=cortex-$cpu -std=c11 -Wall -Wextra \
            -Werror -Os -ffreestanding -ffunction-sections -I include -I embedded/c "$@"
    }
    c -c embedded/c/start.c -o "$work/start-$cpu.o" || { fail "start.c does not compile for $name"; continue; }
    rust cortex-$cpu $target --bin full --features board || { fail "the Rust program for $name does not build"; continue; }
    note_size "Rust: dense, sparse and double histograms" "$name" "$programs/full"
    run "$name-full" $machine "$programs/full"

    library $target || { fail "libpicollo.a does not build for $name"; continue; }
    archive=$CARGO_TARGET_DIR/$target/embedded/libpicollo.a
    if diff "$work/exports" <(arm-none-eabi-nm --defined-only "$archive" 2>/dev/null | awk '$2 == "T" && $3 ~ /^picollo_/ { print $3 }' | LC_ALL=C sort) >"$work/exports.diff"; then
        pass "$name: libpicollo.a has all $(wc -l <"$work/exports") functions"
    else
        cat "$work/exports.diff"
        fail "$name: libpicollo.a lacks functions"
    fi
    link() {
        c -nostdlib "$work/start-$cpu.o" "$@" "$archive" -L embedded/link -T cortex-$cpu.ld -Wl,--gc-sections -Wl,-z,noexecstack -Wl,--fatal-warnings
    }
    link -Wno-unused-parameter embedded/c/main.c -o "$work/c-$cpu" || { fail "the C program does not link for $name"; continue; }
    note_size "C: freestanding, libpicollo.a" "$name" "$work/c-$cpu"
    run "$name-c" $machine "$work/c-$cpu"
    # Every function at once, so the size of the whole library: more than a micro:bit has.
    { echo 'int main(void) { return 0; } void tick(void) {}'
      sed 's/.*/extern char &[];/' "$work/exports"
      echo 'const void *const all[] __attribute__((used, section(".vectors.all"))) = {'; sed 's/$/,/' "$work/exports"; echo '};'; } >"$work/all.c"
    sed 's/KEEP(\*(.vectors))/KEEP(*(.vectors)) KEEP(*(.vectors.all))/' embedded/link/common.ld >"$work/common.ld"
    sed 's/LENGTH = 256K/LENGTH = 1M/' "embedded/link/cortex-$cpu.ld" >"$work/cortex-$cpu.ld"
    link -L "$work" "$work/all.c" -o "$work/all-$cpu" ||
        { fail "the whole library does not link for $name"; continue; }
    note_size "C: every function of libpicollo.a" "$name" "$work/all-$cpu"
done

echo
echo "| Program                                      | Processor  |   Flash |    RAM |"
echo "| :------------------------------------------- | :--------- | ------: | -----: |"
printf '%s\n' "${sizes[@]}" | sort
echo
finish
