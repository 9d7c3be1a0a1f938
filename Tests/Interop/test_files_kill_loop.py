"""Kills the app with kill -9 many times while it sends photos on 3G, and compares every hash.

The original of a photo is deleted once the app says that it is journalled. Some kills also end the
server. At the end each document names its photo, each photo has its bytes, and no object is left
over.

TIDEMARK_KILL_ROUNDS sets the number of kills (default 4, with twelve photos of at most 1 MB; from 50
on, fifty photos of at most 20 MB), and TIDEMARK_KILL_SEED the random seed.
"""

import hashlib
import json
import os
import queue
import random
import socket
import subprocess
import threading
import time

import pytest

from conftest import LAB, Server
from storage.conftest import connect

ROUNDS = int(os.environ.get("TIDEMARK_KILL_ROUNDS", "4"))
SEED = int(os.environ.get("TIDEMARK_KILL_SEED", "0")) or random.randrange(1 << 30)
BUCKET = "kills.appspot.com"
IS_LONG = ROUNDS >= 50
PHOTOS = 50 if IS_LONG else 12


class Link:
    """The network of the phone: 200 KB a second for all connections, 200 ms, and lost packets."""

    RATE, LATENCY, LOSS, RECOVERY = 200_000, 0.2, 0.01, 0.4

    def __init__(self, dice):
        self.lock = threading.Lock()
        self.free = {"up": 0.0, "down": 0.0}
        self.bytes = {"up": 0, "down": 0}
        self.dice = dice

    def arrival(self, way, count):
        """Returns the time at which bytes that are sent now arrive."""
        with self.lock:
            start = max(time.monotonic(), self.free[way])
            self.free[way] = start + count / self.RATE
            self.bytes[way] += count
            lost = self.RECOVERY if self.dice.random() < self.LOSS else 0
            return self.free[way] + self.LATENCY + lost


class Way:
    """One direction of a connection. Its writer waits until the bytes arrive."""

    def __init__(self, link, way, source, target):
        self.link, self.way, self.source, self.target = link, way, source, target
        self.waiting = queue.Queue(maxsize=64)
        for run in (self.read, self.write):
            threading.Thread(target=run, daemon=True).start()

    def read(self):
        try:
            while data := self.source.recv(4096):
                self.waiting.put((self.link.arrival(self.way, len(data)), data))
        except OSError:
            pass
        self.waiting.put((0, b""))

    def write(self):
        while True:
            arrival, data = self.waiting.get()
            time.sleep(max(0, arrival - time.monotonic()))
            try:
                if not data:
                    return self.target.shutdown(socket.SHUT_WR)
                self.target.sendall(data)
            except OSError:
                # Lets the reader end, whose queue has a bound.
                for end in (self.source, self.target):
                    try:
                        end.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass
                while data:
                    _, data = self.waiting.get()
                return


class Gate:
    """A port whose connections pass over the link to a port of the server, which can change."""

    def __init__(self, link, upstream):
        self.link, self.upstream = link, upstream
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.upstream), timeout=5)
                server.settimeout(None)
            except OSError:
                client.close()
                continue
            Way(self.link, "up", client, server)
            Way(self.link, "down", server, client)


class Life:
    """One process of the app, with every line that it has printed."""

    def __init__(self, firestore, storage, cache, files, count):
        self.process = subprocess.Popen(
            [LAB, "send-files", "--project", "interop", "--cache", cache, "--files", files,
             "--count", str(count), "--storage", storage.host, "--bucket", BUCKET],
            env=dict(os.environ, FIRESTORE_EMULATOR_HOST=firestore.host), stdout=subprocess.PIPE,
            text=True)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            # A kill can cut off the last line.
            if line.endswith("\n"):
                self.lines.append(line.split())

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(30)

    def left(self):
        """The last number of files that were left; None if the process did not get so far."""
        counts = [int(line[1]) for line in self.lines if line[0] == "left"]
        return counts[-1] if counts else None


