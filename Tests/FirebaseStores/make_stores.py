"""Makes the stores that `TidemarkTests/Moving` reads: FirebaseFirestore's rows, written by LevelDB itself.

    apt-get install python3-plyvel
    /usr/bin/python3 Tests/FirebaseStores/make_stores.py

Keys, messages and the order of bytes are written here from the facts of the format, apart from the reader.
`expected.json` says what is in each store: the batches that wait, the marks of all that were ever written,
and whether a file was cut off. `cache.json` has the documents of `cache`, each with the round that wrote it last.
"""

import hashlib
import json
import pathlib
import shutil
import struct

import plyvel

HERE = pathlib.Path(__file__).resolve().parent
ROOT = "projects/moving/databases/(default)/documents"

# Labels of the parts of a key.
END, TABLE, BATCH, USER, SEGMENT = 0, 5, 10, 13, 62


# Keys


def number(value):
    """In the order of the numbers: a sign, how many bytes follow, and the number from its highest byte."""
    size = 1
    while not -(1 << (7 * size - 1)) <= value < 1 << (7 * size - 1):
        size += 1
    bits = value & ((1 << (8 * size)) - 1)
    # `size` ones and a zero before what is not negative; the other way round before what is.
    head = ((1 << size) - 1) << (8 * size - size)
    return (bits ^ head).to_bytes(size, "big")


def text(value):
    """In the order of the texts: a zero and a 255 take two bytes, and zero and one end it."""
    escapes = {0: b"\x00\xff", 255: b"\xff\x00"}
    return b"".join(escapes.get(byte, bytes([byte])) for byte in value.encode()) + b"\x00\x01"


def table(name):
    return number(TABLE) + text(name)


def mutation_key(user, batch):
    return table("mutation") + number(USER) + text(user) + number(BATCH) + number(batch) + number(END)


def queue_key(user):
    return table("mutation_queue") + number(USER) + text(user) + number(END)


def path_key(name, path, *rest):
    segments = b"".join(number(SEGMENT) + text(segment) for segment in path.split("/"))
    return table(name) + b"".join(rest) + segments


def index_key(user, path, batch):
    return (path_key("document_mutation", path, number(USER) + text(user))
            + number(BATCH) + number(batch) + number(END))


