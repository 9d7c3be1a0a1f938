"""Pings of HTTP/2, with which Google's clients measure the network, and resets of ended calls. If a
connection is closed for them, its calls are retried."""

import socket
import time

import pytest

from conftest import Server

DATA, HEADERS, RESET, SETTINGS, PING, GO_AWAY = 0, 1, 3, 4, 6, 7
ACKNOWLEDGES = END_OF_STREAM = 1
END_OF_HEADERS = 4
ENHANCE_YOUR_CALM = 11
# The server answers this many pings without an answer of a call in between, and its HTTP/2 library
# this many more.
ALLOWANCE, OTHERS = 1_000, 200


def frame(kind, payload, flags=0, stream=0):
    return (len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
            + payload)


def pings(count, start=0):
    return b"".join(frame(PING, (start + number).to_bytes(8, "big")) for number in range(count))


START = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, b"")


class Connection:
    """An HTTP/2 connection without a library that answers or counts pings itself."""

    def __init__(self, server):
        host, port = server.host.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.socket.sendall(START)
        self.received = self.socket.makefile("rb")
        self.stream = -1
        self.answers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.received.close()
        self.socket.close()

    def read(self):
        """Reads the next frame: its kind, its flags, its stream, its payload."""
        head = self.received.read(9)
        payload = self.received.read(int.from_bytes(head[:3], "big"))
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
        if kind == PING and flags & ACKNOWLEDGES:
            self.answers.append(int.from_bytes(payload, "big"))
        return kind, flags, stream, payload

    def commit(self):
        """Returns an empty commit as bytes."""
        self.stream += 2
        headers = b""
        for name, value in [
                (":method", "POST"), (":scheme", "http"), (":authority", "localhost"),
                (":path", "/google.firestore.v1.Firestore/Commit"),
                ("content-type", "application/grpc"), ("te", "trailers")]:
            headers += bytes([0, len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
        database = b"projects/pings/databases/(default)"
        message = bytes([1 << 3 | 2, len(database)]) + database
        return (frame(HEADERS, headers, END_OF_HEADERS, self.stream)
                + frame(DATA, b"\0" + len(message).to_bytes(4, "big") + message,
                        END_OF_STREAM, self.stream))

    def read_commit(self):
        """Returns true if the commit was answered with a message."""
        has_message = False
        while True:
            kind, flags, stream, payload = self.read()
            assert kind not in (GO_AWAY, RESET), payload
            if stream == self.stream:
                has_message = has_message or kind == DATA
                if flags & END_OF_STREAM:
                    return has_message

    def read_answers(self, count):
        while len(self.answers) < count:
            kind, _, _, payload = self.read()
            assert kind != GO_AWAY, payload


def test_pings_beside_no_call_are_answered(server):
    with Connection(server) as connection:
        connection.socket.sendall(pings(900))
        connection.read_answers(900)
        assert connection.answers == list(range(900))


def test_a_client_that_pings_after_each_answer_is_not_sent_away(server):
    """Google's Go client sends pings after answers. The test sends three each, for many pings in a
    short time."""
    calls, each = 400, 3
    began = time.monotonic()
    with Connection(server) as connection:
        for call in range(calls):
            connection.socket.sendall(connection.commit())
            assert connection.read_commit()
            connection.socket.sendall(pings(each, call * each))
        connection.read_answers(calls * each)
        assert connection.answers == list(range(calls * each))
    assert time.monotonic() - began < 25, "HTTP/2's own limit is of 30 s"


def test_pings_in_pieces_between_calls(server):
    with Connection(server) as connection:
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(25):
            sent = pings(1, number) + connection.commit() + pings(1, 100 + number)
            cut = 1 + 2 * number
            connection.socket.sendall(sent[:cut])
            connection.read_answers(2 * number + (cut >= len(pings(1))))
            connection.socket.sendall(sent[cut:-3])
            assert connection.read_commit()
            connection.socket.sendall(sent[-3:])
            connection.read_answers(2 * number + 2)


def test_a_flood_of_pings_ends_its_connection(server):
    with Connection(server) as connection:
        # The client's settings frame counts as a ping.
        connection.socket.sendall(pings(ALLOWANCE + OTHERS))
        while (read := connection.read())[0] != GO_AWAY:
            pass
        assert int.from_bytes(read[3][4:8], "big") == ENHANCE_YOUR_CALM
        assert len(connection.answers) >= ALLOWANCE


def reset(stream):
    return frame(RESET, (8).to_bytes(4, "big"), 0, stream)


def test_late_resets_do_not_end_a_connection(server):
    """Google's Python client resets a call when it has the one document that it asked for, while the
    call's end is on its way. HTTP/2's own limit is 200 resets in 10 s."""
    with Connection(server) as connection:
        for _ in range(600):
            connection.socket.sendall(connection.commit())
            assert connection.read_commit()
        late = b"".join(reset(stream) for stream in range(1, connection.stream + 1, 2))
        connection.socket.sendall(late + connection.commit())
        assert connection.read_commit()


def test_a_flood_of_resets_of_running_calls_ends_its_connection(server):
    with Connection(server) as connection:
        calls = b""
        for _ in range(400):
            headers = connection.commit()
            headers = headers[:9 + int.from_bytes(headers[:3], "big")]
            calls += headers + reset(connection.stream)
        connection.socket.sendall(calls)
        while (read := connection.read())[0] != GO_AWAY:
            pass
        assert int.from_bytes(read[3][4:8], "big") == ENHANCE_YOUR_CALM


def resident(server):
    """Returns the memory of the process in MiB."""
    with open(f"/proc/{server.process.pid}/status") as status:
        return int(status.read().split("VmRSS:")[1].split()[0]) / 1024


def flood(server):
    """Sends as many pings as the server accepts from a client that reads nothing. Returns the
    number of bytes."""
    with Connection(server) as connection:
        some, sent = pings(2_000), 0
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            while sent < 64 << 20:
                connection.socket.sendall(some)
                sent += len(some)
        return sent


def test_floods_that_nobody_reads_hold_no_memory(tmp_path):
    server = Server(tmp_path)
    try:
        for _ in range(20):
            flood(server)
        before = resident(server)
        for _ in range(200):
            flood(server)
        assert resident(server) < before + 16
        with Connection(server) as connection:
            connection.socket.sendall(connection.commit())
            assert connection.read_commit()
    finally:
        server.stop()
