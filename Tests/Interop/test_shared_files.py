"""Two processes of one app share a cache with a queue of files, and are killed again and again: one
of them at a time sends to each session of an upload.

A proxy in front of Storage reads each request: its session, its command, the process that sends it
(by the id of its app), and when it begins and ends. TIDEMARK_KILL_ROUNDS sets the number of kills
(default 4), and TIDEMARK_KILL_SEED the random seed.
"""

import hashlib
import os
import queue
import random
import socket
import subprocess
import threading
import time
from urllib.parse import parse_qs, urlsplit

import pytest

from conftest import LAB, Server
from test_files_kill_loop import BUCKET, compare

ROUNDS = int(os.environ.get("TIDEMARK_KILL_ROUNDS", "4"))
SEED = int(os.environ.get("TIDEMARK_KILL_SEED", "0")) or random.randrange(1 << 30)
ROLES = ["app", "helper"]
BLOCK = 262_144
# The seconds by which the line of a process that has left the cache can come late.
LATE = 5


class Seen:
    """A request of an upload."""

    def __init__(self, process, session, command):
        self.process, self.session, self.command = process, session, command
        self.began, self.ended = time.monotonic(), None


class Proxy:
    """A port in front of Storage that forwards a request at a time on each connection, with a number
    of bytes a second."""

    def __init__(self, upstream, rate=3_000_000):
        self.rate = rate
        self.upstream, self.seen, self.news = upstream, [], queue.SimpleQueue()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            with client, socket.create_connection(("127.0.0.1", self.upstream)) as server:
                while self.forward(client, server):
                    pass
        except OSError:
            pass

    def forward(self, client, server):
        """Forwards a request and its answer. Returns false at the end of the connection."""
        head, rest = self.head(client)
        if head is None:
            return False
        lines = head.decode("latin-1").split("\r\n")
        fields = {key.lower(): value.strip() for key, _, value in
                  (line.partition(":") for line in lines[1:])}
        method, target = lines[0].split(" ")[:2]
        session = parse_qs(urlsplit(target).query).get("upload_id", [None])[0]
        seen = None
        if session:
            seen = Seen(fields.get("x-firebase-gmpid"), session,
                        fields.get("x-goog-upload-command"))
            self.seen.append(seen)
            self.news.put(seen)
        try:
            server.sendall(head + b"\r\n\r\n")
            self.body(client, server, rest, int(fields.get("content-length", 0)), paced=True)
            answer, rest = self.head(server)
            if answer is None:
                return False
            sizes = [line for line in answer.decode("latin-1").lower().split("\r\n")
                     if line.startswith("content-length:")]
            count = int(sizes[0].split(":")[1]) if sizes and method != "HEAD" else 0
            client.sendall(answer + b"\r\n\r\n")
            self.body(server, client, rest, count)
        finally:
            if seen:
                seen.ended = time.monotonic()
        return fields.get("connection", "").lower() != "close"

    @staticmethod
    def head(source):
        data = b""
        while b"\r\n\r\n" not in data:
            more = source.recv(65_536)
            if not more:
                return None, b""
            data += more
        head, _, rest = data.partition(b"\r\n\r\n")
        return head, rest

    def body(self, source, target, rest, count, paced=False):
        while count > 0:
            data = rest or source.recv(min(16_384, count))
            rest = b""
            if not data:
                raise OSError("the body ends early")
            target.sendall(data)
            count -= len(data)
            if paced:
                time.sleep(len(data) / self.rate)

    def check(self, processes):
        """Checks that one process at a time sends to each session. Returns the numbers of sessions,
        and of sessions with requests of several processes.

        The proxy sees the end of a killed process late, as the system still sends what the process
        has written. So the time of the kill counts too, and the time at which a process has shown
        that it left the cache. A query is no chunk: it may come while the request of a process that
        leaves is ending, and Storage then ends that request before it answers. A process that goes
        on sending is found in each case: its next chunk begins before the other process has ended."""
        ends = {process.name: process.ends for process in processes}
        sessions = {}
        for seen in list(self.seen):
            sessions.setdefault(seen.session, []).append(seen)
        for requests in sessions.values():
            chunks = [seen for seen in requests if seen.command.startswith("upload")]
            for first, second in zip(chunks, chunks[1:]):
                is_over = first.ended is not None and first.ended <= second.began
                if first.process != second.process:
                    is_over = is_over or any(first.began <= end <= second.began + LATE
                                             for end in ends[first.process])
                assert is_over, (
                    f"chunks of {first.process} and {second.process} overlap by "
                    f"{first.ended and first.ended - second.began} s, TIDEMARK_KILL_SEED={SEED}")
        shared = [one for one in sessions.values() if len({seen.process for seen in one}) > 1]
        return len(sessions), len(shared)


