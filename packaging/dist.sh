#!/usr/bin/env bash
# Builds what is handed out, for x86-64 and arm64, on an x86-64 machine:
#
#   gnu       for any Linux from glibc 2.17 on: a tarball with library and command, a wheel, the library for NuGet
#   musl      the command as one static file; on x86-64 also a wheel and the library for NuGet, for musl
#   sources   the source distribution for PyPI, the installer, the Containerfile
#
#   packaging/dist.sh [DIRECTORY] [TARGET]...      default: target/dist, and all of x86_64-gnu aarch64-gnu x86_64-musl
#                                                  aarch64-musl sources; SHA256SUMS is of all files of this version that are there
#
# ci/tools/cross.sh has the compilers for other machines. The same sources give the same bytes in any directory: times are
# SOURCE_DATE_EPOCH, or that of the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(realpath -m "${1:-target/dist}")
shift || true
[ $# -gt 0 ] || set -- x86_64-gnu aarch64-gnu x86_64-musl aarch64-musl sources
glibc=2.17
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
tools=$(packaging/portable.sh)
export PATH=$tools/bin:$PATH
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.toml)}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$out/build}
# Paths of the sources, of cargo's packages and of the standard library would differ.
flags="--remap-path-prefix=$PWD=picollo --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
export CFLAGS="-ffile-prefix-map=$PWD=. -g0"
# zig strips all symbols if it is to strip debug information.
export CARGO_PROFILE_RELEASE_STRIP=none
mkdir -p "$out/nuget"
# The licenses of what the binaries contain besides.
licenses=$out/picollo-$version-third-party-licenses.txt
packaging/notices.py musl="$(echo "$tools"/lib/python3*/site-packages/ziglang/lib/libc/musl/COPYRIGHT)" >"$licenses"

