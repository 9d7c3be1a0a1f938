"""A strict reader of the official form, written from its description: frames, checksums, entities.

It checks everything. The reader of another project, which is also used, ignores parts that it does
not need.
"""

import struct

import google_crc32c

BLOCK = 32_768


def records(path):
    """Returns the records of a LevelDB log. Checks every checksum and every length."""
    data = path.read_bytes()
    position, waiting = 0, None
    while position < len(data):
        left = BLOCK - position % BLOCK
        if left < 7:
            assert data[position:position + left] == b"\0" * min(left, len(data) - position)
            position += left
            continue
        stored, length, kind = struct.unpack_from("<IHB", data, position)
        payload = data[position + 7:position + 7 + length]
        assert len(payload) == length and length <= left - 7
        crc = google_crc32c.value(bytes([kind]) + payload)
        assert stored == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF, position
        position += 7 + length
        if kind in (1, 2):
            assert waiting is None
            waiting = b""
        assert kind in (1, 2, 3, 4) and waiting is not None
        waiting += payload
        if kind in (1, 4):
            yield waiting
            waiting = None
    assert waiting is None


def fields(data):
    """Returns the fields of a message: a number, with an integer, bytes, or the fields of a
    group."""
    found, end = _fields(data, 0, None)
    assert end == len(data)
    return found


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _fields(data, at, group):
    found = []
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            length, at = _varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length
        elif kind == 3:
            value, at = _fields(data, at, number)
        else:
            assert kind == 4 and number == group
            return found, at
        found.append((number, value))
    assert group is None
    return found, at


def one(message, number, default=None):
    values = [value for key, value in message if key == number]
    assert len(values) <= 1 or number in (14, 15)
    return values[0] if values else default


def path(entity):
    """Returns the document's name and its app."""
    key = fields(one(entity, 13))
    elements = []
    for number, element in fields(one(key, 14)):
        assert number == 1
        elements.append(one(element, 2).decode())
        name, identifier = one(element, 4), one(element, 3)
        elements.append(name.decode() if name is not None else f"__id{identifier}__")
    return "/".join(elements), one(key, 13).decode()


def properties(entity):
    """Returns the names with their values' properties: (meaning, the kinds of the value, whether
    multiple)."""
    rows = []
    for number, content in entity:
        if number not in (14, 15):
            continue
        property_ = fields(content)
        value = fields(one(property_, 5))
        assert one(property_, 4) in (0, 1), "multiple is missing"
        rows.append((one(property_, 3).decode(), one(property_, 1, 0), value,
                     bool(one(property_, 4)), number))
    return rows
