"""WebChannel, the protocol of Google's web SDK, with a client that was written from the
protocol."""

import json
import os
import random
import socket
import time
import uuid

import pytest

from conftest import BINARY, Server
from webchannel import SERVICE, Channel, Frames

DATABASE = "projects/interop/databases/(default)"
ROOT = f"{DATABASE}/documents"


@pytest.fixture
def place():
    return "w-" + uuid.uuid4().hex[:10]


def query(place, target=2, **parts):
    return {"database": DATABASE, "addTarget": {"targetId": target, "query": {
        "parent": ROOT, "structuredQuery": {"from": [{"collectionId": place}]}}, **parts}}


@pytest.fixture
def channels(server):
    opened = []

    def open(rpc, first, **options):
        channel = Channel(server.host, rpc, DATABASE, first, **options)
        opened.append(channel)
        return channel

    yield open
    for channel in opened:
        try:
            channel.close()
        except (OSError, AssertionError):
            pass


def fill(client, place, count, text, size=500):
    """Creates documents whose ids are their numbers, `size` per commit."""
    for start in range(0, count, size):
        batch = client.batch()
        for n in range(start, min(start + size, count)):
            batch.set(client.collection(place).document(f"{n:06}"), {"n": n, "t": text})
        batch.commit()


def kinds(messages):
    """Returns the kinds of the messages."""
    result = []
    for message in messages:
        change = message.get("targetChange")
        if change is None:
            result.append(next(iter(message)))
        else:
            kind = change.get("targetChangeType", "NO_CHANGE")
            result.append(kind if "targetIds" in change or kind != "NO_CHANGE" else "SNAPSHOT")
    return result


def snapshots(messages):
    return kinds(messages).count("SNAPSHOT")


def changed(messages):
    return [m["documentChange"]["document"]["name"].rsplit("/", 1)[1]
            for m in messages if "documentChange" in m]


@pytest.mark.parametrize("polls", [False, True])
def test_a_listen_from_its_beginning(channels, client, place, polls):
    client.collection(place).document("a").set({"n": 1, "t": "é😀"})
    channel = channels("Listen", query(place), polls=polls).listen()
    messages = channel.wait(lambda arrays: snapshots(arrays) >= 1)
    assert kinds(messages) == ["ADD", "documentChange", "CURRENT", "SNAPSHOT"]
    document = messages[1]["documentChange"]["document"]
    assert document["fields"] == {"n": {"integerValue": "1"}, "t": {"stringValue": "é😀"}}
    assert messages[1]["documentChange"]["targetIds"] == [2]
    client.collection(place).document("b").set({})
    client.collection(place).document("a").delete()
    messages = channel.wait(lambda arrays: snapshots(arrays) >= 3)
    assert kinds(messages[4:]) == ["documentChange", "SNAPSHOT", "documentDelete", "SNAPSHOT"]
    assert messages[6]["documentDelete"]["removedTargetIds"] == [2]
    channel.send({"database": DATABASE, "removeTarget": 2})
    messages = channel.wait(lambda arrays: "REMOVE" in kinds(arrays))
    assert kinds(messages)[-1] == "REMOVE"


def test_the_streaming_answer_says_something_at_once(channels, place):
    channel = channels("Listen", query(place))
    channel.listen().wait(lambda arrays: snapshots(arrays) >= 1)
    channel.is_open = False
    connection, answer = channel.open_back()
    began = time.monotonic()
    (frame,) = Frames().feed(answer.read1(1_000))
    assert frame == [[channel.aid + 1, ["noop"]]]
    assert time.monotonic() - began < 15, "the next one comes after 30 s"
    connection.close()


def test_an_empty_poll_ends_with_a_noop(channels, place):
    channel = channels("Listen", query(place), polls=True)
    # The test reads without a separate thread, whose next poll would replace the poll below.
    while snapshots(channel.arrays) < 1:
        assert channel.read_back() == 200
    connection, answer = channel.open_back(TO=500)
    frames = list(Frames().feed(answer.read()))
    connection.close()
    assert frames[-1][-1][1] == ["noop"]


