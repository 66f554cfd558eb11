#!/usr/bin/env bash
# Builds the distribution: one library and command that run on any Linux from glibc 2.17 on, with a tarball, a wheel,
# the libraries of the NuGet package, and checksums.
#
#   packaging/dist.sh [DIRECTORY]      default: target/dist
#
# PICOLLO_MACHINE=aarch64 makes the tarball and library for arm64 on x86-64, with the Rust compiler of
# ci/tools/debian.sh, which has that machine's standard library. It makes no wheel, whose extension module needs that
# machine's Python.
#
# The same sources give the same bytes in any directory: times are SOURCE_DATE_EPOCH, or that of the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(realpath -m "${1:-target/dist}")
machine=${PICOLLO_MACHINE:-$(uname -m)}
glibc=2.17
triple=$machine-unknown-linux-gnu
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=picollo-$version-linux-$machine
tools=$(packaging/portable.sh)
export PATH=$tools/bin:$PATH
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.toml)}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$out/build}
# Paths of the sources, and of cargo's packages, would differ.
export RUSTFLAGS="--remap-path-prefix=$PWD=picollo --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
export CFLAGS="-ffile-prefix-map=$PWD=. -g0"
strip=strip
if [ "$machine" != "$(uname -m)" ]; then
    root=$(ci/tools/debian.sh aarch64)
    libraries=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu
    mkdir -p "$out/bin"
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$root/usr/bin/rustc --sysroot $root/usr" >"$out/bin/rustc"
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$root/usr/bin/$machine-linux-gnu-strip" >"$out/bin/strip"
    chmod +x "$out/bin/rustc" "$out/bin/strip"
    export RUSTC=$out/bin/rustc
    strip=$out/bin/strip
fi

# One after the other: together, each would be built with the other's features.
# zig strips all symbols if it is to strip debug information, so that is done below.
CARGO_PROFILE_RELEASE_STRIP=none cargo zigbuild --quiet --locked --release -p picollo-ffi --target "$triple.$glibc"
CARGO_PROFILE_RELEASE_STRIP=symbols cargo zigbuild --quiet --locked --release -p picollo-cli --target "$triple.$glibc"
built=$CARGO_TARGET_DIR/$triple/release
"$strip" --strip-debug "$built/libpicollo.so"

mkdir -p "$out"
rm -rf "${out:?}/$name" "$out/$name.tar.gz" "$out"/picollo-*_"$machine".whl "$out/SHA256SUMS"
PICOLLO_BUILT=$built ci/stage.sh "$out/$name"
# A build for another machine does not run here: its manual and completions come from this machine's build.
if [ "$machine" != "$(uname -m)" ]; then
    (unset CARGO_TARGET_DIR RUSTC RUSTFLAGS && cargo build --quiet --locked -p picollo-cli)
    export PICOLLO_HOST=$PWD/target/debug/picollo
fi
PICOLLO_BUILT=$built packaging/command.sh "$out/$name"
install -m 644 LICENSE "$out/$name/LICENSE"
cat >"$out/$name/README" <<END
Picollo $version for Linux on $machine, glibc $glibc or later.

  bin/picollo                the command: picollo --help; its manual and completions are in share/
  include/, lib/             for C and C++; shared and static
  lib/pkgconfig              PKG_CONFIG_PATH=\$PWD/lib/pkgconfig pkg-config --cflags --libs picollo
  share/cmake/picollo        cmake -DCMAKE_PREFIX_PATH=\$PWD: picollo::picollo, picollo::static

Unpack it anywhere: nothing in it knows where it lies. A program that is linked to the shared library finds it by
-Wl,-rpath,DIRECTORY or LD_LIBRARY_PATH; the static one also needs -lpthread -lm -ldl (pkg-config --static).
END
# Sorted names, one time, no owner.
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w --format=ustar \
    -C "$out" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"

STAGE=$out/$name NUGET=$out/nuget packaging/nuget.sh "$machine"
if [ "$machine" != "$(uname -m)" ]; then
    (cd "$out" && sha256sum "$name.tar.gz")
    exit
fi

# The extension module is compiled for the same C library.
compiler="zig-cc -target $machine-linux-gnu.$glibc"
(
    cd python
    CC=$compiler LDSHARED="$compiler -shared" PICOLLO_LIBRARY=$built/libpicollo.so PICOLLO_COMMAND=$built/picollo \
        "$tools/bin/python" setup.py --quiet bdist_wheel --plat-name "manylinux_${glibc/./_}_$machine" --dist-dir "$out"
)
(
    cd "$out"
    sha256sum picollo-*.tar.gz picollo-*.whl nuget/runtimes/*/native/* >SHA256SUMS
    cat SHA256SUMS
    ls -l picollo-*.tar.gz picollo-*.whl
)
