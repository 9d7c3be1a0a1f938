"""The version that the program prints is the one of the sources."""

import re
import subprocess

from conftest import BINARY, ROOT


def test_the_program_prints_the_version_of_the_sources():
    text = (ROOT / "Sources/TidemarkModel/RPC/Version.swift").read_text()
    number = re.search(r'number = "([0-9.]+)"', text).group(1)
    done = subprocess.run([BINARY, "--version"], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, number + "\n"), done.stderr