def test_a_resume_token_and_an_existence_filter(channels, client, place):
    for id in "abc":
        client.collection(place).document(id).set({})
    first = channels("Listen", query(place)).listen()
    messages = first.wait(lambda arrays: snapshots(arrays) >= 1)
    token = messages[-1]["targetChange"]["resumeToken"]
    first.close()
    client.collection(place).document("d").set({})
    second = channels("Listen", query(place, resumeToken=token, expectedCount=3)).listen()
    second.wait(lambda arrays: "CURRENT" in kinds(arrays))
    assert changed(second.arrays) == ["d"]


def test_a_target_that_is_refused_leaves_the_stream(channels, place):
    bad = query(place)
    bad["addTarget"]["query"]["structuredQuery"]["from"][0]["collectionId"] = "a/b"
    channel = channels("Listen", bad).listen()
    messages = channel.wait(lambda arrays: "REMOVE" in kinds(arrays))
    assert messages[-1]["targetChange"]["cause"]["code"] == 3
    channel.send(query(place, target=4))
    channel.wait(lambda arrays: snapshots(arrays) >= 1)


@pytest.mark.parametrize("first", ["{", "[]", {"database": DATABASE, "what": 1},
                                   {"database": "nowhere", "removeTarget": 1}])
def test_a_message_that_is_none_ends_the_stream(channels, first):
    channel = channels("Listen", first).listen()
    messages = channel.wait(lambda arrays: arrays)
    assert messages[-1]["error"]["status"] == "INVALID_ARGUMENT"


def handshaken(channels):
    channel = channels("Write", {"database": DATABASE}).listen()
    hello = channel.wait(lambda arrays: arrays)[0]
    assert hello["streamToken"] and "writeResults" not in hello
    return channel, hello["streamToken"]


def write(place, id, token, n=0):
    return {"streamToken": token, "writes": [{"update": {
        "name": f"{ROOT}/{place}/{id}", "fields": {"n": {"integerValue": str(n)}}}}]}


def test_a_write_stream(channels, client, place):
    channel, token = handshaken(channels)
    channel.send(write(place, "a", token, 1), write(place, "b", token, 2))
    messages = channel.wait(lambda arrays: len(arrays) == 3)
    assert all(len(m["writeResults"]) == 1 and m["commitTime"] for m in messages[1:])
    assert {d.id: d.to_dict()["n"] for d in client.collection(place).stream()} == {"a": 1, "b": 2}
    bad = write(place, "c", token)
    bad["writes"][0]["currentDocument"] = {"exists": True}
    channel.send(bad)
    messages = channel.wait(lambda arrays: len(arrays) == 4)
    assert messages[-1]["error"]["status"] == "NOT_FOUND"
    assert messages[-1]["error"]["code"] == 404


def test_a_quiet_write_stream_ends_and_gives_its_connection_back(channels, client, place):
    channel, token = handshaken(channels)
    channel.send(write(place, "a", token, 1))
    messages = channel.wait(lambda arrays: "close" in arrays, 10)
    assert messages.index("close") == len(messages) - 1 == 2, "after the handshake and the write"
    channel.is_open = False
    channel.back.join(10)
    assert not channel.back.is_alive(), "the answer has ended"
    # Messages that arrive too late are not accepted, so the browser can send them on another
    # stream.
    body = channel.post({"SID": channel.sid, "AID": channel.aid}, [write(place, "b", token, 2)])
    assert body == (400, b"Unknown SID")
    again, token = handshaken(channels)
    again.send(write(place, "b", token, 2))
    again.wait(lambda arrays: len(arrays) == 2)
    assert {d.id for d in client.collection(place).stream()} == {"a", "b"}


def test_a_quiet_listen_does_not_end(channels, client, place):
    channel = channels("Listen", query(place)).listen()
    channel.wait(lambda arrays: snapshots(arrays) >= 1)
    time.sleep(5)
    client.collection(place).document("a").set({})
    messages = channel.wait(lambda arrays: snapshots(arrays) >= 2)
    assert "close" not in messages and channel.backs == 1


