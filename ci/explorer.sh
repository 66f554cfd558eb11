#!/usr/bin/env bash
# Does docs/layout.html compute what the library does? The module in it is held against the library in Node, on layouts and values
# of every size; and headless Chromium opens the page from a file and says what it shows. Ends with "explorer: N checks passed".
#
#   ci/explorer.sh              checks the page
#   ci/explorer.sh --write      first builds the module of explorer/ and puts it into the page
#   ci/explorer.sh --picture    also takes the picture of it in docs/images
#
# Building the module needs the compiler of ci/cross-rust.sh; checking it does not.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$PWD/target/explorer
mkdir -p "$work"
page=docs/layout.html

if [ "${1-}" = --write ]; then
    lld=$(find "$(rustc --print sysroot)/lib/rustlib" -name rust-lld | head -1)
    RUSTC=$(ci/cross-rust.sh) RUSTC_BOOTSTRAP=1 RUSTFLAGS="-C linker=$lld" CARGO_TARGET_DIR=$work/target \
        cargo build --quiet --locked --release --manifest-path explorer/Cargo.toml --target wasm32-unknown-unknown -Zbuild-std=core
    python3 - "$work/target/wasm32-unknown-unknown/release/layout_explorer.wasm" $page <<'END'
import base64, re, sys
from pathlib import Path

module = base64.b64encode(Path(sys.argv[1]).read_bytes()).decode()
page = Path(sys.argv[2])
text, found = re.subn("^const MODULE = .*$", f'const MODULE = "{module}";', page.read_text(), flags=re.MULTILINE)
if found != 1:
    sys.exit(f"explorer: FAILED: {page} has {found} lines for the module, not one")
page.write_text(text)
END
fi

cargo run --quiet --release -p picollo-core --example layouts >"$work/layouts.txt"
node explorer/check.js $page "$work/layouts.txt" | tee "$work/node.log"
checks=$(awk '{ print $1 }' "$work/node.log")

find_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome || true; }
browser=$(find_browser)
if [ -z "$browser" ]; then
    ci/setup.sh browser && browser=$(find_browser) || true
fi
if [ -z "$browser" ]; then
    echo "SKIPPED the page itself: no Chromium, so nobody looked at it"
else
    browse() {
        # What a run that was killed left there would be in the way.
        rm -rf "$work/profile"
        timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-sync \
            --disable-background-networking --disable-component-update --hide-scrollbars --user-data-dir="$work/profile" "$@" 2>"$work/browser.log"
    }
    # shows QUERY WHAT...: the page, opened with the query, holds all of these.
    shows() {
        local query=$1 what
        shift
        browse --dump-dom "file://$PWD/$page?$query" | sed 's/\xe2\x80\xaf//g' >"$work/dom.html"
        for what in "$@"; do
            if grep -qF -- "$what" "$work/dom.html"; then
                checks=$((checks + 1))
            else
                echo "explorer: FAILED: with ?$query the page does not show: $what"
                exit 1
            fi
        done
    }
    shows "error=0.01&min=0&max=18446744073709551615&value=1000000" '<dd id="bucket">999424 to 1007615</dd>' '<dd id="step">8192</dd>' \
        '<dd id="midpoint">1003520, off by 3520: 0.352 %</dd>' '<dd id="logical-index">954, block 14</dd>' '<dd id="length">3776</dd>' \
        'on a logarithmic axis'
    shows "error=0.01&min=10000&max=30000&value=9" '<dd id="length">104</dd>' 'none: an underflow'
    shows "error=0.01&min=10000&max=30000&value=18446744073709551615" 'none: an overflow'
    shows "error=0.1&min=0&max=255&value=100" '<dd id="block-size">8 (2^3)</dd>' 'as wide as their values' '<dd id="bucket">96 to 103</dd>'
    shows "error=0.001&min=5&max=5&value=5" 'The smallest value must be below the largest.'
    shows "error=x&min=0&max=5&value=5" 'error: a number above 0'
    shows "error=0.1&min=0&max=18446744073709551616&value=5" 'max: beyond'
    shows "" '<dd id="storage-index">'
    if [ "${1-}" = --picture ] || [ "${2-}" = --picture ]; then
        browse --window-size=1040,1180 --screenshot="$PWD/docs/images/layout-explorer.png" \
            "file://$PWD/$page?error=0.1&min=0&max=255&value=100" >/dev/null
    fi
fi
echo "explorer: $checks checks passed"