def sizes(dice):
    """Sizes around a block of 256 KiB, many small photos and, in a long run, one of 20 MB."""
    block = 262_144
    known = [0, 1, block - 1, block, block + 1, 1_000_000]
    if IS_LONG:
        known += [2 * block, 3_000_000, 20_000_000]
    rest = [int(500 * 3_000 ** dice.random()) for _ in range(PHOTOS - len(known))]
    found = known + (rest if IS_LONG else [size % 200_000 for size in rest])
    dice.shuffle(found)
    return found


def photos(dice, folder):
    """Writes the photos as files of a new folder. Returns their hashes by number."""
    folder.mkdir()
    hashes = {}
    for number, size in enumerate(sizes(dice)):
        content = dice.randbytes(size)
        (folder / f"{number}.bin").write_bytes(content)
        hashes[number] = hashlib.sha256(content).hexdigest()
    return hashes


@pytest.mark.bound(300 + 12 * ROUNDS)
def test_photos_are_sent_through_kills_again_and_again(tmp_path):
    print(f"TIDEMARK_KILL_SEED={SEED}")
    dice = random.Random(SEED)
    files, cache, data = tmp_path / "files", tmp_path / "cache", tmp_path / "server"
    data.mkdir()
    hashes = photos(dice, files)
    total = sum(file.stat().st_size for file in files.iterdir())
    server = Server(data, 0, "--storage")
    link = Link(random.Random(SEED + 1))
    firestore, storage = Gate(link, server.port), Gate(link, server.storage_port)
    among, servers, began = 0, 0, time.monotonic()
    for turn in range(ROUNDS):
        count = -(-PHOTOS * (turn + 1) // ROUNDS)
        life = Life(firestore, storage, cache, files, count)
        life.reader.join(dice.uniform(0.1, 3.5))
        if dice.random() < 0.1:
            server.kill()
            servers += 1
            life.reader.join(dice.random())
            life.kill()
            server = Server(data, server.port, "--storage")
            firestore.upstream, storage.upstream = server.port, server.storage_port
        else:
            life.kill()
        among += life.left() != 0
        forget(life, files)
    last = Life(firestore, storage, cache, files, PHOTOS)
    assert last.process.wait(timeout=240 + 4 * ROUNDS) == 0
    last.reader.join(30)
    forget(last, files)
    assert ["sent", "all"] in last.lines
    assert not list(files.iterdir()), "each photo was journalled"
    compare(server, hashes)
    print(f"{ROUNDS} kills, {among} of them while photos were left, and {servers} of the server; "
          f"{PHOTOS} photos of {total / 1e6:.1f} MB in {time.monotonic() - began:.0f} s, "
          f"{link.bytes['up'] / total:.2f} bytes sent for each byte of a photo")
    assert among >= ROUNDS // 2, "the app was hardly ever killed while it sent"
    server.stop()


def forget(life, files):
    """Deletes the originals that are journalled. No upload fails for good."""
    for line in life.lines:
        assert line[0] != "failed", f"TIDEMARK_KILL_SEED={SEED}: {line}"
        if line[0] in ("journalled", "known"):
            (files / f"{line[1]}.bin").unlink(missing_ok=True)


def compare(server, hashes):
    """Compares the bytes of every object with the photo's, and asks the audit for what is over."""
    bucket = connect(server).bucket(BUCKET)
    documents = {row.id: row.to_dict() for row in server.client().collection("photos").stream()}
    assert sorted(documents) == sorted(str(number) for number in hashes)
    for number, expected in hashes.items():
        photo = documents[str(number)]["photo"]
        content = bucket.blob(photo["path"]).download_as_bytes()
        assert hashlib.sha256(content).hexdigest() == expected == photo["hash"], number
        assert photo["size"] == len(content) and "pending" not in photo
    assert len(list(bucket.list_blobs())) == len(hashes), "no object is left over"
    result = server.run(
        "audit", "objects", "--project", "interop", "--bucket", BUCKET, "--field", "photos:photo",
        "--grace", "0", "--json", "--storage-host", f"127.0.0.1:{server.storage_port}")
    assert result.returncode == 0 and json.loads(result.stdout)["count"] == 0, result.stdout
