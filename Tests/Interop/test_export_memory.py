"""An export and an import of many documents, with memory that does not grow with their number.

`make test` uses some thousand documents. TIDEMARK_EXPORT_DOCUMENTS=1000000 with a release build
measures the promised limit: less than 100 MB for each, for any number of documents.
"""

import os
import pathlib
import subprocess
import time

import pytest

from conftest import BINARY, Server

DOCUMENTS = int(os.environ.get("TIDEMARK_EXPORT_DOCUMENTS", 5_000))
LIMIT_KB = 100_000


def row(number):
    text = f"a row of some length, number {number}, as an app's documents have them"
    return ('{"fields":{"at":{"timestampValue":"2026-01-01T00:00:00.%06dZ"},"n":{"integerValue":"%d"},'
            '"text":{"stringValue":"%s"}},"path":"rows/r%07d"}\n' % (
                number % 999 + 1, number, text, number))


def measured(server, *arguments):
    """Runs a command against the server. Returns the seconds and its peak memory in kilobytes."""
    process = subprocess.Popen(
        [BINARY, *map(str, arguments)], env=dict(os.environ, FIRESTORE_EMULATOR_HOST=server.host),
        stdout=subprocess.DEVNULL)
    began = time.monotonic()
    most = 0
    while process.poll() is None:
        # wait4 would report the parent's memory if the parent had used more.
        most = max(most, peak(process))
        try:
            process.wait(timeout=0.02)
        except subprocess.TimeoutExpired:
            pass
    assert process.returncode == 0
    return time.monotonic() - began, most


def peak(process):
    """Returns the peak memory of a process so far, in kilobytes; 0 if the system does not report
    it."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0])
    except (FileNotFoundError, IndexError, ProcessLookupError):
        return 0


@pytest.mark.bound(7_200)
def test_memory_does_not_grow_with_the_documents(tmp_path):
    seed = tmp_path / "seed.jsonl"
    with seed.open("w") as file:
        file.write('{"database":"projects/many/databases/(default)"}\n')
        for number in range(DOCUMENTS):
            file.write(row(number))
        file.write('{"documents":%d}\n' % DOCUMENTS)
    data = tmp_path / "data"
    data.mkdir()
    server = Server(data)
    report = []

    def step(name, *arguments):
        before = peak(server.process)
        seconds, memory = measured(server, *arguments)
        grown = peak(server.process) - before
        report.append((name, seconds, memory, grown))
        print(f"\n{name}: {DOCUMENTS} documents, {seconds:.1f} s, {memory / 1000:.0f} MB; "
              f"the server's peak grew by {grown / 1000:.0f} MB", end="")

    try:
        step("import of lines", "import", "firestore", seed)
        step("export", "export", tmp_path / "out", "--project", "many")
        step("export as lines", "export", tmp_path / "out.jsonl", "--project", "many")
        # The files are equal in all bytes.
        assert subprocess.run(["cmp", seed, tmp_path / "out.jsonl"]).returncode == 0
        step("import", "import", "firestore", tmp_path / "out", "--project", "again")
        step("export of that", "export", tmp_path / "again.jsonl", "--project", "again")
        assert subprocess.run(
            f"cmp <(tail -n +2 {seed}) <(tail -n +2 {tmp_path}/again.jsonl)", shell=True,
            executable="/bin/bash").returncode == 0
    finally:
        server.stop()
    for name, _, memory, _ in report:
        assert memory < LIMIT_KB, f"{name} took {memory} kB"
