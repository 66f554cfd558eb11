#!/bin/sh
# Installs Picollo for Linux on x86-64 or arm64: the command, the library and its headers. Nothing is unpacked before
# its checksum is verified. Files of an earlier version are replaced while programs use them.
#
#   sh install.sh [--prefix DIR] [--version X.Y.Z] [--static]
#
# The default prefix is ~/.local. --static installs the command alone, as one file that needs no C library; systems with
# musl get it anyway. PICOLLO_RELEASES is another place to fetch from, also file:///DIRECTORY.
set -eu

prefix=$HOME/.local version=latest static=
while [ $# -gt 0 ]; do
    case $1 in
    --prefix) prefix=${2:?a directory}; shift ;;
    --version) version=${2:?a version} version=v${version#v}; shift ;;
    --static) static=1 ;;
    *) echo "usage: sh install.sh [--prefix DIR] [--version X.Y.Z] [--static]" >&2; exit 2 ;;
    esac
    shift
done
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
fail() {
    echo "$1: nothing was installed" >&2
    exit 1
}
command -v sha256sum >/dev/null || fail "There is no sha256sum to verify the download"
from=${PICOLLO_RELEASES:-https://github.com/picollo/picollo/releases}
case $from in
file:*) ;;
*) if [ $version = latest ]; then from=$from/latest/download; else from=$from/download/$version; fi ;;
esac
machine=$(uname -m)
case $(uname -s)-$machine in
Linux-x86_64 | Linux-aarch64) ;;
*) fail "There is no build for $(uname -s) on $machine; try cargo install picollo-cli" ;;
esac
if [ -n "$(find /lib -maxdepth 1 -name 'ld-musl-*' 2>/dev/null)" ] && ! getconf GNU_LIBC_VERSION >/dev/null 2>&1; then static=1; fi

work=$(mktemp -d) new=
trap 'rm -rf "$work" ${new:+"$new"}' EXIT
trap 'exit 1' HUP INT TERM
fetch() {
    case $from in
    file:*) cp "${from#file://}/$1" "$work/" ;;
    *) if command -v curl >/dev/null; then curl --fail --silent --show-error --location --output "$work/$1" "$from/$1"; else wget -q -O "$work/$1" "$from/$1"; fi ;;
    esac || fail "Cannot fetch $from/$1"
}
fetch SHA256SUMS
end=${static:+-static}
file=$(sed -n "s/^[0-9a-f]\{64\}  \(picollo-[0-9.]*-linux-$machine${end:-.tar.gz}\)$/\1/p" "$work/SHA256SUMS")
[ -n "$file" ] || fail "$from/SHA256SUMS names no file for $machine"
fetch "$file"
(cd "$work" && grep -F "  $file" SHA256SUMS | sha256sum -c - >/dev/null) || fail "$file has not the checksum of SHA256SUMS"
mkdir -p "$prefix" && new=$(mktemp -d "$prefix/.picollo.XXXXXX") || fail "Cannot write into $prefix"
if [ -n "$static" ]; then
    chmod 755 "$work/$file" && mkdir "$new/bin" && mv "$work/$file" "$new/bin/picollo" && cd "$new"
else
    tar -xzf "$work/$file" -C "$new" && cd "$new/${file%.tar.gz}"
fi || fail "Cannot write into $prefix"
# Not README and LICENSE, which would mean something else in the prefix's root.
find ./*/ -type d | while read -r folder; do mkdir -p "$prefix/$folder" && [ -w "$prefix/$folder" ] || exit 1; done || fail "Cannot write into $prefix"
trap '' HUP INT TERM
# Renamed, because a running program still needs the old file.
find ./*/ ! -type d | while read -r path; do mv -f "$path" "$prefix/$path" || exit 1; done
cd /
"$prefix/bin/picollo" --version
echo "installed under $prefix"
case :$PATH: in *:$prefix/bin:*) ;; *) echo "  export PATH=\"$prefix/bin:\$PATH\"" ;; esac