def test_maps_out_of_order_and_repeated_are_applied_once_in_order(channels, client, place):
    channel, token = handshaken(channels)
    maps = [write(place, "d", token, n) for n in range(4)]
    for map in maps:
        map["writes"][0]["updateTransforms"] = [
            {"fieldPath": "count", "increment": {"integerValue": "1"}}]
        map["writes"][0]["updateMask"] = {"fieldPaths": ["n"]}
    channel.send(maps[2], maps[3], ofs=3)
    channel.send(maps[0], ofs=1)
    channel.send(maps[0], maps[1], maps[2], ofs=1)
    channel.send(maps[3], ofs=4)
    channel.wait(lambda arrays: len(arrays) == 5)
    channel.send(maps[0], ofs=1)
    assert client.collection(place).document("d").get().to_dict() == {"n": 3, "count": 4}


def test_a_forward_answer_says_what_is_outstanding(channels, place):
    channel = channels("Listen", query(place))
    before = channel.send()
    assert before[0] == 0, "no back channel is open"
    channel.listen().wait(lambda arrays: snapshots(arrays) >= 1)
    has_back, last, outstanding = channel.send()
    assert (has_back, outstanding) == (1, 0) or last > channel.aid


def test_unknown_sessions(server, channels, place):
    channel = channels("Listen", query(place))
    sid, channel.sid = channel.sid, "0" * 32
    assert channel.post({"SID": channel.sid, "AID": 0}, []) == (400, b"Unknown SID")
    assert channel.read_back() == 400
    channel.sid = sid
    channel.rpc = "Write"
    assert channel.read_back() == 400, "a session is of one kind"
    channel.rpc, channel.origin = "Listen", "http://localhost:3000"
    assert channel.read_back() == 400, "a session is of one page"
    channel.origin = None
    channel.terminate()
    assert channel.read_back() == 400
    assert len(sid) == 32


def test_a_new_back_channel_takes_the_place_of_the_old_one(channels, client, place):
    channel = channels("Listen", query(place))
    channel.listen().wait(lambda arrays: snapshots(arrays) >= 1)
    channel.is_open = False
    old, old_answer = channel.open_back()
    old_answer.read1(1_000)
    aid = channel.aid
    new, new_answer = channel.open_back()
    client.collection(place).document("x").set({})
    frames, data = Frames(), []
    while not any("documentChange" in json.dumps(frame) for frame in data):
        data += list(frames.feed(new_answer.read1(65_536)))
    assert data[0][0][0] == aid + 1, "what the old one had not confirmed comes again"
    assert b"documentChange" not in old_answer.read(), "and nothing comes to the old one"
    old.close()
    new.close()


@pytest.mark.parametrize("body, query", [
    (b"", "VER=8&RID=1&CVER=22"), (b"count=1&ofs=0", "VER=8&RID=1"),
    (b"count=x&ofs=0", "VER=8&RID=1"), (b"count=1&ofs=-1&req0___data__={}", "VER=8&RID=1"),
    (b"count=1001&ofs=0", "VER=8&RID=1"), (b"%zz=1", "VER=8&RID=1"), (b"count=0", "VER=7&RID=1"),
    (b"headers=x&count=0", "VER=8&RID=1"), (b"\xff\xfe", "VER=8&RID=1"), (b"count=0", "%"),
])
def test_requests_that_are_none(server, body, query):
    import requests
    answer = requests.post(f"http://{server.host}{SERVICE}/Listen/channel?{query}", data=body,
                           timeout=30)
    assert answer.status_code in (200, 400)
    if answer.status_code == 400:
        assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"
    assert requests.get(f"http://{server.host}/", timeout=30).text == "Ok\n"


DROPS = int(os.environ.get("TIDEMARK_CHANNEL_DROPS", "50"))


