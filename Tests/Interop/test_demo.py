"""What a demo leaves behind."""

import json
import pathlib
import subprocess
import time
import urllib.request

from conftest import BINARY


def status(process):
    """The state letter and the parent of a process; None when it is gone."""
    try:
        text = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    state, parent = text.rsplit(")", 1)[1].split()[:2]
    return state, int(parent)


def is_gone(process):
    found = status(process)
    return found is None or found[0] == "Z"


def server_of(parent):
    """The server of a demo, once clients have called it; None before."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        found = status(folder.name)
        if found is None or found[1] != parent:
            continue
        try:
            arguments = (folder / "cmdline").read_text().split("\0")
            ports = json.loads(pathlib.Path(arguments[arguments.index("--ports-file") + 1]).read_text())
            url = f"http://127.0.0.1:{ports['control']}/tidemark/v1/meter"
            with urllib.request.urlopen(url, timeout=10) as answer:
                if json.load(answer):
                    return folder.name
        except (OSError, ValueError):
            continue
    return None


def test_a_demo_that_is_killed_leaves_no_server(tmp_path):
    demo = subprocess.Popen(
        [BINARY, "demo", "chats", "--limit", "500", "--opens", "24", "--small"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path)
    try:
        end = time.monotonic() + 60
        while not (server := server_of(demo.pid)):
            assert demo.poll() is None and time.monotonic() < end, "it has no server"
            time.sleep(0.01)
    finally:
        demo.kill()
        demo.wait()
    end = time.monotonic() + 30
    while not is_gone(server):
        assert time.monotonic() < end, "its server goes on"
        time.sleep(0.05)
