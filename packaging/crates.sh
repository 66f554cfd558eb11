#!/usr/bin/env bash
# Publishes the crates in their order, except those that crates.io has in this version: after a failure, it can run again.
#
#   packaging/crates.sh [OPTION OF cargo publish]...      PICOLLO_INDEX is another index than that of crates.io
set -euo pipefail
cd "$(dirname "$0")/.."
index=${PICOLLO_INDEX:-https://index.crates.io} excluded=() left=0
packages=$(cargo metadata --quiet --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] != []:
        print(package["name"], package["version"])')
while read -r name version; do
    if grep -qF "\"vers\":\"$version\"" <<<"$(curl --fail --silent --location "$index/${name:0:2}/${name:2:2}/$name")"; then
        echo "$name $version is published already"
        excluded+=(--exclude "$name")
    else
        left=$((left + 1))
    fi
done <<<"$packages"
[ "$left" -eq 0 ] || cargo publish --workspace --locked "${excluded[@]}" "$@"
