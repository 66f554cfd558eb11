#!/usr/bin/env bash
# A Rust compiler for targets without a prebuilt library: that of `ci/tools/debian.sh aarch64`, with the sources of its
# libraries, which cargo builds too (-Zbuild-std). Prints the path of the compiler, for RUSTC. Usage:
#
#   RUSTC=$(ci/tools/cross-rust.sh) RUSTC_BOOTSTRAP=1 cargo build -Zbuild-std=core --target thumbv6m-none-eabi
set -euo pipefail
cd "$(dirname "$0")/../.."

compiler=$(ci/tools/debian.sh aarch64)
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
    echo "cross-rust: the compiler is $version, its sources are of another version: remove $compiler and $sources" >&2
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
echo "$home/rustc-$version"
