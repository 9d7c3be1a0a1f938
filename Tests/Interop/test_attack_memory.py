"""How much memory a server takes for what a caller sends: 8 bytes for each byte, or for a few
contents more, and for all callers together no more than the budget of requests.

The memory is the process's, seen from outside: the highest it has had since before the request.
"""

import concurrent.futures
import contextlib
import json
import re
import socket
import threading
import time

import grpc
import pytest
import requests

from test_attacks import DOCUMENTS, memory, ports, serving, team
from test_pings import DATA, END_OF_HEADERS, HEADERS, RESET, SETTINGS, START, frame

# Bytes of a body near the limit of 11,534,336, and of the memory for each of them.
SIZE, MOST = 11_400_000, 8
DATABASE = "projects/demo/databases/(default)"
NAME = DATABASE + "/documents/a/b"


def peak(server, send, size):
    """Bytes that the process has had at most during a request, above what it had before, for each byte."""
    with open(f"/proc/{server.process.pid}/clear_refs", "w") as file:
        file.write("5")
    before = memory(server)
    with contextlib.suppress(requests.ConnectionError, grpc.RpcError):
        send()
    assert server.process.poll() is None
    return (memory(server, "VmHWM") - before) / size


def filled(start, unit, end, size=SIZE):
    """JSON with as many units in a list as fit."""
    count = (size - len(start) - len(end)) // (len(unit) + 1)
    return (start + ",".join([unit] * count) + end).encode()


UPDATE = '{"writes":[{"update":{"name":"%s","fields":{"a":' % NAME
QUERY = '{"structuredQuery":{"from":[{"collectionId":"a"}],'
BODIES = {
    "writes": (":commit", '{"writes":[', "{}", "]}"),
    "names of documents": (":batchGet", '{"documents":[', f'"{NAME}"', "]}"),
    "aggregations": (":runAggregationQuery",
                     '{"structuredAggregationQuery":{"structuredQuery":{},"aggregations":[',
                     '{"count":{}}', "]}}"),
    "filters": (":runQuery", QUERY + '"where":{"compositeFilter":{"op":"OR","filters":[', "{}",
                "]}}}}"),
    "cursors": (":runQuery", QUERY + '"startAt":{"values":[', "{}", "]}}}"),
    "maps": (":commit", UPDATE + '{"arrayValue":{"values":[', '{"mapValue":{}}', "]}}}}}]}"),
    "nothing that is known": (":commit", '{"x":[', "0", "]}"),
}


@pytest.mark.bound(120)
@pytest.mark.parametrize("kind", BODIES)
def test_a_body_takes_eight_times_its_length(tmp_path, kind):
    """Of a server that asks for no token: the others read no body of such a caller."""
    path, *parts = BODIES[kind]
    body = filled(*parts)
    with serving(tmp_path) as server:
        url = f"http://{server.host}{DOCUMENTS}{path}"
        headers = {"content-type": "application/json"}
        requests.post(url, data=b"{}", headers=headers, timeout=60)
        assert peak(server, lambda: requests.post(url, data=body, headers=headers, timeout=100),
                    len(body)) <= MOST


def varint(number):
    text = b""
    while number > 127:
        text += bytes([number & 127 | 128])
        number >>= 7
    return text + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def document(fields, path=NAME):
    """A commit of one document with these encoded fields."""
    return field(1, DATABASE.encode()) + field(2, field(1, field(1, path.encode()) + fields))


