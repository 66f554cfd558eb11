"""Packs a folder into a compressed newc cpio archive: python3 initramfs.py FOLDER OUT. Adds /dev/console."""

import gzip
import os
import stat
import sys


def entry(inode, name, mode, data=b"", device=(0, 0)):
    name = name.encode() + b"\0"
    fields = [inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name), 0]
    header = b"070701" + b"".join(b"%08x" % field for field in fields)
    pad = lambda length: b"\0" * (-length % 4)
    return header + name + pad(len(header) + len(name)) + data + pad(len(data))


def main(folder, out):
    inode = 1
    parts = [entry(inode, "dev", stat.S_IFDIR | 0o755)]
    for name in ("proc", "sys", "tmp"):
        inode += 1
        parts.append(entry(inode, name, stat.S_IFDIR | 0o755))
    inode += 1
    parts.append(entry(inode, "dev/console", stat.S_IFCHR | 0o600, device=(5, 1)))
    for root, folders, files in os.walk(folder):
        for name in sorted(folders) + sorted(files):
            path = os.path.join(root, name)
            inode += 1
            inside = os.path.relpath(path, folder)
            if os.path.isdir(path):
                parts.append(entry(inode, inside, stat.S_IFDIR | 0o755))
            else:
                with open(path, "rb") as file:
                    parts.append(entry(inode, inside, stat.S_IFREG | 0o755, file.read()))
    parts.append(entry(0, "TRAILER!!!", 0))
    with gzip.open(out, "wb", compresslevel=1) as archive:
        archive.write(b"".join(parts))


main(*sys.argv[1:])
