#!/bin/sh
# Links a shared library for musl, as its target's linker. Systems with musl give their C library this name, and wheels must need no other.
#
#   packaging/musl-shared.sh MACHINE ARGUMENT...
set -e
machine=$1
shift
zig-cc -target "$machine-linux-musl" -shared "$@"
while [ "$1" != -o ]; do shift; done
patchelf --replace-needed libc.so "libc.musl-$machine.so.1" "$2"
