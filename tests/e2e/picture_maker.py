"""Pictures made by hand, for tests that can't count on a library."""

import base64
import json
import struct
import urllib.parse
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, *, row=None, ancillary=b"", level=6):
    """A greyscale PNG; `row` is the bytes of each row."""
    line = b"\0" + (row or bytes(x & 0xFF for x in range(width)))
    packer = zlib.compressobj(level)
    data = b"".join([packer.compress(line) for _ in range(height)] + [packer.flush()])
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        SIGNATURE
        + chunk(b"IHDR", header)
        + (chunk(b"teSt", ancillary) if ancillary else b"")
        + chunk(b"IDAT", data)
        + chunk(b"IEND", b"")
    )


def padded_png(size):
    """A sound PNG of exactly `size` bytes."""
    bare = len(png(8, 8))
    made = png(8, 8, ancillary=bytes(size - bare - 12))
    assert len(made) == size
    return made


def bomb_png():
    """30,000 × 30,000 in about 100 KB: 900 megapixels of one bit."""
    packer = zlib.compressobj(9)
    line = bytes(1 + 30000 // 8)
    data = b"".join([packer.compress(line * 100) for _ in range(300)] + [packer.flush()])
    header = struct.pack(">IIBBBBB", 30000, 30000, 1, 0, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def slow_png():
    """100 megapixels of grey: a second of work or more in a file of 430 KB."""
    width, height = 10000, 9999
    packer = zlib.compressobj(1)
    data = b"".join([packer.compress(b"\0" + bytes(width)) for _ in range(height)] + [packer.flush()])
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def gif(width=2, height=2):
    """One frame of two colours."""
    return (
        b"GIF89a"
        + struct.pack("<HHBBB", width, height, 0x80, 0, 0)
        + b"\0\0\0\xff\xff\xff"
        + b","
        + struct.pack("<HHHHB", 0, 0, width, height, 0)
        + lzw_of_zeros(width * height)
        + b";"
    )


def lzw_of_zeros(count):
    """LZW data of `count` zeros, without compression: a clear code before each pair keeps codes 3 bits wide."""
    codes = []
    for index in range(count):
        if index % 2 == 0:
            codes.append(4)
        codes.append(0)
    codes.append(5)
    bits = size = 0
    out = bytearray()
    for code in codes:
        bits |= code << size
        size += 3
        while size >= 8:
            out.append(bits & 0xFF)
            bits >>= 8
            size -= 8
    if size:
        out.append(bits)
    blocks = b"".join(bytes([len(out[i : i + 255])]) + bytes(out[i : i + 255]) for i in range(0, len(out), 255))
    return b"\x02" + blocks + b"\0"


def png_size(data):
    assert data.startswith(SIGNATURE)
    return struct.unpack(">II", data[16:24])


# ------------------------------------------------------------------------------------------------ blocks


def text(words):
    return {"type": "text", "text": words}


def inline(data, mime="image/png"):
    return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": mime}


def link(path, name=None, mime=None):
    """To a file of the Volume, such as tmp/a.png."""
    block = {"type": "resource_link", "uri": "volume:///" + urllib.parse.quote(path)}
    return block | ({"name": name} if name else {}) | ({"mimeType": mime} if mime else {})


def saying(*blocks):
    return json.dumps({"content": list(blocks)})
