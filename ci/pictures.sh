#!/bin/sh
# Are the pictures of docs/pictures.md what the library draws? Ends with "pictures: N are current".
set -eu
cd "$(dirname "$0")/.."
drawn="${CARGO_TARGET_DIR:-target}/pictures"
mkdir -p "$drawn"
cargo run --quiet --release -p picollo-core --example pictures -- "$drawn" "$drawn/report.html" >/dev/null
number=0
for picture in "$drawn"/*.svg; do
    cmp "$picture" "docs/images/$(basename "$picture")" || {
        echo "pictures: FAILED: draw them anew, as docs/pictures.md says, and look at them"
        exit 1
    }
    number=$((number + 1))
done
echo "pictures: $number are current"
