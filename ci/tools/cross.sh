#!/usr/bin/env bash
# A Rust compiler for another machine. Prints settings for a shell:
#
#   eval "$(ci/tools/cross.sh thumbv6m-none-eabi core,alloc)"
#   cargo build "${build_std[@]}" --target thumbv6m-none-eabi
#
# Nothing has to be set where rustup has that target, or can fetch it and PICOLLO_MAY_CHANGE_THIS_MACHINE=1. Otherwise, and with
# PICOLLO_CROSS=debian, the compiler is Debian's (ci/tools/cross-rust.sh), and cargo builds the named libraries, too. For arm64
# Debian has them prebuilt.
set -euo pipefail
cd "$(dirname "$0")/../.."
fetch() { [ "${PICOLLO_MAY_CHANGE_THIS_MACHINE:-}" = 1 ] && timeout 90 rustup target add "$1" >/dev/null 2>&1; }
if [ "${PICOLLO_CROSS:-}" != debian ] && { [ -d "$(rustc --print sysroot)/lib/rustlib/$1" ] || fetch "$1"; }; then
    echo "build_std=()"
elif [ "$1" = aarch64-unknown-linux-gnu ]; then
    root=$(ci/tools/debian.sh aarch64)
    mkdir -p target/cross
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu" \
        "$root/usr/bin/rustc --sysroot $root/usr" >target/cross/rustc-aarch64
    chmod +x target/cross/rustc-aarch64
    echo "export RUSTC='$PWD/target/cross/rustc-aarch64'; build_std=()"
else
    compiler=$(ci/tools/cross-rust.sh)
    echo "export RUSTC='$compiler' RUSTC_BOOTSTRAP=1; build_std=(-Zbuild-std=$2)"
fi
