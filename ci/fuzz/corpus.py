#!/usr/bin/env python3
"""The initial inputs of fuzzing: one archive for each target, fuzz/corpus/TARGET.tar.xz, as they are many and small.

    corpus.py unpack ARCHIVE FOLDER
    corpus.py pack FOLDER ARCHIVE       the same inputs make the same bytes
"""

import io
import lzma
import pathlib
import sys
import tarfile


def pack(folder, archive):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for file in sorted(pathlib.Path(folder).iterdir()):
            # Nothing specific to this machine or date.
            entry = tarfile.TarInfo(file.name)
            entry.size = file.stat().st_size
            tar.addfile(entry, io.BytesIO(file.read_bytes()))
    pathlib.Path(archive).write_bytes(lzma.compress(raw.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def unpack(archive, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        for entry in tar:
            # Plain files with plain names: an archive cannot write anywhere else.
            if not entry.isfile() or "/" in entry.name or entry.name.startswith("."):
                sys.exit(f"{archive}: {entry.name} is not an input")
            (folder / entry.name).write_bytes(tar.extractfile(entry).read())


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](*sys.argv[2:])
