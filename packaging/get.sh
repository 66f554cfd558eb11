#!/bin/sh
# Installs Picollo for Linux on x86-64 or arm64: the command, the library and its headers. Nothing is unpacked before
# its checksum is verified.
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
    --version) version=v${2:?a version}; shift ;;
    --static) static=1 ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift
done
from=${PICOLLO_RELEASES:-https://github.com/picollo/picollo/releases}
case $from in
file:*) ;;
*) if [ $version = latest ]; then from=$from/latest/download; else from=$from/download/$version; fi ;;
esac
machine=$(uname -m)
case $(uname -s)-$machine in
Linux-x86_64 | Linux-aarch64) ;;
*) echo "There is no build for $(uname -s) on $machine: cargo install picollo-cli" >&2; exit 1 ;;
esac
if [ -n "$(find /lib -maxdepth 1 -name 'ld-musl-*' 2>/dev/null)" ] && ! getconf GNU_LIBC_VERSION >/dev/null 2>&1; then static=1; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() {
    case $from in
    file:*) cp "${from#file://}/$1" "$work/" ;;
    *) if command -v curl >/dev/null; then curl --fail --silent --show-error --location --output "$work/$1" "$from/$1"; else wget -q -O "$work/$1" "$from/$1"; fi ;;
    esac || { echo "Cannot fetch $from/$1" >&2; exit 1; }
}
fetch SHA256SUMS
end=${static:+-static}
file=$(sed -n "s/^[0-9a-f]\{64\}  \(picollo-[0-9.]*-linux-$machine${end:-.tar.gz}\)$/\1/p" "$work/SHA256SUMS")
[ -n "$file" ] || { echo "SHA256SUMS names no file for $machine" >&2; exit 1; }
fetch "$file"
(cd "$work" && grep -F "  $file" SHA256SUMS | sha256sum -c - >/dev/null) || { echo "$file has not the checksum of SHA256SUMS: nothing was installed" >&2; exit 1; }
mkdir -p "$prefix/bin"
if [ -n "$static" ]; then
    chmod 755 "$work/$file"
    mv -f "$work/$file" "$prefix/bin/picollo"
else
    tar -xzf "$work/$file" -C "$work"
    # Not in the prefix's root, where these names would mean something else.
    (cd "$work/${file%.tar.gz}" && cp -R bin include lib share "$prefix/")
fi
"$prefix/bin/picollo" --version
echo "installed under $prefix"
case :$PATH: in *:$prefix/bin:*) ;; *) echo "  export PATH=$prefix/bin:\$PATH" ;; esac
