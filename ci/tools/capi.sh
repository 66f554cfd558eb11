#!/usr/bin/env bash
# Installs the C library through cargo-c, and the command with its manual, and takes them away again: `make install` and
# `make uninstall`.
#
#   ci/tools/capi.sh install|uninstall       environment: PREFIX (/usr/local), LIBDIR (PREFIX/lib), DESTDIR (empty)
#   ci/tools/capi.sh build                   only builds
#
# cargo-c is kept in the cache directory; it takes some minutes to compile the first time.
set -euo pipefail
cd "$(dirname "$0")/../.."

prefix=${PREFIX:-/usr/local}
libdir=${LIBDIR:-$prefix/lib}
root=${DESTDIR:-}
case $prefix$libdir in
/*/* | /*) ;;
*) echo "PREFIX and LIBDIR are absolute: $prefix, $libdir" >&2; exit 1 ;;
esac
cmake=$prefix/share/cmake/picollo

tool() {
    local wanted=0.10.24
    local tools=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/tools
    export PATH="$tools/bin:$PATH"
    if ! grep -q "$wanted" <<<"$(cargo capi --version 2>/dev/null)"; then
        echo "compiling cargo-c $wanted, once"
        # Unoptimised: it takes longer to compile than it will ever run.
        CARGO_TARGET_DIR=$tools/build-cargo-c CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off \
            cargo install cargo-c --version "$wanted+cargo-0.98.0" --locked --quiet --bin cargo-capi --root "$tools"
        rm -rf "$tools/build-cargo-c"
    fi
}

capi() {
    tool
    # Its own target directory is the usual one with the name of the machine in it.
    cargo capi "$@" --release --locked --package picollo-ffi --prefix "$prefix" --libdir "$libdir" ${root:+--destdir "$root"}
}

case ${1:-} in
build)
    capi build
    cargo build --profile command --locked --quiet -p picollo-cli
    ;;
install)
    capi install
    version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
    mkdir -p "$root$cmake"
    install -m 644 ffi/cmake/picolloConfig.cmake "$root$cmake/"
    sed "s/@VERSION@/$version/" ffi/cmake/picolloConfigVersion.cmake.in >"$root$cmake/picolloConfigVersion.cmake"
    ci/tools/command.sh "$root$prefix"
    if [ -z "$root" ] && [ "$(id -u)" -eq 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi
    ;;
uninstall)
    for header in include/*; do rm -f "$root$prefix/$header"; done
    rm -f "$root$libdir"/libpicollo.{a,so,so.0,so.0.*} "$root$libdir/pkgconfig/picollo.pc"
    rm -f "$root$cmake"/picolloConfig{,Version}.cmake
    rm -f "$root$prefix"/{bin/picollo,share/man/man1/picollo{,-*}.1}
    rm -f "$root$prefix"/share/{bash-completion/completions/picollo,zsh/site-functions/_picollo,fish/vendor_completions.d/picollo.fish}
    rmdir "$root$cmake" 2>/dev/null || true
    if [ -z "$root" ] && [ "$(id -u)" -eq 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi
    ;;
*)
    sed -n 's/^# \{0,1\}//p' "$0" | sed -n 2,7p >&2
    exit 2
    ;;
esac
