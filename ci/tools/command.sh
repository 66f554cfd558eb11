#!/bin/sh
# Builds the command `picollo` and stages it as it would be installed: with its manual pages, and what bash, zsh and fish complete with.
#
#   ci/tools/command.sh [DIRECTORY]      default: target/stage
#
# It is no part of ci/stage.sh, since it takes as long to compile as the library, and few need it. PICOLLO_BUILT=DIRECTORY: it is there,
# built already. PICOLLO_HOST=FILE: what to ask for manual and completions, where the command that was built does not run here.
set -eu
cd "$(dirname "$0")/../.."

stage=${1:-target/stage}
built=${PICOLLO_BUILT:-}
if [ -z "$built" ]; then
    # Alone: together with the library it would be built with that one's features.
    cargo build --profile command --locked --quiet -p picollo-cli
    built=${CARGO_TARGET_DIR:-target}/command
fi
install -D -m 755 "$built/picollo" "$stage/bin/picollo"
if readelf -S "$stage/bin/picollo" 2>/dev/null | grep -q '\.symtab'; then strip "$stage/bin/picollo"; fi
# Pages of commands that there are no more would stay.
rm -f "$stage"/share/man/man1/picollo.1 "$stage"/share/man/man1/picollo-*.1
"${PICOLLO_HOST:-$stage/bin/picollo}" manual "$stage/share"
