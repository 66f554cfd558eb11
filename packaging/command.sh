#!/bin/sh
# Builds the command `picollo` and stages it as an installation, with manual pages and completions for bash, zsh, fish.
#
#   packaging/command.sh [DIRECTORY]      default: target/stage
#
# It is not part of ci/stage.sh, because it takes as long to compile as the library, and few need it.
# PICOLLO_BUILT=DIRECTORY: the directory with the already built command. PICOLLO_HOST=FILE: a command that writes manual
# and completions if the built one does not run here.
set -eu
cd "$(dirname "$0")/.."

stage=${1:-target/stage}
built=${PICOLLO_BUILT:-}
if [ -z "$built" ]; then
    # Alone: together with the library it would get the library's features.
    cargo build --profile command --locked --quiet -p picollo-cli
    built=${CARGO_TARGET_DIR:-target}/command
fi
# Replaced at once: others may start it meanwhile.
new=$stage/bin/new.$$
install -D -m 755 "$built/picollo" "$new"
if readelf -S "$new" 2>/dev/null | grep -q '\.symtab'; then strip "$new"; fi
mv -f "$new" "$stage/bin/picollo"
# Pages of removed commands would stay.
rm -f "$stage"/share/man/man1/picollo.1 "$stage"/share/man/man1/picollo-*.1
"${PICOLLO_HOST:-$stage/bin/picollo}" manual "$stage/share"
