#!/bin/sh
# Prints PICOLLO_ABI_VERSION, which is also the number of the SONAME (docs/abi.md).
sed -n 's/^pub const PICOLLO_ABI_VERSION: u32 = \([0-9]*\);/\1/p' "$(dirname "$0")/../../ffi/src/picollo/version.rs"
