#!/usr/bin/env bash
# Fetches a check's tools once, without changing the machine: from the machine's own Debian sources, through a private
# apt state, only unpacked. Prints their folder. Its folder `run` is for the PATH: there, each program has its libraries.
#
#   ci/tools/debian.sh arm        a compiler and binutils for Cortex-M
#   ci/tools/debian.sh windows    mingw-w64 and wine
#   ci/tools/debian.sh aarch64    an emulator, an arm64 kernel, a cross compiler, and a Rust compiler with arm64's standard library
#   ci/tools/debian.sh rust-src   the sources of Rust's libraries, of that compiler's version
#   ci/tools/debian.sh i386       a C library and a compiler for 32-bit x86, which runs here
#   ci/tools/debian.sh s390x      the same for a big-endian machine, and an emulator of it
#   ci/tools/debian.sh arm64-python      Python for arm64 with its C library, and an emulator of programs
#   ci/tools/debian.sh buildah    builds and runs images of containers, without a service
#   ci/tools/debian.sh root-SUITE        a whole Debian for chroot, with compilers and Python, made by debootstrap as root
#   ci/tools/debian.sh cmake, ...: any other package by its name
set -euo pipefail

set=$1
architectures=(amd64)
# Packages that are fetched without their dependencies, and even if the machine has them.
alone=()
case $set in
arm) packages="gcc-arm-none-eabi binutils-arm-none-eabi" ;;
windows) packages="gcc-mingw-w64-x86-64-win32 wine64 libwine" ;;
aarch64)
    architectures+=(arm64)
    packages="qemu-system-arm gcc-aarch64-linux-gnu rustc-web"
    alone=(libc6-dev-arm64-cross linux-libc-dev-arm64-cross libstd-rust-web-dev:arm64)
    ;;
rust-src) packages="rust-web-src" ;;
i386) packages="gcc-i686-linux-gnu libc6-dev-i386-cross" ;;
s390x) packages="gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user" ;;
arm64-python)
    architectures+=(arm64)
    packages="qemu-user"
    alone=({libc6,libgcc-s1,libstdc++6,{,lib}python3.11-minimal,libpython3.11-stdlib,libexpat1,zlib1g,libffi8,libbz2-1.0,liblzma5,libuuid1}:arm64)
    ;;
buildah)
    packages=libgpgme11
    alone=(buildah golang-github-containers-common)
    ;;
*) packages="$set" ;;
esac

cache=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/debian/$set
root=$cache/root
# Raise this if a list above changes, so that an old folder is not mistaken for a complete one.
stamp=$cache/complete-2
# Two jobs may want the same folder; the second finds the first one's.
mkdir -p "$cache"
exec 9>"$cache.lock"
flock 9
if [ -e "$stamp" ]; then
    echo "$root"
    exit 0
fi

for tool in apt-get apt-cache dpkg-deb dpkg-query; do
    command -v "$tool" >/dev/null || { echo "debian-tools: needs $tool, that is, a Debian machine" >&2; exit 1; }
done

if [[ $set = root-* ]]; then
    tools=$("$0" debootstrap)
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | head -n 1)
    rm -rf "$root"
    # The script of sid is that of all suites since 2015.
    DEBOOTSTRAP_DIR=$tools/usr/share/debootstrap "$tools/usr/sbin/debootstrap" --variant=minbase \
        --include=g++,libc6-dev,pkg-config,python3,python3-venv "${set#root-}" "$root" "$mirror" "$tools/usr/share/debootstrap/scripts/sid" >&2
    rm -rf "$root"/var/cache/apt/archives/*.deb
    touch "$stamp"
    echo "$root"
    exit 0
fi

rm -rf "$cache/state" "$cache/archives" "$cache/debs" "$root"
mkdir -p "$cache"/{state/lists/partial,archives/archives/partial,debs} "$root"
touch "$cache/status"
options=(
    -qq
    -o Dir::State="$cache/state" -o Dir::State::status="$cache/status" -o Dir::Cache="$cache/archives"
    "${architectures[@]/#/-oAPT::Architectures::=}" -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User=root
)

echo "debian-tools: fetching $packages" >&2
# Sources unrelated to Debian may fail: only the packages matter.
apt-get "${options[@]}" update >&2 || true

# The names of the dependencies, except those that the machine has.
# shellcheck disable=SC2086 # several names
mapfile -t needed < <(apt-cache "${options[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances $packages | grep -E '^[a-z0-9]' | grep -v ':' | sort -u |
    while read -r package; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done)
[ $((${#needed[@]} + ${#alone[@]})) -gt 0 ] || { echo "debian-tools: $packages not found: is there a network?" >&2; exit 1; }
if [ "$set" = aarch64 ]; then
    # The newest kernel's name, through the package that always depends on it, because pinned names become outdated.
    kernel=$(apt-cache "${options[@]}" depends linux-image-cloud-arm64:arm64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
    [ -n "$kernel" ] || { echo "debian-tools: no arm64 kernel found" >&2; exit 1; }
    alone+=("$kernel")
fi
(cd "$cache/debs" && apt-get "${options[@]}" download "${needed[@]}" "${alone[@]}" >&2)
for package in "$cache"/debs/*.deb; do
    dpkg-deb -x "$package" "$root"
done
rm -rf "$cache/debs" "$cache/archives" "$cache/state"
# Links to other packages' files would lead out of the folder.
find "$root" -xtype l -lname '/*' | while read -r link; do
    place=$(readlink "$link")
    if [ -e "$root$place" ]; then ln -sfn "$root$place" "$link"; fi
done
mkdir "$root/run"
for program in "$root"/usr/bin/* "$root"/usr/sbin/*; do
    # Its name without the thread model, which mingw-w64 has.
    name=${program##*/} name=${name%-win32}
    printf '#!/bin/sh\nPATH=%s:$PATH LD_LIBRARY_PATH=%s exec %s "$@"\n' "$root/usr/bin" "$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu" "$program" >"$root/run/$name"
    chmod +x "$root/run/$name"
done
# A script that contains absolute paths.
if [ -e "$root/usr/lib/wine/wineserver64" ]; then ln -sf wineserver64 "$root/usr/lib/wine/wineserver"; fi
touch "$stamp"
echo "$root"
