#!/usr/bin/env bash
# Does the installation work? Everything here uses the output of `make install`, not the source tree: the C tests
# through pkg-config, shared and static; CMake's package and its pkg-config module; `make uninstall` and DESTDIR; the
# Debian packages, really installed and removed if we are root and PICOLLO_MAY_CHANGE_THIS_MACHINE=1. Ends with a line
# "N passed, N failed".
#
#   ci/install.sh [tests|cmake|destdir|deb|capi]...      default: all except capi, for which cargo-c is compiled
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$PWD/target/install
tree=$work/tree
mkdir -p "$work"
unset PREFIX LIBDIR DESTDIR

. ci/tools/checks.sh

c_tests() {
    # Every test links statically here; in the daily tests a few do.
    make --no-print-directory -C c-tests STAGE="$tree" BUILD="$work/c-tests" \
        STATIC='$(TESTS)' test
}

readme_example() { sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$work/$1"; }

# Fully static, with the flags from pkg-config.
wholly_static() {
    local flags
    readme_example static.c &&
        eval "flags=($(PKG_CONFIG_PATH=$tree/lib/pkgconfig pkg-config --static --cflags --libs picollo))" &&
        gcc -static "$work/static.c" "${flags[@]}" -o "$work/static" && "$work/static"
}

# An installation reports its place and the variables to set, and refuses an empty PREFIX.
says_where() {
    grep -qF "installed under $tree" "$work/install.log" && grep -qF "PKG_CONFIG_PATH=$tree/lib/pkgconfig" "$work/install.log" &&
        ! PREFIX="" packaging/install.sh install
}

# The command, away from the sources, with the intended size and speed.
# It has 5.3 MB, with TLS for pushes.
command_line() {
    local began
    picollo() { env -u LD_LIBRARY_PATH -u PICOLLO_DIR "$tree/bin/picollo" "$@"; }
    [ "$(stat -c %s "$tree/bin/picollo")" -le 6000000 ] &&
        ! readelf -dW "$tree/bin/picollo" | grep NEEDED | grep picollo &&
        picollo hlog --help | grep -q -- --by-tag && picollo list --json >/dev/null &&
        bash -c "source '$tree/share/bash-completion/completions/picollo' && complete -p picollo" &&
        if command -v man >/dev/null; then
            began=$(man -l "$tree/share/man/man1/picollo-top.1" 2>&1) && grep -q 'picollo.top' <<<"$began"
        fi
}

destdir() {
    local destination=$work/destdir
    rm -rf "$destination"
    DESTDIR=$destination PREFIX=/usr packaging/install.sh install &&
        has_all_files "$destination/usr" &&
        grep -q '^prefix=/usr$' "$destination/usr/lib/pkgconfig/picollo.pc" &&
        ! grep -rq "$root" "$destination/usr/lib/pkgconfig" "$destination/usr/share" &&
        DESTDIR=$destination PREFIX=/usr packaging/install.sh uninstall &&
        [ -z "$(find "$destination" ! -type d)" ]
}

# cargo-c, which packagers may prefer, installs the same library and headers, and a program finds them.
by_cargo_c() {
    local place=$work/capi tools=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/tools flags
    export PATH="$tools/bin:$PATH"
    # Unoptimized: it takes longer to compile than it will ever run.
    grep -q 0.10.24 <<<"$(cargo capi --version 2>/dev/null)" ||
        CARGO_TARGET_DIR=$tools/build CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off \
            cargo install cargo-c --version 0.10.24+cargo-0.98.0 --locked --quiet --bin cargo-capi --root "$tools" || return 1
    rm -rf "$place"
    cargo capi install --release --locked --package picollo-ffi --prefix "$place" --libdir "$place/lib" &&
        diff <(cd "$tree" && find include lib ! -type d | sort) <(cd "$place" && find include lib ! -type d | sort) &&
        readme_example capi.c && eval "flags=($(PKG_CONFIG_PATH=$place/lib/pkgconfig pkg-config --cflags --libs picollo))" &&
        gcc "$work/capi.c" "${flags[@]}" "-Wl,-rpath,$place/lib" -o "$work/capi-example" && "$work/capi-example"
}

may_install() { [ "$(id -u)" -eq 0 ] && [ "${PICOLLO_MAY_CHANGE_THIS_MACHINE:-}" = 1 ]; }

# Debian's own checker. There is no bug in Debian's tracker that a first package could close.
lintian_is_content() {
    local there
    there=$(ci/tools/debian.sh lintian) &&
        LINTIAN_BASE=$there/usr/share/lintian PERL5LIB=$there/usr/share/perl5:$there/usr/lib/x86_64-linux-gnu/perl5/5.36:$there/usr/share/perl/5.36 \
            "$there/run/lintian" --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs target/deb/*.deb
}

# Installs the packages, compiles and runs a program without any path for the compiler, and removes them.
debian() {
    local state packages
    packages=(picollo libpicollo-dev "libpicollo$(ci/tools/abi-version.sh)")
    state=$(dpkg-query -W -f '${Status} ' "${packages[@]}" 2>/dev/null || true)
    case $state in
    *"ok installed"*) echo "the packages are installed already: remove them first"; return 1 ;;
    esac
    make --no-print-directory deb && lintian_is_content || return 1
    may_install || return 0
    # shellcheck disable=SC2064 # the packages of now
    trap "dpkg --purge ${packages[*]} >/dev/null 2>&1 || true" EXIT
    local code=0
    {
        dpkg -i target/deb/*.deb &&
            readme_example example.c &&
            env -u PKG_CONFIG_PATH -u LD_LIBRARY_PATH sh -c "cc '$work/example.c' -o '$work/example' \$(pkg-config --cflags --libs picollo) && '$work/example'" &&
            # Not by a pipe: a program whose output is not read completely fails.
            grep -q 'libpicollo.so.[0-9]* => /usr/lib\|libpicollo.so.[0-9]* => /lib' <<<"$(env -u LD_LIBRARY_PATH ldd "$work/example")" &&
            /usr/bin/picollo probe --help >/dev/null && [ -e /usr/share/zsh/vendor-completions/_picollo ]
    } || code=1
    dpkg -L "${packages[@]}" | sort -u >"$work/installed"
    dpkg -r "${packages[@]}" && dpkg --purge "${packages[@]}" || code=1
    while read -r file; do
        if [ -f "$file" ] || [ -L "$file" ]; then
            # Directories shared with others stay.
            echo "left behind: $file"
            code=1
        fi
    done < <(grep -i picollo "$work/installed")
    return $code
}

if [ $# -eq 0 ]; then set -- tests cmake destdir deb; fi
echo "install: installing under $tree"
rm -rf "$tree"
if ! PREFIX=$tree packaging/install.sh install >"$work/install.log" 2>&1; then
    tail -n 40 "$work/install.log"
    echo "0 passed, 1 failed"
    exit 1
fi
for part in "$@"; do
    case $part in
    tests)
        check "everything is there, and nothing else" has_all_files "$tree"
        check "versions agree" versions_agree "$tree"
        check "a program without shared libraries, by pkg-config --static" wholly_static
        check "says where it installed, and refuses an empty PREFIX" says_where
        check "the command: size, manual, completions" command_line
        check "C tests against the installed tree, shared and static" c_tests
        ;;
    cmake)
        check "CMake: find_package, static, and pkg-config" cmake_project "$tree" "$work/cmake"
        ;;
    destdir) check "DESTDIR, and make uninstall leaves nothing" destdir ;;
    deb)
        if may_install; then
            check "Debian packages: installed, used, removed" debian
        else
            check "Debian packages: built" debian
            echo "SKIPPED installing the packages: that needs root, and PICOLLO_MAY_CHANGE_THIS_MACHINE=1"
        fi
        ;;
    capi) check "the same by cargo-c" by_cargo_c ;;
    *) echo "unknown part: $part" >&2; exit 2 ;;
    esac
done
finish
