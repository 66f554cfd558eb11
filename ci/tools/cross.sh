#!/usr/bin/env bash
# A Rust compiler for another machine. Prints settings for a shell:
#
#   eval "$(ci/tools/cross.sh thumbv6m-none-eabi core,alloc)"
#   cargo build "${build_std[@]}" --target thumbv6m-none-eabi
#
# Nothing has to be set where rustup has that target, or can fetch it and PICOLLO_MAY_CHANGE_THIS_MACHINE=1. Otherwise, and with
# PICOLLO_CROSS=debian, the compiler is Debian's, and cargo builds the named libraries, too. For arm64 Debian has them prebuilt.
set -euo pipefail
cd "$(dirname "$0")/../.."
fetch() { [ "${PICOLLO_MAY_CHANGE_THIS_MACHINE:-}" = 1 ] && timeout 90 rustup target add "$1" >/dev/null 2>&1; }
if [ "${PICOLLO_CROSS:-}" != debian ] && { [ -d "$(rustc --print sysroot)/lib/rustlib/$1" ] || fetch "$1"; }; then
    echo "build_std=()"
    exit
fi
compiler=$(ci/tools/debian.sh aarch64) standard="build_std=()"
if [ "$1" != aarch64-unknown-linux-gnu ]; then
    sources=$(ci/tools/debian.sh rust-src) link=$compiler/usr/lib/rustlib/src/rust
    sources=$sources/usr/src/rustc-$("$compiler/run/rustc" --version | cut -d' ' -f2)
    # A later run may have fetched another version.
    [ -d "$sources/library" ] || { echo "cross: no $sources, which the compiler needs: remove ${compiler%/*} and ${sources%/root/*}" >&2; exit 1; }
    [ "$(readlink "$link")" = "$sources" ] || { mkdir -p "${link%/*}" && ln -sfn "$sources" "$link"; }
    standard="export RUSTC_BOOTSTRAP=1; build_std=(-Zbuild-std=$2)"
fi
install -m 755 <(printf '#!/bin/sh\nexec %s --sysroot %s "$@"\n' "$compiler/run/rustc" "$compiler/usr") "$compiler/run/rustc-cross.$$"
mv "$compiler/run/rustc-cross.$$" "$compiler/run/rustc-cross"
echo "export RUSTC='$compiler/run/rustc-cross'; $standard"
