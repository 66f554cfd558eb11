#!/usr/bin/env bash
# Do the crates work from their packages alone? Each builds from its package, has metadata, a README and the license.
# `cargo install` builds the command, and the Rust example of the README runs, from a directory that holds these packages
# and those of others, without a network. Ends with a line "N passed, N failed".
#
#   ci/dist/crates.sh [DIRECTORY]      default: target/package, where cargo writes the packages
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
packages=$(realpath -m "${1:-$target/package}")
. ci/tools/checks.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What a release runs, without the upload, which keeps no packages. Crates that are not for users have `publish = false`.
build_from_packages() {
    local names
    rm -f "$target"/package/picollo*.crate
    names=$(cargo metadata --quiet --no-deps --format-version 1 |
        python3 -c 'import json, sys; print(*("-p" + each["name"] for each in json.load(sys.stdin)["packages"] if each["publish"] is None))') &&
        cargo publish --workspace --dry-run --locked --allow-dirty --quiet &&
        cargo package --no-verify --locked --allow-dirty --quiet $names || return 1
    [ "$packages" = "$target/package" ] || { mkdir -p "$packages" && cp "$target"/package/picollo*.crate "$packages/"; }
}

have_what_users_see() {
    python3 - "$packages"/picollo*.crate <<'END'
import sys
import tarfile
import tomllib

for path in sys.argv[1:]:
    with tarfile.open(path) as archive:
        names = {member.name.split("/", 1)[1]: member for member in archive if "/" in member.name}
        about = tomllib.load(archive.extractfile(names["Cargo.toml"]))["package"]
        text = archive.extractfile(names["README.md"]).read().decode()
        assert b"MIT License" in archive.extractfile(names["LICENSE"]).read(), path
    assert all(about.get(key) for key in ("description", "repository", "readme", "license", "rust-version", "categories")), path
    assert 0 < len(about["keywords"]) <= 5 and max(map(len, about["keywords"])) <= 20, path
    assert text.startswith(f"# ") and "```" in text, path
    assert not [name for name in names if name.startswith(("tests/", "examples/"))], path
    if about["name"] == "picollo-ffi":
        assert {"include/picollo.h", "include/picollo.hpp", "include/picollo_all.h"} <= set(names), path
print(f"{len(sys.argv) - 1} packages")
assert len(sys.argv) == 17
END
}

# A registry in a directory: the packages of others as cargo has them, and ours.
registry() {
    local package name
    cargo vendor --quiet --locked --versioned-dirs "$work/registry" >/dev/null &&
        for package in "$packages"/picollo*.crate; do
            name=$(basename "$package" .crate)
            tar -xzf "$package" -C "$work/registry" && echo '{"files":{},"package":null}' >"$work/registry/$name/.cargo-checksum.json"
        done
    mkdir -p "$work/elsewhere/.cargo"
    printf '[source.crates-io]\nreplace-with = "here"\n[source.here]\ndirectory = "%s"\n[net]\noffline = true\n' "$work/registry" \
        >"$work/elsewhere/.cargo/config.toml"
}

# Unoptimized, which takes a quarter of the time.
command_installs() {
    cd "$work/elsewhere" &&
        cargo install --config .cargo/config.toml --quiet --debug --target-dir "$target" --root "$work/installed" picollo-cli &&
        [ "$("$work/installed/bin/picollo" --version)" = "picollo $(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)" ] &&
        "$work/installed/bin/picollo" list
}

example_runs() {
    mkdir -p "$work/elsewhere/example/src" && cd "$work/elsewhere/example" &&
        printf '[package]\nname = "example"\nedition = "2024"\n[dependencies]\npicollo = { version = "0", features = ["perf", "text"] }\n' >Cargo.toml &&
        sed -n '/^```rust$/,/^```$/p' "$root/README.md" | sed '/^```/d' >src/main.rs &&
        cargo run --quiet --target-dir "$target"
}

check "every crate builds from its package" build_from_packages
check "packages have metadata, README and license" have_what_users_see
check "a registry of packages" registry
check "cargo install picollo-cli" command_installs
check "the Rust example of the README" example_runs
finish