# build PACKAGE PROFILE TRIPLE [RUSTFLAGS]: with zig as the linker, and with the standard library if it is not installed. The directory
# $built has the result.
build() {
    local triple=$3 target=$3 files=picollo build_std
    if [ "$1" = picollo-ffi ]; then files='libpicollo.so libpicollo.a'; fi
    export RUSTFLAGS="$flags ${4:-}"
    case $target in *-gnu) target=$target.$glibc ;; esac
    eval "$(ci/tools/cross.sh "$triple" std,panic_unwind)"
    # zig has the objects that begin a program.
    [ ${#build_std[@]} -eq 0 ] || RUSTFLAGS="$RUSTFLAGS -C link-self-contained=no --remap-path-prefix=${RUSTC%/run/*}=rust"
    cargo zigbuild --quiet --locked --profile "$2" "${build_std[@]}" -p "$1" --target "$target"
    unset RUSTC RUSTC_BOOTSTRAP
    built=$CARGO_TARGET_DIR/$triple/built
    mkdir -p "$built"
    # shellcheck disable=SC2086 # several names
    (cd "$CARGO_TARGET_DIR/$triple/$2" && cp $files "$built")
    # Standard libraries have debug information, unless they are built here.
    if [ "$1" = picollo-ffi ]; then
        "$tools/bin/python" -m ziglang objcopy --strip-debug "$built/libpicollo.so" "$built/new"
        install -m 755 "$built/new" "$built/libpicollo.so" && rm "$built/new"
    fi
}

# tarball MACHINE BUILT
tarball() {
    local name=picollo-$version-linux-$1
    rm -rf "${out:?}/$name"
    PICOLLO_BUILT=$2 ci/stage.sh "$out/$name"
    PICOLLO_BUILT=$2 PICOLLO_HOST=$(host_command) packaging/command.sh "$out/$name"
    install -m 644 LICENSE "$out/$name/LICENSE"
    install -m 644 "$licenses" "$out/$name/LICENSE-THIRD-PARTY.txt"
    cat >"$out/$name/README" <<END
Picollo $version for Linux on $1, glibc $glibc or later.

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
}

# A command that runs here, for the manual and the completions.
host_command() {
    local command
    command=$CARGO_TARGET_DIR/$(uname -m)-unknown-linux-gnu/built/picollo
    if [ ! -x "$command" ]; then
        (unset RUSTFLAGS CFLAGS && cargo build --quiet --locked -p picollo-cli)
        command=$CARGO_TARGET_DIR/debug/picollo
    fi
    echo "$command"
}

# wheel PLATFORM ZIG_TARGET BUILT [LINKER]: the extension module is compiled for the same C library. Its interface is stable, and the
# headers of this machine's Python serve all machines of 64 bits.
wheel() {
    (
        cd python
        trap 'rm LICENSE-THIRD-PARTY.txt' EXIT && install -m 644 "$licenses" LICENSE-THIRD-PARTY.txt
        export CC="zig-cc -target $2" LDSHARED="${4:-zig-cc -target $2 -shared}" _PYTHON_HOST_PLATFORM=linux-${2%%-*}
        PICOLLO_LIBRARY=$3/libpicollo.so PICOLLO_COMMAND=$3/picollo \
            "$tools/bin/python" setup.py --quiet bdist_wheel --plat-name "$1" --dist-dir "$out"
    )
    # setuptools goes on without it.
    python3 -m zipfile -l "$out/picollo-$version-py3-none-$1.whl" | grep _speed >/dev/null || { echo "the wheel has no extension module: are Python's headers here?" >&2; exit 1; }
}

nuget() {
    mkdir -p "$out/nuget/runtimes/$1/native"
    cp "$2/libpicollo.so" "$out/nuget/runtimes/$1/native/"
    install -m 644 "$licenses" "$out/nuget/LICENSE-THIRD-PARTY.txt"
}

for target in "$@"; do
    machine=${target%-*}
    rid=${machine/x86_64/x64} && rid=${rid/aarch64/arm64}
    case $target in
    *-gnu)
        triple=$machine-unknown-linux-gnu
        # One after the other: together, each would be built with the other's features.
        build picollo-ffi release "$triple"
        build picollo-cli command "$triple"
        rm -f "$out"/picollo-*manylinux*_"$machine".whl
        tarball "$machine" "$built"
        wheel "manylinux_${glibc/./_}_$machine" "$machine-linux-gnu.$glibc" "$built"
        nuget "linux-$rid" "$built"
        ;;
    *-musl)
        triple=$machine-unknown-linux-musl
        build picollo-cli command "$triple"
        install -m 755 "$built/picollo" "$out/picollo-$version-linux-$machine-static"
        if [ "$machine" = x86_64 ]; then
            build picollo-ffi release "$triple" "-C target-feature=-crt-static"
            rm -f "$out"/picollo-*musllinux*_"$machine".whl
            patchelf --replace-needed libc.so "libc.musl-$machine.so.1" "$built/libpicollo.so"
            wheel "musllinux_1_2_$machine" "$machine-linux-musl" "$built" "../packaging/musl-shared.sh $machine"
            nuget "linux-musl-$rid" "$built"
        fi
        ;;
    sources)
        rm -f "$out/picollo-$version.tar.gz"
        (cd python && "$tools/bin/python" setup.py --quiet sdist --dist-dir "$out")
        install -m 755 packaging/get.sh "$out/install.sh"
        install -m 644 packaging/Containerfile "$out/"
        ;;
    *) echo "no such target: $target" >&2; exit 2 ;;
    esac
done

NUGET=$out/nuget packaging/nuget.sh pack

cd "$out"
files=$(find . -maxdepth 1 -type f \( -name "picollo-$version[-.]*" -o -name install.sh -o -name Containerfile \) -printf '%P\n' | sort)
# shellcheck disable=SC2086 # several names, without spaces
sha256sum $files >SHA256SUMS
# shellcheck disable=SC2086
ls -l $files nuget/runtimes/*/native/*