@pytest.mark.bound(60 + DROPS)
def test_nothing_is_lost_or_doubled_whatever_drops(channels, client, place):
    """The client leaves back channels after a random number of arrays while documents are
    written."""
    seed = int(os.environ.get("TIDEMARK_CHANNEL_SEED", random.randrange(1 << 30)))
    print("seed", seed)
    dice = random.Random(seed)
    channel = channels("Listen", query(place)).listen(lambda: dice.randrange(1, 5))
    count = 0
    while channel.backs < DROPS:
        batch = client.batch()
        for _ in range(dice.randrange(1, 6)):
            batch.set(client.collection(place).document(f"{count:06}"), {"n": count})
            count += 1
        batch.commit()
        channel.wait(lambda arrays: len(changed(arrays[-200:])) > 0)
        assert channel.error is None, (seed, channel.error)
    messages = channel.wait(lambda arrays: changed(arrays[-50:])[-1:] == [f"{count - 1:06}"])
    assert changed(messages) == [f"{n:06}" for n in range(count)], seed


LARGE = int(os.environ.get("TIDEMARK_CHANNEL_DOCUMENTS", "12000"))


@pytest.mark.bound(60 + LARGE // 200)
def test_more_documents_than_the_official_emulator_can_send(channels, client, place):
    """The official emulator ends a channel at its 10,001st message."""
    fill(client, place, LARGE, "x" * 100)
    channel = channels("Listen", query(place)).listen()
    messages = channel.wait(lambda arrays: "SNAPSHOT" in kinds(arrays[-3:]), 60 + LARGE // 200)
    assert changed(messages) == [f"{n:06}" for n in range(LARGE)]
    assert channel.backs > 1, "an answer carries so much, then the client says what it has"


def memory(server):
    status = open(f"/proc/{server.process.pid}/status").read()
    return int(status.split("VmRSS:")[1].split()[0])


def test_a_reader_that_stops_holds_no_memory(own_server, place):
    server = own_server
    fill(server.client(), place, 200, "x" * 100_000, size=50)
    stuck = []
    before = memory(server)
    for _ in range(5):
        channel = Channel(server.host, "Listen", DATABASE, query(place))
        plain = socket.create_connection(tuple(server.host.split(":")))
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        url = channel.url(RID="rpc", SID=channel.sid, AID=0, CI=0, TYPE="xmlhttp")
        plain.sendall(f"GET {url} HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
        stuck.append(plain)
    reader = Channel(server.host, "Listen", DATABASE, query(place)).listen()
    reader.wait(lambda arrays: snapshots(arrays) >= 1, 50)
    assert len(changed(reader.arrays)) == 200, "others read on"
    grown = memory(server) - before
    reader.close()
    assert grown < 60_000, f"five readers of 20 MB hold {grown} kB"
    for plain in stuck:
        plain.close()


def test_idle_sessions_are_small(own_server, place):
    server = own_server
    # The first channel allocates the memory that all channels share.
    Channel(server.host, "Listen", DATABASE, query(place))
    before = memory(server)
    for _ in range(1_000):
        # The channels are abandoned. The server must drop them itself.
        Channel(server.host, "Listen", DATABASE, query(place))
    grown = memory(server) - before
    assert grown < 20_000, f"1,000 sessions hold {grown} kB"


# The maximum milliseconds from the handshake's first byte to the first snapshot, for a release
# build.
FIRST_SNAPSHOT = 15


@pytest.mark.times
def test_the_first_snapshot_is_soon_there(channels, client, place):
    fill(client, place, 10, "x")
    times = []
    assert "release" in str(BINARY)
    for _ in range(30):
        began = time.monotonic()
        channel = channels("Listen", query(place)).listen()
        messages = channel.wait(lambda arrays: snapshots(arrays) >= 1)
        times.append((time.monotonic() - began) * 1_000)
        assert len(changed(messages)) == 10
        channel.close()
    median = sorted(times)[len(times) // 2]
    print(f"\nfirst snapshot: {median:.1f} ms, the slowest {max(times):.1f} ms")
    assert median < FIRST_SNAPSHOT, times
