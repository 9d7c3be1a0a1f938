"""`tidemark-lint` as users start it: the program, its command plugin, and its run on this
repository."""

import json
import os
import shutil
import subprocess

import pytest

from conftest import ROOT

LINT = ROOT / ".build/debug/tidemark-lint"
SWIFT = os.environ.get("SWIFT", "swift")
pytestmark = pytest.mark.skipif(not LINT.exists(), reason="tidemark-lint is not built")

APP = """import FirebaseFirestore
let db = Firestore.firestore()
func count() async throws -> Int { try await db.collection("likes").getDocuments().documents.count }
func send(_ text: String) {
    db.collection("messages").addDocument(data: ["text": text, "sentAt": Timestamp()]) { show($0) }
}
func listen(_ query: Query) { token = query.addSnapshotListener { s, e in show(s, e) } }
func stop() { token.remove() }
"""
MENDED = APP.replace(
    "getDocuments().documents.count", "count.getAggregation(source: .server).count.intValue"
).replace("Timestamp()", "FieldValue.serverTimestamp()")


@pytest.fixture
def app(tmp_path):
    (tmp_path / "Sources").mkdir()
    (tmp_path / "Sources/App.swift").write_text(APP)
    return tmp_path


def lint(folder, *arguments, bound=50):
    return subprocess.run(
        [LINT, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=bound)


def test_its_exit_codes_say_whether_something_was_found(app):
    found = lint(app)
    assert found.returncode == 1 and "[counted-by-download]" in found.stdout
    assert "1 call could not be checked" in found.stdout
    assert lint(app, "--fail-on", "error").returncode == 0
    nowhere = lint(app, "Nowhere")
    assert nowhere.returncode == 2 and nowhere.stderr.endswith("no file or folder Nowhere\n")
    (app / ".tidemark-lint.json").write_text('{"usres": 1}')
    wrong = lint(app)
    assert wrong.returncode == 2 and "there is no setting `usres`" in wrong.stderr


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "xcode"])
def test_what_it_cannot_tell_is_counted_in_each_form(app, form):
    shown = lint(app, "--format", form, "--fail-on", "never").stdout
    if form == "json":
        assert len(json.loads(shown)["untold"]) == 1
    elif form == "sarif":
        run = json.loads(shown)["runs"][0]
        notes = run["invocations"][0]["toolExecutionNotifications"]
        assert len(notes) == 1 and notes[0]["message"]["text"].startswith("Cannot tell")
    else:
        assert "1 call could not be checked" in shown
    if form == "xcode":
        assert shown.startswith(f"{os.path.realpath(app)}/Sources/App.swift:3:"), "for Xcode to open"


def test_a_fix_is_shown_first_and_made_on_request(app):
    file = app / "Sources/App.swift"
    shown = lint(app, "--fix")
    assert shown.returncode == 0 and "+func count() async throws -> Int" in shown.stdout
    assert "2 places to change" in shown.stdout and file.read_text() == APP
    assert lint(app, "--write").returncode == 64, "there is no --write without --fix"
    made = lint(app, "--fix", "--write")
    assert made.returncode == 0 and file.read_text() == MENDED
    left = json.loads(lint(app, "--format", "json").stdout)
    assert left["findings"] == []
    assert "0 places to change" in lint(app, "--fix").stdout


def test_a_baseline_holds_from_whatever_folder_it_is_read(app):
    assert lint(app, "--write-baseline", "known.json").returncode == 0
    assert lint(app, "--baseline", "known.json").returncode == 0
    known = lint("/", "--root", app, "--baseline", "known.json")
    assert known.returncode == 0 and "2 known from the baseline" in known.stdout
    (app / "Sources/New.swift").write_text(APP)
    assert lint(app, "--baseline", "known.json").returncode == 1


def test_the_page_stands_alone(app):
    assert lint(app, "--html", "report.html").returncode == 1
    page = (app / "report.html").read_text()
    assert "<h2>The costliest</h2>" in page and "http" not in page


@pytest.mark.bound(600)
def test_this_repository_has_no_finding_that_is_not_explained():
    """The repository has over 2,000 files. With a debug build, the test takes 62 s of processor
    time, most of it in the parser."""
    shown = lint(ROOT, "--fail-on", "note", "--format", "json", bound=590)
    report = json.loads(shown.stdout)
    assert shown.returncode == 0, [f"{f['place']} {f['message']}" for f in report["findings"]]
    assert report["files"] > 1000 and report["operations"] > 100 and report["unparsed"] == []


MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "app",
    targets: [
        .target(name: "App", path: "Sources"),
        .target(name: "Quiet", path: "Quiet"),
        .binaryTarget(name: "tidemark-lint", path: "tidemark-lint.artifactbundle"),
        .plugin(
            name: "TidemarkLintCommand",
            capability: .command(intent: .custom(verb: "tidemark-lint", description: "Lints.")),
            dependencies: ["tidemark-lint"]),
    ])
"""


@pytest.fixture
def package(app):
    """A package with Tidemark's plugin and the built tool, in its own folder. A build of another
    package at the same time would lock a shared build folder."""
    (app / "Package.swift").write_text(MANIFEST)
    (app / "Quiet").mkdir()
    (app / "Quiet/Quiet.swift").write_text(MENDED)
    shutil.copytree(ROOT / "Plugins/TidemarkLintCommand", app / "Plugins/TidemarkLintCommand")
    bundle = app / "tidemark-lint.artifactbundle"
    (bundle / "bin").mkdir(parents=True)
    shutil.copy(LINT, bundle / "bin/tidemark-lint")
    triple = json.loads(subprocess.run(
        [SWIFT, "-print-target-info"], capture_output=True, text=True, timeout=50).stdout)["target"]
    (bundle / "info.json").write_text(json.dumps({
        "schemaVersion": "1.0",
        "artifacts": {"tidemark-lint": {
            "type": "executable", "version": "1.0.0",
            "variants": [{
                "path": "bin/tidemark-lint",
                "supportedTriples": [triple["unversionedTriple"]]}]}}}))
    return app


@pytest.mark.bound(240)
def test_the_command_plugin_runs_it_on_a_target(package):
    """The first time, SwiftPM plans the package and compiles the plugin."""
    def run(target):
        command = [SWIFT, "package", "--disable-sandbox", "tidemark-lint", "--target", target]
        return subprocess.run(
            [*command, "--fail-on", "note"], cwd=package, capture_output=True, text=True, timeout=230)

    found = run("App")
    assert found.returncode == 1, found.stdout + found.stderr
    assert "Sources/App.swift:3" in found.stdout and "[counted-by-download]" in found.stdout
    assert "has findings as severe as --fail-on says" in found.stderr
    quiet = run("Quiet")
    assert quiet.returncode == 0 and "nothing found" in quiet.stdout, quiet.stdout + quiet.stderr
