#!/bin/sh
# Builds the release library and stages it as an installation: headers, shared and static library, picollo.pc.
#
#   ci/stage.sh [DIRECTORY]      default: target/stage
#
# Programs find it through pkg-config, even after the tree is moved:
#   PKG_CONFIG_PATH=target/stage/lib/pkgconfig pkg-config --cflags --libs picollo
#
# PICOLLO_BUILT=DIRECTORY: the directory with the already built libraries.
set -eu
cd "$(dirname "$0")/.."

stage=${1:-target/stage}
built=${PICOLLO_BUILT:-}
if [ -z "$built" ]; then
    [ -e "${CARGO_TARGET_DIR:-target}/release/libpicollo.so" ] || echo "building the library: a minute or two the first time" >&2
    cargo build --release --quiet -p picollo-ffi
    built=${CARGO_TARGET_DIR:-target}/release
fi
abi=$(ci/tools/abi-version.sh)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

mkdir -p "$stage/include" "$stage/lib/pkgconfig" "$stage/share/cmake/picollo"
cp include/*.h "$stage/include/"
for header in include/*.hpp; do
    if [ -e "$header" ]; then cp "$header" "$stage/include/"; fi
done

# At run time programs look for the name with the ABI's number. Each name is replaced at once, because programs of other
# jobs may begin meanwhile.
new=$stage/lib/new.$$
trap 'rm -f "$new"' EXIT
replace() { mv -fT "$new" "$stage/lib/$1"; }
install -m 755 "$built/libpicollo.so" "$new"
replace "libpicollo.so.$abi.0.0"
ln -s "libpicollo.so.$abi.0.0" "$new"
replace "libpicollo.so.$abi"
ln -s "libpicollo.so.$abi" "$new"
replace libpicollo.so
install -m 644 "$built/libpicollo.a" "$new"
replace libpicollo.a
# Those of earlier numbers.
for library in "$stage"/lib/libpicollo.so.*; do
    case $library in *.so."$abi" | *.so."$abi".0.0) ;; *) rm -f "$library" ;; esac
done

sed "s/@ABI@/$abi/" ffi/cmake/picolloConfig.cmake.in >"$stage/share/cmake/picollo/picolloConfig.cmake"
sed "s/@VERSION@/$version/" ffi/cmake/picolloConfigVersion.cmake.in >"$stage/share/cmake/picollo/picolloConfigVersion.cmake"

# Relative to the file itself, so that the tree can be moved.
cat >"$stage/lib/pkgconfig/picollo.pc" <<END
prefix=\${pcfiledir}/../..
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: picollo
Description: Histograms and performance counters
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lpicollo
Libs.private: -lpthread -lm -ldl
END