# Messages


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(tag, value):
    if isinstance(value, int):
        return varint(tag << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(tag << 3 | 2) + varint(len(value)) + value


def timestamp(seconds, nanos=0):
    return field(1, seconds) + (field(2, nanos) if nanos else b"")


def value(of):
    if of is None:
        return field(11, 0)
    if isinstance(of, bool):
        return field(1, int(of))
    if isinstance(of, int):
        return field(2, of)
    if isinstance(of, float):
        return varint(3 << 3 | 1) + struct.pack("<d", of)
    if isinstance(of, str):
        return field(17, of)
    if isinstance(of, list):
        return field(9, b"".join(field(1, value(item)) for item in of))
    return field(6, entries(1, of))


def entries(tag, fields):
    return b"".join(field(tag, field(1, key) + field(2, value(of))) for key, of in fields.items())


def document(path, fields):
    return field(1, f"{ROOT}/{path}") + entries(2, fields)


def array(*items):
    return b"".join(field(1, value(item)) for item in items)


def transform(path, tag, operand):
    return field(1, path) + field(tag, operand)


def put(path, fields, *rest):
    return field(1, document(path, fields)) + b"".join(rest)


def patch(path, fields, mask, *rest):
    masked = field(3, b"".join(field(1, name) for name in mask))
    return field(1, document(path, fields)) + masked + b"".join(rest)


def delete(path, *rest):
    return field(2, f"{ROOT}/{path}") + b"".join(rest)


def transforms(*those):
    return b"".join(field(7, one) for one in those)


EXISTS = field(4, field(1, 1))
MISSING = field(4, field(1, 0))
SERVER_TIME = 2
INCREMENT, MAXIMUM, MINIMUM, UNION, REMOVE = 3, 4, 5, 6, 7


def batch(number, writes, seconds, base=()):
    return (field(1, number) + b"".join(field(2, write) for write in writes)
            + field(3, timestamp(1_700_000_000 + seconds, 5_000_000))
            + b"".join(field(4, write) for write in base))


# Stores


class Store:
    """A store as FirebaseFirestore makes one, with what is in it."""

    def __init__(self, name, version="8", compression=None):
        self.folder = HERE / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.options = {"compression": compression}
        self.waiting = {}
        self.written = []
        self.db = None
        self.open()
        if version:
            self.db.put(table("version") + number(END), version.encode())

    def open(self):
        if self.db:
            self.db.close()
        self.db = plyvel.DB(str(self.folder), create_if_missing=True, **self.options)

    def add(self, user, id, writes, path="rooms/blue", base=(), raw=None):
        made = raw if raw is not None else batch(id, writes, id, base)
        with self.db.write_batch() as together:
            together.put(mutation_key(user, id), made)
            together.put(index_key(user, path, id), b"")
        mark = hashlib.md5(user.encode() + b"\0" + str(id).encode() + b"\0" + made).hexdigest()
        self.written.append(mark)
        self.waiting[user, id] = mark

    def acknowledge(self, user, id, path="rooms/blue"):
        with self.db.write_batch() as together:
            together.delete(mutation_key(user, id))
            together.delete(index_key(user, path, id))
            together.put(queue_key(user), field(1, -1) + field(2, b"token%d" % id))
        del self.waiting[user, id]

    def documents(self, count, start=0):
        for index in range(start, start + count):
            path = f"rooms/r{index:05}"
            row = field(2, document(path, {"title": f"Room {index}", "open": index % 2 == 0}))
            self.db.put(path_key("remote_document", path) + number(END), row)
            target = path_key("document_target", path) + number(12) + number(2) + number(END)
            self.db.put(target, b"\x80")

    def finish(self, error=None, torn=False):
        if self.db:
            self.db.close()
        for name in ("LOG", "LOG.old", "LOCK"):
            (self.folder / name).unlink(missing_ok=True)
        (self.folder / "lost").is_dir() and shutil.rmtree(self.folder / "lost")
        EXPECTED[self.folder.name] = {
            "batches": [{"user": user or None, "number": id, "mark": mark}
                        for (user, id), mark in sorted(self.waiting.items())],
            "written": self.written,
            "torn": torn,
            "error": error,
        }

    def newest(self, pattern):
        return sorted(self.folder.glob(pattern))[-1]


EXPECTED = {}


def line(id):
    """One of a row of writes whose order and number can be seen afterwards."""
    return [
        patch("lists/one", {"last": id}, ["last"],
              transforms(transform("count", INCREMENT, value(1)),
                         transform("all", UNION, array(id)))),
        put(f"lists/one/lines/l{id:04}", {"id": id, "text": f"Line {id}"}),
    ]


def log_only():
    store = Store("log")
    for id in range(1, 6):
        store.add("ann", id, line(id))
    store.acknowledge("ann", 1)
    store.finish()


def kinds():
    store = Store("kinds")
    time = timestamp(1_700_000_000, 123_456_000)
    writes = [
        [put("kinds/set", {"a": 1, "b": [True, None, {"c": 1.5}], "ü": "ß"})],
        [patch("kinds/patch", {"a": 1}, ["a", "gone", "`x y`.z"], EXISTS)],
        [delete("kinds/delete")],
        [delete("kinds/deleteAt", field(4, field(2, time)))],
        [field(5, f"{ROOT}/kinds/verify") + MISSING],
        [put("kinds/make", {"made": True}, MISSING)],
        [put("kinds/transforms", {}, transforms(
            field(1, "time") + field(SERVER_TIME, 1),
            transform("count", INCREMENT, value(2)), transform("high", MAXIMUM, value(7)),
            transform("low", MINIMUM, value(2.5)), transform("more", UNION, array("x", 1)),
            transform("less", REMOVE, array("y"))))],
        # As it was before 2021: the transforms are a write of their own.
        [put("kinds/old", {"a": 1}),
         field(6, field(1, f"{ROOT}/kinds/old") + field(2, field(1, "time") + field(2, 1))) + EXISTS],
    ]
    for index, those in enumerate(writes):
        base = []
        if index == 6:
            base = [patch("kinds/transforms", {"count": 40, "low": 9}, ["count", "low"], EXISTS)]
        store.add("ann", 60 + index, those, base=base)
    store.finish()


def tables():
    """Tables on several levels, a log, and the same keys written and deleted in all of them."""
    store = Store("tables")
    for round in range(6):
        first = round * 40 + 1
        store.documents(60, start=round * 60)
        for id in range(first, first + 40):
            store.add("ann", id, line(id))
        for id in range(max(1, first - 30), first + 10):
            store.acknowledge("ann", id)
        store.open()
        if round in (1, 3):
            store.db.compact_range()
    for id in range(241, 245):
        store.add("ann", id, line(id))
    store.acknowledge("ann", 242)
    print(store.db.get_property(b"leveldb.stats").decode())
    store.finish()


def users():
    store = Store("users")
    store.add("", 1, line(1))
    store.add("bob\x00\xff", 2, line(2))
    store.add("ann", 3, line(3))
    store.add("bob\x00\xff", 4, line(4))
    store.open()
    store.add("zoë", 70, line(70))
    store.add("ann", 8200, line(8200))
    store.acknowledge("bob\x00\xff", 2)
    store.finish()


def nothing():
    """All were acknowledged: only deletions are left, in a table and in a log."""
    store = Store("nothing")
    store.documents(20)
    for id in range(1, 21):
        store.add("ann", id, line(id))
    store.open()
    for id in range(1, 21):
        store.acknowledge("ann", id)
    store.open()
    store.documents(5)
    store.finish()


def large():
    """A batch over several blocks of a log, and one in a table."""
    store = Store("large")
    noise = "".join(hashlib.md5(b"%d" % index).hexdigest() for index in range(1_300))
    store.add("ann", 1, [put("large/one", {"text": noise})])
    store.open()
    store.add("ann", 2, [put("large/two", {"text": noise[::-1]})])
    store.add("ann", 3, line(3))
    store.finish()


def torn():
    """The last record of the log is cut off, as by a kill; and an edit of the manifest."""
    for name, ending in (("torn", "*.log"), ("torn-manifest", "MANIFEST-*")):
        store = Store(name)
        for id in range(1, 4):
            store.add("ann", id, line(id))
        store.open()
        for id in range(4, 7):
            store.add("ann", id, line(id))
        store.db.close()
        store.db = None
        file = store.newest(ending)
        if name == "torn":
            file.write_bytes(file.read_bytes()[:-40])
            del store.waiting["ann", 6]
        else:
            # The head of a record that was to have 60 bytes.
            file.write_bytes(file.read_bytes() + b"\x12\x34\x56\x78\x3c\x00\x01" + b"\x02\x07")
        store.finish(torn=True)


def old():
    """From before acknowledged batches were removed."""
    store = Store("old", version="4")
    for id in range(1, 6):
        store.add("ann", id, line(id))
    store.db.put(queue_key("ann"), field(1, 3) + field(2, b"token"))
    for id in range(1, 4):
        del store.waiting["ann", id]
    store.finish()


def unknown():
    store = Store("unknown")
    store.add("ann", 1, line(1))
    store.add("ann", 2, [field(12, f"{ROOT}/rooms/blue")])
    store.add("ann", 3, [put("rooms/blue", {}, transforms(field(1, "a") + field(9, b"")))])
    store.add("ann", 4, [put("rooms/blue", {"a": 1}, field(11, 1))])
    store.add("ann", 5, [], raw=batch(5, [put("rooms/blue", {})], 5) + field(9, b"new"))
    elsewhere = ROOT.replace("moving", "elsewhere")
    store.add("ann", 6, [field(2, f"{elsewhere}/rooms/blue")])
    store.add("ann", 7, [], raw=b"\x08\x07\x12")
    store.add("ann", 8, line(8))
    store.finish()


def snappy():
    store = Store("snappy", compression="snappy")
    for id in range(1, 41):
        store.add("ann", id, line(id))
    store.db.compact_range()
    store.finish(error="unknownForm")


def cache():
    """Documents and a target: written, changed and deleted again and again, in tables on levels and a log."""
    store = Store("cache")
    rows = {}
    for round in range(5):
        for index in range(round * 7, 400, 2 + round):
            path = f"rooms/r{index:05}" if index % 3 else f"rooms/r{index:05}/lines/l{round}"
            key = path_key("remote_document", path) + number(END)
            target = path_key("target_document", path, number(12) + number(70)) + number(END)
            with store.db.write_batch() as together:
                if index % (5 + round) == 0:
                    together.delete(key)
                    together.delete(target)
                    rows.pop(path, None)
                else:
                    text = hashlib.md5(b"%d" % index).hexdigest() * (1 + index % 40)
                    together.put(key, field(2, document(path, {"round": round, "text": text})))
                    together.put(target, b"")
                    rows[path] = round
        store.open()
        if round in (1, 3):
            store.db.compact_range()
    store.add("ann", 1, line(1))
    print(store.db.get_property(b"leveldb.stats").decode())
    store.finish()
    # The tests of the writes do not read this store.
    del EXPECTED["cache"]
    (HERE / "cache.json").write_text(json.dumps(rows, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    for make in (log_only, kinds, tables, users, nothing, large, torn, old, unknown, snappy, cache):
        make()
    file = HERE / "expected.json"
    file.write_text(json.dumps(EXPECTED, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
