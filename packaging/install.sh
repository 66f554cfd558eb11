#!/usr/bin/env bash
# Installs and removes the C library and the command with its manual: `make install`, `make uninstall`.
#
#   packaging/install.sh install|uninstall     environment: PREFIX (/usr/local), LIBDIR (PREFIX/lib), DESTDIR (empty)
#   packaging/install.sh build                 only builds
set -euo pipefail
cd "$(dirname "$0")/.."

# An empty PREFIX= is more often an error than a wish for /usr/local.
[ -n "${PREFIX-unset}" ] || { echo "PREFIX is empty: leave it out for /usr/local, or give an absolute path" >&2; exit 1; }
prefix=${PREFIX:-/usr/local}
libdir=${LIBDIR:-$prefix/lib}
root=${DESTDIR:-}
case $prefix$libdir in
/*/* | /*) ;;
*) echo "PREFIX and LIBDIR are absolute: $prefix, $libdir" >&2; exit 1 ;;
esac
cmake=$prefix/share/cmake/picollo

build() {
    echo "building the library and the command: some two minutes the first time, on two cores"
    cargo build --release --locked --quiet -p picollo-ffi
    # Alone: together with the library it would get the library's features.
    cargo build --profile command --locked --quiet -p picollo-cli
}

# A tree from ci/stage.sh can be moved: its picollo.pc uses relative paths. Here libraries may be elsewhere.
library() {
    local stage=target/stage abi
    abi=$(ci/tools/abi-version.sh)
    ci/stage.sh "$stage"
    install -d "$root$prefix/include" "$root$libdir/pkgconfig" "$root$cmake"
    install -m 644 include/* "$root$prefix/include/"
    install -m 755 "$stage/lib/libpicollo.so.$abi.0.0" "$root$libdir/"
    cp -P "$stage/lib/libpicollo.so" "$stage/lib/libpicollo.so.$abi" "$root$libdir/"
    install -m 644 "$stage/lib/libpicollo.a" "$root$libdir/"
    sed -e "s|^prefix=.*|prefix=$prefix|" -e "s|^libdir=.*|libdir=$libdir|" "$stage/lib/pkgconfig/picollo.pc" \
        >"$root$libdir/pkgconfig/picollo.pc"
    install -m 644 "$stage"/share/cmake/picollo/* "$root$cmake/"
}

# Reports all places, and the variables for using them.
report() {
    echo "installed under $root$prefix: the command bin/picollo, the library in ${libdir}, and the headers in $prefix/include"
    [ -z "$root" ] || return 0
    case :$PATH: in *:$prefix/bin:*) ;; *) echo "  export PATH=$prefix/bin:\$PATH" ;; esac
    case $prefix in
    /usr | /usr/local) ;;
    *)
        echo "  export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir"
        echo "  CMake: -DCMAKE_PREFIX_PATH=$prefix"
        ;;
    esac
}

# Updates the loader's cache if the library is in a directory that the loader searches.
tell_the_loader() {
    if [ -z "$root" ] && [ "$(id -u)" -eq 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi
}

case ${1:-} in
build) build ;;
install)
    build
    library
    packaging/command.sh "$root$prefix"
    tell_the_loader
    report
    ;;
uninstall)
    for header in include/*; do rm -f "$root$prefix/$header"; done
    rm -f "$root$libdir"/libpicollo.{a,so,so.[0-9]*} "$root$libdir/pkgconfig/picollo.pc"
    rm -f "$root$cmake"/picolloConfig{,Version}.cmake
    rm -f "$root$prefix"/{bin/picollo,share/man/man1/picollo{,-*}.1}
    rm -f "$root$prefix"/share/{bash-completion/completions/picollo,zsh/site-functions/_picollo,fish/vendor_completions.d/picollo.fish}
    rmdir "$root$cmake" 2>/dev/null || true
    tell_the_loader
    ;;
*)
    sed -n 's/^# \{0,1\}//p' "$0" | sed -n 2,5p >&2
    exit 2
    ;;
esac
