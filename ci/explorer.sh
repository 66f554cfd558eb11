#!/usr/bin/env bash
# Does docs/layout.html compute the same as the library? Node compares its mapping with the library's, for layouts and
# values of every size, and headless Chromium opens the page from a file and reads its text. Ends with "explorer: N
# checks passed".
#
#   ci/explorer.sh              checks the page
#   ci/explorer.sh --picture    also updates its picture in docs/images
set -euo pipefail
cd "$(dirname "$0")/.."

work=$PWD/target/explorer
mkdir -p "$work"
page=docs/layout.html

cargo run --quiet -p picollo-core --example layouts >"$work/layouts.txt"
node ci/explorer.js $page "$work/layouts.txt" | tee "$work/node.log"
# A check that cannot fail proves nothing: it must detect one planted fault.
sed 's/const lower = (logical - /const lower = (logical - 1n - /' $page >"$work/planted.html"
if node ci/explorer.js "$work/planted.html" "$work/layouts.txt" >/dev/null 2>&1; then
    echo "explorer: FAILED: a planted fault was not found"
    exit 1
fi
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
        # Files of a killed run would be in the way.
        rm -rf "$work/profile"
        timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-sync \
            --disable-background-networking --disable-component-update --hide-scrollbars --user-data-dir="$work/profile" "$@" 2>"$work/browser.log"
    }
    # shows QUERY WHAT...: the page, opened with the query, contains all of these.
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
    if [ "${1-}" = --picture ]; then
        browse --window-size=1040,1180 --screenshot="$PWD/docs/images/layout-explorer.png" \
            "file://$PWD/$page?error=0.1&min=0&max=255&value=100" >/dev/null
    fi
fi
echo "explorer: $checks checks passed"
