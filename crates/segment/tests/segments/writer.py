"""A writer of segments that follows only docs/segment-format.md: `writer.py DIRECTORY NAME [BOOT_ID_OF_THE_FILE]`.

It writes an interlocked histogram `latency` (route=/pay, unit ns), a single-writer histogram `own`, a counter `requests`, a striped counter
`bytes` and an entry that its maker never finished. It prints the path, and ends when its standard input does. With LOCK=0 in its environment
it holds no lock on byte 0.
"""

import fcntl
import mmap
import os
import secrets
import struct
import sys
import threading
import time

PAGE, HEADER, ENTRY, ENTRIES, CAPACITY = 4096, 4096, 1024, 4096, 8 << 20
F_OFD_SETLK = 37
directory, name = sys.argv[1:3]


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def lock(descriptor: int, byte: int, kind: int) -> None:
    fcntl.fcntl(descriptor, F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, 1, 0))


def pages(size: int) -> int:
    return (size + PAGE - 1) // PAGE * PAGE


start = int(read("/proc/self/stat").rpartition(")")[2].split()[19])
boot_id = sys.argv[3] if len(sys.argv) > 3 else read("/proc/sys/kernel/random/boot_id").strip()

# The file, complete under a temporary name.
os.makedirs(directory, 0o700, exist_ok=True)
last = f"{name}.{os.getpid()}.{start}"
temporary = os.path.join(directory, f".{last}.{secrets.token_hex(8)}")
path = os.path.join(directory, last)
file = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
if os.environ.get("LOCK") != "0":
    lock(file, 0, fcntl.F_RDLCK)
os.ftruncate(file, CAPACITY)
os.posix_fallocate(file, 0, HEADER)
memory = mmap.mmap(file, CAPACITY)
struct.pack_into("=8sIIIIII", memory, 0, b"PicoSegm", 1, 0x01020304, 8, HEADER, ENTRY, ENTRIES)
struct.pack_into("=Q16sQII", memory, 32, CAPACITY, secrets.token_bytes(16), pages(HEADER + ENTRIES * ENTRY), 0, 0)
struct.pack_into("=IIQQ", memory, 72, os.getpid(), 0, start, time.time_ns())
struct.pack_into("40s72s128s", memory, 96, boot_id.encode(), name.encode(), read("/proc/self/comm").strip().encode())
os.rename(temporary, path)


def entry(kind, mode, text, size, body=b"", owner=(0, 0, 0), is_finished=True) -> int:
    """Makes a new entry and returns the place of its object."""
    name, unit, description, labels = text
    packed = b"".join(
        struct.pack("=H", len(part.encode())) + part.encode()
        for label in sorted(labels.items(), key=lambda label: label[0].encode())
        for part in label
    )
    texts = [name.encode(), unit.encode(), description.encode(), packed]
    (used,), (index,) = struct.unpack_from("=Q", memory, 56), struct.unpack_from("=I", memory, 64)
    slot = HEADER + index * ENTRY
    # Reserve room before the first store.
    os.posix_fallocate(file, slot // PAGE * PAGE, PAGE)
    os.posix_fallocate(file, used, pages(size))
    struct.pack_into("=I", memory, slot, 1)
    struct.pack_into("=Q", memory, 56, used + pages(size))
    struct.pack_into("=I", memory, 64, index + 1)
    struct.pack_into("=IIQQdQ", memory, slot + 8, kind, 0, used, size, 1.0, time.time_ns())
    struct.pack_into("=IIQI", memory, slot + 48, mode, owner[0], owner[1], owner[2])
    struct.pack_into("=4H", memory, slot + 68, *map(len, texts))
    memory[slot + 76 : slot + 76 + sum(map(len, texts))] = b"".join(texts)
    memory[used : used + len(body)] = body
    if is_finished:
        struct.pack_into("=I", memory, slot, 2)
    return used


SCALE, LEAST, MOST = 6, 1, 3_600_000_000_000


def logical_index(value: int) -> int:
    shift = max(value, 1 << SCALE).bit_length() - 1 - SCALE
    return (shift << SCALE) + (value >> shift)


CELLS = logical_index(MOST) - logical_index(LEAST) + 1
HISTOGRAM = (256 + 8 * CELLS + 63) // 64 * 64


def histogram(mode_of_entry: int, mode_of_image: int, text, owner=(0, 0, 0)) -> int:
    image = struct.pack("=QQQQII", CELLS, logical_index(LEAST), LEAST, MOST, SCALE, 0)
    image += struct.pack("=4B12x4sHBB", mode_of_image, 0, 64, 0, b"Pico", 2, 8, 2)
    image = image.ljust(200, b"\0") + secrets.token_bytes(16)
    return entry(1, mode_of_entry, text, HISTOGRAM, image, owner)


def add(place: int, count: int) -> None:
    """Nobody else writes here. With other writers, the addition would have to be atomic."""
    struct.pack_into("=Q", memory, place, struct.unpack_from("=Q", memory, place)[0] + count)


def record(image: int, value: int, count: int) -> None:
    add(image + 256 + 8 * (logical_index(value) - logical_index(LEAST)), count)


# Entries, under the lock of the directory on a separate description.
directory_lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
lock(directory_lock, 1, fcntl.F_WRLCK)
latency = histogram(0, 1, ("latency", "ns", "Time to answer", {"route": "/pay", "code": "200"}))
own = histogram(1, 0, ("own", "", "", {}), (os.getpid(), start, threading.get_native_id()))
requests = entry(2, 0, ("requests", "", "", {}), 128)
total = entry(2, 1, ("bytes", "By", "", {}), 1088)
entry(2, 0, ("unfinished", "", "", {}), 128, is_finished=False)
lock(directory_lock, 1, fcntl.F_UNLCK)

record(latency, 3_290_000, 1234)
record(latency, 45, 66)
record(own, 7, 8)
add(requests, 2468)
for stripe in range(16):
    add(total + 64 * stripe, 10 + stripe)
print(path, flush=True)
sys.stdin.read()
