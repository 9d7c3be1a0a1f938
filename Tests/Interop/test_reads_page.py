"""The page of `tidemark reads`, played as a stranger reads it: each file, each command, each output."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

from conftest import BINARY, ROOT

PAGE = ROOT / "Sources/TidemarkTesting/TidemarkTesting.docc/AGateForYourReads.md"
WORKFLOW = ".github/workflows/reads.yml"
pytestmark = pytest.mark.bound(300)


def blocks(text):
    """The code blocks of the page in order: the text above each, its language, its own text."""
    parts = re.split(r"^```(\w*)\n(.*?)^```\n", text, flags=re.DOTALL | re.MULTILINE)
    above = [part.strip().rsplit("\n", 1)[-1] for part in parts[::3]]
    return list(zip(above, parts[1::3], parts[2::3]))


class Stranger:
    """Does what the page says, in an empty folder, with `tidemark` in the path."""

    def __init__(self, tmp_path):
        self.folder = tmp_path / "shop"
        self.home = tmp_path / "home"
        tools = self.home / "tidemark/bin"
        for folder in (self.folder, tools):
            folder.mkdir(parents=True)
        (tools / "tidemark").symlink_to(BINARY)
        self.path = f"{tools}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        (self.home / ".gitconfig").write_text("[user]\n name = Stranger\n email = s@example.com\n")
        origin = tmp_path / "origin.git"
        subprocess.run(["git", "init", "--quiet", "--bare", origin], check=True)
        self.origin = origin
        self.last = None

    def run(self, text, **environment):
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        self.last = subprocess.run(
            ["bash", "-e", "-c", text], cwd=self.folder, capture_output=True, text=True, timeout=240,
            env={**kept, "PATH": self.path, "HOME": str(self.home), "PIP_NO_INDEX": "1",
                 "PYTHONDONTWRITEBYTECODE": "1", **environment})
        return self.last

    def write(self, name, text):
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def change(self, name, diff):
        """Replaces the lines of a diff."""
        code = (self.folder / name).read_text()
        old, new = ("".join(line[1:] + "\n" for line in diff.splitlines() if line[0] == sign)
                    for sign in "-+")
        assert code.count(old) == 1, code
        self.write(name, code.replace(old, new))

    def job(self, text):
        """Runs the steps of a workflow whose program is in the cache, and returns its summary."""
        steps = yaml.safe_load(text)["jobs"]["reads"]["steps"]
        summary = self.home / "summary.md"
        for step in steps:
            if "run" in step and "if" not in step:
                if self.run(step["run"], GITHUB_STEP_SUMMARY=str(summary)).returncode != 0:
                    break
        return summary.read_text()


@pytest.fixture
def stranger(tmp_path):
    return Stranger(tmp_path)


def expected_code(text):
    """A check behind the lost limit fails; all other commands succeed."""
    return 1 if text.startswith("tidemark reads check") else 0


def play(stranger, page):
    """Plays the page until its table of exit codes. Returns the workflow."""
    workflow = None
    for before, language, text in blocks(page):
        name = re.match(r"`([\w./]+)`", before)
        if language == "sh":
            if "git push" in text:
                stranger.run(f"git remote add origin {stranger.origin}")
            done = stranger.run(text)
            assert done.returncode == expected_code(text), f"{text}\n{done.stdout}{done.stderr}"
        elif language == "json":
            assert text in (stranger.folder / "reads.json").read_text()
        elif language == "diff":
            stranger.change(re.search(r"`([\w.]+)`", before).group(1), text)
        elif name:
            stranger.write(name.group(1), text)
            workflow = text if name.group(1) == WORKFLOW else workflow
        else:
            shown = stranger.last.stdout
            assert shown[shown.index("tidemark reads:"):] == text
    return workflow


def test_the_page_leads_from_a_suite_to_a_red_pull_request(stranger):
    page = PAGE.read_text()
    workflow = play(stranger, page[:page.index("| exit code | meaning |")])
    branches = stranger.run(f"git -C {stranger.origin} branch --format='%(refname:short)'").stdout
    assert branches.split() == ["faster", "main"]
    summary = stranger.job(workflow)
    assert stranger.last.returncode == 1, stranger.last.stdout + stranger.last.stderr
    assert "| +37 | test\\_feed.py::test\\_newest |" in summary, summary
    stranger.run("git switch --quiet main")
    assert "No line grew" in stranger.job(workflow)
    assert stranger.last.returncode == 0


def test_the_workflow_keeps_the_program_where_its_steps_expect_it():
    text = next(text for before, _, text in blocks(PAGE.read_text()) if before.startswith(f"`{WORKFLOW}`"))
    workflow = yaml.safe_load(text)
    # The text "on" is a truth value in YAML.
    assert set(workflow[True]) == {"pull_request", "push"}
    steps = workflow["jobs"]["reads"]["steps"]
    cache = next(step for step in steps if step.get("uses", "").startswith("actions/cache"))
    build = next(step for step in steps if step.get("if"))
    assert build["if"] == f"steps.{cache['id']}.outputs.cache-hit != 'true'"
    assert f"cp .build/release/tidemark {cache['with']['path']}/" in build["run"]
    assert steps[-1]["run"].startswith(f"{cache['with']['path']}/tidemark ")
    number = re.search(r'number = "([^"]+)"', (ROOT / "Sources/TidemarkModel/RPC/Version.swift").read_text())
    assert cache["with"]["key"] == f"tidemark-{number.group(1)}"
    assert f"--branch {number.group(1)} " in build["run"]
    done = subprocess.run(["bash", "-n", "-c", build["run"]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
