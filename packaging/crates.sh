#!/usr/bin/env bash
# Publishes the crates in their order, except those that crates.io has in this version: after a failure, it can run again.
#
#   packaging/crates.sh [OPTION OF cargo publish]...      PICOLLO_INDEX is another index than that of crates.io
set -euo pipefail
cd "$(dirname "$0")/.."
index=${PICOLLO_INDEX:-https://index.crates.io} excluded=() left=0
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
packages=$(ci/tools/packages.sh all)
while read -r name _; do
    if grep -qF "\"vers\":\"$version\"" <<<"$(curl --fail --silent --location "$index/${name:0:2}/${name:2:2}/$name")"; then
        echo "$name $version is published already"
        excluded+=(--exclude "$name")
    else
        left=$((left + 1))
    fi
done <<<"$packages"
[ "$left" -eq 0 ] || cargo publish --workspace --locked "${excluded[@]}" "$@"
