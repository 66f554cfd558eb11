#!/usr/bin/env bash
# A Rust compiler for another machine. Prints settings for a shell:
#
#   eval "$(ci/tools/cross.sh thumbv6m-none-eabi core,alloc)"
#   cargo build "${build_std[@]}" --target thumbv6m-none-eabi
#
# Nothing has to be set where rustup has that target, or can fetch it and PICOLLO_MAY_CHANGE_THIS_MACHINE=1. Otherwise, and with
# PICOLLO_CROSS=debian, the compiler is that of `ci/tools/debian.sh aarch64`, with the sources of its libraries, and cargo builds
# the named ones, too.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$1 libraries_to_build=$2
fetch() { [ "${PICOLLO_MAY_CHANGE_THIS_MACHINE:-}" = 1 ] && timeout 90 rustup target add "$target" >/dev/null 2>&1; }
if [ "${PICOLLO_CROSS:-}" != debian ] && { [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || fetch; }; then
    echo "build_std=()"
    exit
fi
compiler=$(ci/tools/debian.sh aarch64)
if [ "$target" = aarch64-unknown-linux-gnu ]; then
    # Debian has it prebuilt.
    mkdir -p target/cross
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s --sysroot %s "$@"\n' "$compiler/usr/lib/x86_64-linux-gnu:$compiler/lib/x86_64-linux-gnu" \
        "$compiler/usr/bin/rustc" "$compiler/usr" >target/cross/rustc-aarch64
    chmod +x target/cross/rustc-aarch64
    echo "export RUSTC='$PWD/target/cross/rustc-aarch64'; build_std=()"
    exit
fi
sources=$(ci/tools/debian.sh rust-src)
home=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/debian/cross-rust
libraries=$compiler/usr/lib/x86_64-linux-gnu:$compiler/lib/x86_64-linux-gnu

# Two jobs may need it.
mkdir -p "$(dirname "$home")"
exec 9>"$home.lock"
flock 9

# Both must have the same version: a later run of one of the scripts may have fetched a newer one.
version=$(LD_LIBRARY_PATH=$libraries "$compiler/usr/bin/rustc" --version | cut -d' ' -f2)
if [ ! -d "$sources/usr/src/rustc-$version/library" ]; then
    echo "cross: the compiler is $version, its sources are of another version: remove $compiler and $sources" >&2
    exit 1
fi
if ! grep -qsF "exec $compiler/" "$home/rustc-$version"; then
    rm -rf "$home"
    mkdir -p "$home/sysroot/lib/rustlib/src"
    ln -s "$compiler/usr/lib/rustlib/x86_64-unknown-linux-gnu" "$home/sysroot/lib/rustlib/"
    ln -s "$sources/usr/src/rustc-$version" "$home/sysroot/lib/rustlib/src/rust"
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s --sysroot %s "$@"\n' "$libraries" "$compiler/usr/bin/rustc" "$home/sysroot" \
        >"$home/rustc-$version"
    chmod +x "$home/rustc-$version"
fi
echo "export RUSTC='$home/rustc-$version' RUSTC_BOOTSTRAP=1; build_std=(-Zbuild-std=$libraries_to_build)"
