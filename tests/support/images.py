"""Hand-made image files."""
import struct
import zlib


def png(pixels):
    """A file for an array of height x width x 3 bytes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def jpeg():
    """A JPEG of 8 x 8 pixels, all of the same grey: a table of codes with one code each, and two bits of data."""
    def segment(marker, data):
        return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
    one_code = bytes([1] + 15 * [0] + [0])  # the code 0 means 0
    return (b"\xff\xd8" + segment(0xdb, b"\0" + 64 * b"\1") + segment(0xc0, struct.pack(">BHHBBBB", 8, 8, 8, 1, 1, 0x11, 0)) +
            segment(0xc4, b"\0" + one_code) + segment(0xc4, b"\x10" + one_code) + segment(0xda, bytes([1, 1, 0, 0, 63, 0])) + b"\x3f\xff\xd9")
