"""How much memory a server takes for what a caller without a token sends: 8 bytes for each byte.

The memory is the process's, seen from outside: the highest it has had since before the request.
"""

import contextlib
import json
import re

import grpc
import pytest
import requests

from test_attacks import DOCUMENTS, memory, ports, serving, team

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
}


@pytest.mark.bound(120)
@pytest.mark.parametrize("kind", MESSAGES)
def test_a_message_takes_eight_times_its_length(tmp_path, kind):
    method, body = MESSAGES[kind]
    with serving(tmp_path) as server:
        with grpc.insecure_channel(
                server.host, options=[("grpc.max_send_message_length", -1)]) as channel:
            call = channel.unary_stream(f"/google.firestore.v1.Firestore/{method}")

            def send(message):
                with contextlib.suppress(grpc.RpcError):
                    list(call(message, timeout=100))

            send(PARENT)
            assert peak(server, lambda: send(body), len(body)) <= MOST


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