def array(value):
    """A commit of an array that holds as many of a value as fit."""
    element = field(1, value)
    return document(field(2, field(1, b"a") + field(2, field(9, element * (SIZE // len(element))))))


def entries(*entries):
    """A commit of a document whose fields are these, again and again."""
    unit = b"".join(field(2, entry) for entry in entries)
    return document(unit * (SIZE // len(unit)))


ONE = b"\x10\x01"
PARENT = field(1, f"{DATABASE}/documents".encode())
FROM = field(2, field(2, b"a"))
MESSAGES = {
    "writes": ("Commit", field(1, DATABASE.encode()) + b"\x12\x00" * (SIZE // 2)),
    "names of documents": ("BatchGetDocuments",
                           field(1, DATABASE.encode()) + b"\x12\x00" * (SIZE // 2)),
    "aggregations": ("RunAggregationQuery", PARENT + field(2, b"\x1a\x00" * (SIZE // 2))),
    "filters": ("RunQuery", PARENT + field(2, FROM + field(
        3, field(1, b"\x08\x02" + b"\x12\x00" * (SIZE // 2))))),
    "orders": ("RunQuery", PARENT + field(2, FROM + b"\x22\x00" * (SIZE // 2))),
    "cursors": ("RunQuery", PARENT + field(2, FROM + field(7, b"\x0a\x00" * (SIZE // 2)))),
    "values": ("Commit", field(1, DATABASE.encode()) + field(2, field(1, field(
        1, NAME.encode()) + field(2, field(1, b"a") + field(
            2, field(9, b"\x0a\x00" * (SIZE // 2))))))),
    "fields": ("Commit", field(1, DATABASE.encode()) + field(2, field(1, field(
        1, NAME.encode()) + b"\x12\x00" * (SIZE // 2)))),
    "fields that nobody knows": ("Commit",
                                 field(1, DATABASE.encode()) + b"\xf8\x01\x01" * (SIZE // 3)),
    "integers": ("Commit", array(ONE)),
    "nulls": ("Commit", array(b"\x58\x00")),
    "empty texts": ("Commit", array(field(17, b""))),
    "texts": ("Commit", array(field(17, b"sixteen letters."))),
    "references": ("Commit", array(field(5, NAME.encode()))),
    "one field again and again": ("Commit", entries(field(2, ONE))),
    "fields in no order": ("Commit", document(b"".join(
        field(2, field(1, b"%x" % (number * 7_919 % 700_000)) + field(2, ONE))
        for number in range(700_000)))),
    "labels": ("BatchWrite", field(1, DATABASE.encode()) + b"".join(
        field(3, field(1, b"%x" % number)) for number in range(1_000_000))),
}
# What a document may hold in its most wasteful form: bytes of one letter take an object each, and
# so does a map of one field. Empty maps count nothing against the limit of a document, so all of
# them are stored. The budget of all requests bounds these too.
WASTEFUL = {
    "empty maps": ("Commit", array(field(6, b"")), 12),
    "fields in turn": ("Commit", entries(field(1, b"a") + field(2, ONE), field(2, ONE)), 9),
    "bytes of one letter": ("Commit", array(field(18, b"x")), 14),
    "maps of one field": ("Commit", array(field(6, field(1, field(2, ONE)))), 13),
}


@pytest.mark.bound(120)
@pytest.mark.parametrize("kind", [*MESSAGES, *WASTEFUL])
def test_a_message_takes_eight_times_its_length(tmp_path, kind):
    method, body, most = WASTEFUL.get(kind) or (*MESSAGES[kind], MOST)
    with serving(tmp_path) as server:
        with grpc.insecure_channel(
                server.host, options=[("grpc.max_send_message_length", -1)]) as channel:
            call = channel.unary_stream(f"/google.firestore.v1.Firestore/{method}")

            def send(message):
                with contextlib.suppress(grpc.RpcError):
                    list(call(message, timeout=100))

            send(PARENT)
            assert peak(server, lambda: send(body), len(body)) <= most


CALLERS, BUDGET, BESIDE = 30, 256 << 20, 96 << 20


@pytest.mark.bound(120)
@pytest.mark.parametrize("kind", ["integers", "bytes of one letter", "maps of one field"])
def test_all_callers_together_take_no_more_than_the_budget(tmp_path, kind):
    """Thirty at once, each at the limit. Those for whom there is no room are told to try again."""
    method, body, *_ = WASTEFUL.get(kind) or MESSAGES[kind]
    with serving(tmp_path) as server:
        before = memory(server)

        def send(_):
            with grpc.insecure_channel(
                    server.host, options=[("grpc.max_send_message_length", -1)]) as channel:
                call = channel.unary_stream(f"/google.firestore.v1.Firestore/{method}")
                try:
                    list(call(body, timeout=100))
                    return grpc.StatusCode.OK
                except grpc.RpcError as error:
                    return error.code()

        with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
            ends = set(pool.map(send, range(CALLERS)))
        assert server.process.poll() is None
        took = memory(server, "VmHWM") - before
        print(f"{CALLERS} callers with {kind}: {took >> 20} MiB")
        assert took <= BUDGET + BESIDE
        # One that comes alone is judged by what it asks for, once the others have left.
        while (end := send(0)) is grpc.StatusCode.UNAVAILABLE:
            time.sleep(0.1)
        assert end is grpc.StatusCode.INVALID_ARGUMENT
        assert ends <= {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNAVAILABLE,
                        grpc.StatusCode.CANCELLED, grpc.StatusCode.INTERNAL}, ends


@pytest.mark.bound(120)
def test_batches_that_wait_on_write_streams_take_no_more_than_the_budget(tmp_path):
    """Ten streams send batches of 11 MB, and wait for nothing: neither do the batches of one
    behind a lock that a transaction holds for minutes."""
    letters = field(1, field(18, b"x"))
    large = field(2, field(1, b"a") + field(2, field(9, letters * (1_000_000 // len(letters)))))
    with serving(tmp_path) as server:
        documents = f"http://{server.host}{DOCUMENTS}"
        begun = requests.post(documents + ":beginTransaction", json={}, timeout=60).json()
        requests.post(documents + ":batchGet", timeout=60, json={
            "documents": [NAME], "transaction": begun["transaction"]})
        before = memory(server)

        def flood(stream):
            def write(number):
                path = NAME if number == 0 else f"{NAME}-{stream}-{number}"
                return field(3, field(1, field(1, path.encode()) + large))

            body = field(1, DATABASE.encode()) + b"".join(map(write, range(11)))

            def messages():
                yield field(1, DATABASE.encode())
                for _ in range(20):
                    yield body

            with grpc.insecure_channel(
                    server.host, options=[("grpc.max_send_message_length", -1)]) as channel:
                call = channel.stream_stream("/google.firestore.v1.Firestore/Write")
                try:
                    list(call(messages(), timeout=20))
                    return grpc.StatusCode.OK
                except grpc.RpcError as error:
                    return error.code()

        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            ends = list(pool.map(flood, range(10)))
        assert server.process.poll() is None
        took = memory(server, "VmHWM") - before
        print(f"ten write streams: {took >> 20} MiB, {ends}")
        assert took <= BUDGET + 2 * BESIDE
        assert requests.get(f"{documents}/pub/x", timeout=60).status_code == 404


class Unfinished:
    """Streams of one HTTP/2 connection, each with a message that does not end."""

    WINDOW_UPDATE, INITIAL_WINDOW = 8, 4

    def __init__(self, server, streams):
        host, port = server.host.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.left = {stream: 65_535 for stream in [0, *range(1, 2 * streams, 2)]}
        self.sent = dict.fromkeys(range(1, 2 * streams, 2), 0)
        self.reset = set()
        headers = b"".join(
            bytes([0, len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
            for name, value in [
                (":method", "POST"), (":scheme", "http"), (":authority", "localhost"),
                (":path", "/google.firestore.v1.Firestore/Commit"),
                ("content-type", "application/grpc"), ("te", "trailers")])
        self.socket.sendall(START + b"".join(
            frame(HEADERS, headers, END_OF_HEADERS, stream) for stream in self.sent))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        received = self.socket.makefile("rb")
        with contextlib.suppress(OSError, ValueError):
            while head := received.read(9):
                payload = received.read(int.from_bytes(head[:3], "big"))
                kind, stream = head[3], int.from_bytes(head[5:], "big")
                if kind == self.WINDOW_UPDATE and stream in self.left:
                    self.left[stream] += int.from_bytes(payload, "big")
                elif kind == SETTINGS:
                    for place in range(0, len(payload), 6):
                        if int.from_bytes(payload[place:place + 2], "big") == self.INITIAL_WINDOW:
                            size = int.from_bytes(payload[place + 2:place + 6], "big")
                            for stream in self.sent:
                                self.left[stream] += size - 65_535
                elif kind == RESET:
                    self.reset.add(stream)

    def send(self, size):
        """Sends the beginning of a message on each stream, as far as the server takes it."""
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < 3:
            for stream, sent in self.sent.items():
                part = min(16_384, size - sent, self.left[stream], self.left[0])
                if part <= 5 or stream in self.reset:
                    continue
                start = b"\0" + size.to_bytes(4, "big") if sent == 0 else b""
                self.socket.sendall(frame(
                    DATA, start + b"x" * (part - len(start)), stream=stream))
                self.sent[stream] += part
                self.left[stream] -= part
                self.left[0] -= part
                quiet_since = time.monotonic()
            if quiet_since < time.monotonic() - 0.001:
                time.sleep(0.001)


@pytest.mark.bound(120)
def test_messages_that_do_not_end_take_no_more_than_the_budget(tmp_path):
    """Forty on one connection, each to its last byte but five. What has no room is reset."""
    with serving(tmp_path) as server:
        before = memory(server)
        attack = Unfinished(server, 40)
        attack.send(11_000_000)
        took = memory(server, "VmHWM") - before
        print(f"forty messages that do not end: {took >> 20} MiB, {len(attack.reset)} reset")
        assert sum(attack.sent.values()) > BUDGET, "the attack has sent too little"
        assert attack.reset and took <= BUDGET + BESIDE
        assert requests.get(f"http://{server.host}{DOCUMENTS}/pub/x", timeout=60).status_code == 404
        attack.socket.close()


@pytest.mark.bound(120)
def test_a_form_takes_eight_times_its_length(tmp_path):
    with serving(tmp_path) as server:
        url = f"http://{server.host}/google.firestore.v1.Firestore/Listen/channel"

        def session():
            answer = requests.post(
                url, params={"VER": 8, "database": DATABASE, "RID": 1, "CVER": 22}, timeout=60,
                data={"count": 1, "ofs": 0, "req0___data__": json.dumps({"database": DATABASE})})
            return re.search(r'"c","(\w+)"', answer.text).group(1)

        documents = ('{"addTarget":{"targetId":2,"documents":{"documents":['
                     + ",".join(["{}"] * 3_000_000) + "]}}}")
        forms = [
            "&a" * (SIZE // 2), "count=1&ofs=7&req0___data__=" + "x" * (SIZE - 1_000),
            "count=1&ofs=0&req0___data__=" + "%7B" * (SIZE // 3 - 1_000),
            "count=1&ofs=0&req0___data__=" + documents,
            "count=900000&ofs=1&" + "&".join(f"req{n}_a=" for n in range(900_000))[:SIZE - 100],
        ]
        for form in forms:
            place = {"VER": 8, "RID": 2, "SID": session()}

            def send():
                requests.post(url, params=place, data=form, timeout=100, headers={
                    "content-type": "application/x-www-form-urlencoded"})

            assert peak(server, send, len(form)) <= MOST, form[:60]


@pytest.mark.bound(120)
def test_who_must_show_a_token_takes_no_memory(tmp_path):
    """The body is sent whole, however the server answers: what was refused is not kept."""
    bodies = [filled(*BODIES[kind][1:]) for kind in ("writes", "names of documents", "maps")]
    with team(tmp_path) as server:
        accounts = (f"http://127.0.0.1:{ports(server)['accounts']}"
                    "/identitytoolkit.googleapis.com/v1/projects/demo/accounts:batchCreate?key=k")
        for url in (f"http://{server.host}{DOCUMENTS}:commit", accounts):
            requests.post(url, data=b"{}", timeout=60)
            for body in bodies:
                part = body[:8_000_000]

                def send():
                    requests.post(url, data=part, timeout=60,
                                  headers={"content-type": "application/json"})

                assert peak(server, send, len(part)) <= 1
