#!/usr/bin/env bash
# Fetches what ci/aarch64-pmu.sh needs, once: an emulator, an arm64 kernel, a cross compiler and a Rust compiler with arm64's
# standard library. Everything comes from the machine's own Debian sources through a private apt state, and is only unpacked:
# nothing is installed, so nothing on the machine is replaced or removed. Prints the folder; about 400 MB unpacked.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/aarch64
root=$cache/root
# Raised whenever the list below changes, so that an old folder is not taken for a complete one.
stamp=$cache/complete-1
if [ -e "$stamp" ]; then
    echo "$root"
    exit 0
fi

for tool in apt-get apt-cache dpkg-deb dpkg-query; do
    command -v "$tool" >/dev/null || { echo "aarch64-tools: needs $tool, that is, a Debian machine" >&2; exit 1; }
done

rm -rf "$cache/state" "$cache/archives" "$root" "$cache/debs"
mkdir -p "$cache"/{state/lists/partial,archives/archives/partial,debs} "$root"
touch "$cache/status"
options=(
    -qq
    -o Dir::State="$cache/state" -o Dir::State::status="$cache/status" -o Dir::Cache="$cache/archives"
    -o APT::Architectures::=amd64 -o APT::Architectures::=arm64
    -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User=root
)

echo "aarch64-tools: fetching the emulator, the kernel and the compilers" >&2
# Sources that have nothing to do with Debian may fail: what counts is whether the packages are found.
apt-get "${options[@]}" update >&2 || true

# All packages that the given ones need, by name.
needed() {
    apt-cache "${options[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
        --no-enhances "$@" | grep -E '^[a-z0-9]' | sort -u
}
not_installed() {
    while read -r package; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}
# The newest version's name, through the package that always depends on it: pinned names rot.
kernel=$(apt-cache "${options[@]}" depends linux-image-cloud-arm64:arm64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
[ -n "$kernel" ] || { echo "aarch64-tools: no arm64 kernel found: is there a network?" >&2; exit 1; }

mapfile -t tools < <(needed qemu-system-arm gcc-aarch64-linux-gnu rustc-web | grep -v ':' | not_installed)
(
    cd "$cache/debs"
    apt-get "${options[@]}" download "${tools[@]}" libc6-dev-arm64-cross linux-libc-dev-arm64-cross \
        libstd-rust-web-dev:arm64 "$kernel" >&2
)
for package in "$cache"/debs/*.deb; do
    dpkg-deb -x "$package" "$root"
done
rm -rf "$cache/debs" "$cache/archives" "$cache/state"
touch "$stamp"
echo "$root"