class Process:
    """A process of the app, with every line that it has printed."""

    all = []

    def __init__(self, server, proxy, folder, role, files):
        Process.all.append(self)
        self.name, self.role = f"{role}-{len(Process.all)}", role
        # The times at which it was killed, or has shown that it no longer sends.
        self.ends, self.holds = [], False
        self.process = subprocess.Popen(
            [LAB, "send-files", "--project", "interop", "--cache", folder / "cache", "--files",
             folder / "files", "--count", str(files), "--storage", proxy.host, "--bucket", BUCKET,
             "--share", role, "--app", self.name],
            env=dict(os.environ, FIRESTORE_EMULATOR_HOST=server.host), stdout=subprocess.PIPE,
            text=True)
        self.lines, self.news = [], queue.SimpleQueue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            if line.endswith("\n"):
                self.lines.append(line.split())
                if self.lines[-1] == ["views"] and self.holds:
                    self.ends.append(time.monotonic())
                if self.lines[-1][0] in ("holds", "views"):
                    self.holds = self.lines[-1] == ["holds"]
                self.news.put(self.lines[-1])

    def wait_for(self, *line, seconds=60):
        end = time.monotonic() + seconds
        while True:
            try:
                if self.news.get(timeout=0.2) == list(line):
                    return
            except queue.Empty:
                assert self.process.poll() is None, f"{self.name} has ended: {self.lines[-3:]}"
                assert time.monotonic() < end, f"{self.name} did not print {line}: {self.lines}"

    def kill(self):
        self.ends.append(time.monotonic())
        self.process.kill()
        self.process.wait()
        self.reader.join(30)


def write_files(folder, dice, count):
    """Writes small files and some of several chunks. Returns their digests."""
    hashes = {}
    for number in range(count):
        size = dice.choice([0, 1, 5_000, BLOCK, 3_000_000, 5_000_001, 2 * BLOCK + 1])
        content = dice.randbytes(size if number else 6_000_000)
        (folder / f"{number}.bin").write_bytes(content)
        hashes[number] = hashlib.sha256(content).hexdigest()
    return hashes


def next_chunk(proxy, seconds=60):
    """Waits for a chunk that begins now. Returns None after the time."""
    while not proxy.news.empty():
        proxy.news.get()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            seen = proxy.news.get(timeout=0.2)
        except queue.Empty:
            continue
        if seen.command and seen.command.startswith("upload"):
            return seen
    return None


def prepare(tmp_path, dice, count):
    Process.all.clear()
    for name in ["files", "server"]:
        (tmp_path / name).mkdir()
    hashes = write_files(tmp_path / "files", dice, count)
    server = Server(tmp_path / "server", 0, "--storage")
    return hashes, server, Proxy(server.storage_port)


@pytest.mark.bound(120 + 20 * ROUNDS)
def test_two_processes_with_one_queue_of_files_are_killed_again_and_again(tmp_path):
    print(f"TIDEMARK_KILL_SEED={SEED}")
    dice = random.Random(SEED)
    count = 6 + ROUNDS // 2
    hashes, server, proxy = prepare(tmp_path, dice, count)
    lives = {"app": Process(server, proxy, tmp_path, "app", count)}
    lives["app"].wait_for("journalled", str(count - 1))
    among = 0
    for _ in range(ROUNDS):
        for role in ROLES:
            if role not in lives:
                lives[role] = Process(server, proxy, tmp_path, role, 0)
        seen = next_chunk(proxy)
        if seen is None:
            break
        time.sleep(dice.random() * 0.1)
        # Usually the process that sends is killed, sometimes the other one or both.
        sender = seen.process.split("-")[0]
        dies = dice.choice([[sender], [sender], [sender], ROLES, [r for r in ROLES if r != sender]])
        for role in dies:
            lives.pop(role).kill()
        among += 1
    for role in ROLES:
        if role not in lives:
            lives[role] = Process(server, proxy, tmp_path, role, 0)
    for life in lives.values():
        assert life.process.wait(timeout=240) == 0, life.lines[-3:]
        life.reader.join(30)
        assert life.lines[-1] == ["sent", "all"]
    sessions, shared = proxy.check(Process.all)
    compare(server, hashes)
    print(f"{among} kills while {count} files were sent in {sessions} sessions; {shared} sessions "
          f"were continued by another process; {len(Process.all)} processes")
    assert among, "no process was killed while files were sent"
    assert shared or ROUNDS < 50, "no session was continued by another process"
    server.stop()


def test_another_process_continues_the_upload_of_a_killed_one(tmp_path):
    dice = random.Random(18)
    hashes, server, proxy = prepare(tmp_path, dice, 1)
    # The helper starts while the app sends.
    proxy.rate = 300_000
    app = Process(server, proxy, tmp_path, "app", 1)
    app.wait_for("journalled", "0")
    helper = Process(server, proxy, tmp_path, "helper", 0)
    helper.wait_for("views")
    chunks = len(proxy.seen)
    while len(proxy.seen) < max(3, chunks + 1):
        next_chunk(proxy)
    app.kill()
    proxy.rate = 3_000_000
    assert helper.process.wait(timeout=60) == 0
    helper.reader.join(30)
    assert helper.lines[-1] == ["sent", "all"], helper.lines
    assert proxy.check(Process.all) == (1, 1), "the helper continues the app's session"
    compare(server, hashes)
    server.stop()


def test_a_helper_hands_its_uploads_to_the_app(tmp_path):
    """The app asks for the cache while the helper sends: the helper's request ends before the app's
    begins, and the helper shows the app's progress."""
    dice = random.Random(17)
    hashes, server, proxy = prepare(tmp_path, dice, 2)
    helper = Process(server, proxy, tmp_path, "helper", 2)
    assert next_chunk(proxy).process == helper.name
    app = Process(server, proxy, tmp_path, "app", 0)
    app.wait_for("holds")
    for life in [app, helper]:
        assert life.process.wait(timeout=60) == 0
        life.reader.join(30)
        assert life.lines[-1] == ["sent", "all"], life.lines
    assert ["views"] in helper.lines
    sessions, shared = proxy.check(Process.all)
    assert shared >= 1, "the app continues the helper's session"
    assert sessions == 2, "no session was begun twice"
    compare(server, hashes)
    server.stop()
