# Named checks, for scripts that source this in the root of the tree. Such a script ends with `finish`.
sources=$PWD
passed=0 failed=0
pass() {
    passed=$((passed + 1))
    echo "ok: $*"
}
fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
}
# check NAME COMMAND...: shows what the command skipped, and all of its output if it fails. It runs in a condition, where -e has no effect, so its
# steps are chained.
check() {
    local log began=$SECONDS
    log=$(mktemp)
    if "${@:2}" >"$log" 2>&1; then
        pass "$1 ($((SECONDS - began)) s)$(grep -oE '^[0-9]+ passed[^=]*$' "$log" | tail -n 1 | sed 's/^/: /')"
    else
        tail -n 40 "$log"
        fail "$1"
    fi
    grep '^SKIPPED' "$log" || true
    rm -f "$log"
}
# add_up NAME LOG [STATUS]: adds what test runners summed up: cargo's, and ours. A program that failed no test must end well.
add_up() {
    local p f
    read -r p f < <(tr -d '\r' <"$2" | awk '/^test result: |^(init: )?[0-9]+ passed, [0-9]+ failed$/ {
        for (i = 2; i <= NF; i++) { if ($i ~ /^passed/) p += $(i - 1); if ($i ~ /^failed/) f += $(i - 1) }
    } END { print p + 0, f + 0 }')
    passed=$((passed + p)) failed=$((failed + f))
    if [ "$f" -gt 0 ] || [ "$p" -eq 0 ] || [ "${3:-0}" -ne 0 ]; then tail -n 40 "$2"; fi
    if [ "$f" -eq 0 ] && { [ "$p" -eq 0 ] || [ "${3:-0}" -ne 0 ]; }; then fail "$1 did not come to its end (status ${3:-0})"; fi
    echo "$1: $p passed, $f failed"
}
# Prints the last line.
finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# cmake_project TREE FOLDER: a project that finds an installed tree through CMake and pkg-config passes its tests.
cmake_project() {
    command -v cmake >/dev/null || PATH=$PATH:$("$sources/ci/tools/debian.sh" cmake)/run
    rm -rf "$2"
    PKG_CONFIG_PATH=$1/lib/pkgconfig cmake -S "$sources/ci/install" -B "$2" -DCMAKE_PREFIX_PATH="$1" &&
        cmake --build "$2" -- -j2 &&
        (cd "$2" && ctest --output-on-failure) &&
        # Another minor version may be incompatible, and must not be found.
        ! cmake -S "$sources/ci/install/wrong-version" -B "$2/wrong-version" -DCMAKE_PREFIX_PATH="$1"
}

# has_all_files TREE [FILE]...: an installed tree has these files, those of every installation, and no other.
has_all_files() {
    local abi expected
    abi=$("$sources/ci/tools/abi-version.sh")
    expected=$( (cd "$sources" && find include -type f -printf './%p\n'
        printf './lib/%s\n' libpicollo.a libpicollo.so "libpicollo.so.$abi" "libpicollo.so.$abi.0.0" pkgconfig/picollo.pc
        printf './share/cmake/picollo/%s\n' picolloConfig.cmake picolloConfigVersion.cmake
        printf './%s\n' bin/picollo share/bash-completion/completions/picollo share/zsh/site-functions/_picollo \
            share/fish/vendor_completions.d/picollo.fish share/man/man1/picollo.1 "${@:2}"
        "$1/bin/picollo" --help | sed -n '/^Commands:/,/^$/s|^  \([a-z]\+\) .*|./share/man/man1/picollo-\1.1|p' |
            grep -v picollo-help) | sort)
    (cd "$1" && find . ! -type d | sort) | diff <(echo "$expected") -
}
# versions_agree TREE: everything that has a version has that of the sources.
versions_agree() {
    local version
    version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$sources/Cargo.toml" | head -n 1)
    [ "$(PKG_CONFIG_PATH=$1/lib/pkgconfig pkg-config --modversion picollo)" = "$version" ] &&
        grep -qF "set(PACKAGE_VERSION \"$version\")" "$1/share/cmake/picollo/picolloConfigVersion.cmake" &&
        [ "$("$1/bin/picollo" --version)" = "picollo $version" ] &&
        grep -q "SONAME.*\[libpicollo\.so\.$("$sources/ci/tools/abi-version.sh")\]" <<<"$(readelf -d "$1/lib/libpicollo.so")"
}
