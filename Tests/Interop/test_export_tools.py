"""Exports that Firebase's tools request from a running server, with accounts, and exports as JSON
lines."""

import json
import pathlib

import pytest
import requests

from conftest import Server
from test_export import contents, everything

OWNER = {"authorization": "Bearer owner"}


class Tools:
    """The requests of `firebase emulators:export` and of other callers of the official emulator."""

    def __init__(self, server):
        self.server = server

    def post(self, path, body, **headers):
        return requests.post(
            f"http://{self.server.host}/emulator/v1/projects/{path}", json=body, timeout=30,
            headers=headers)

    def hub(self, body, **headers):
        return requests.post(
            f"http://127.0.0.1:{self.server.control_port}/_admin/export", json=body, timeout=30,
            headers=headers)

    def accounts(self, method, path, body=None, headers=OWNER):
        answer = requests.request(
            method, f"http://127.0.0.1:{self.server.accounts_port}/identitytoolkit.googleapis.com"
            + path, json=body, headers=headers, timeout=30)
        return answer.json()

    def users(self, project):
        found = self.accounts("GET", f"/v1/projects/{project}/accounts:batchGet?maxResults=1000")
        return {user["localId"]: user for user in found.get("users", [])}

    def sign_up(self, project, **fields):
        return self.accounts("POST", f"/v1/projects/{project}/accounts", fields)["localId"]

    def sign_in(self, project, email, password):
        """Returns the status of a sign-in, by a path that names the project."""
        return self.accounts(
            "POST", "/v1/accounts:signInWithPassword?key=any",
            {"email": email, "password": password, "returnSecureToken": True,
             "targetProjectId": project}, headers=None)


@pytest.fixture
def served(tmp_path):
    servers = []

    def serve(name, *flags, **options):
        (tmp_path / name).mkdir()
        servers.append(Server(tmp_path / name, 0, *flags, **options))
        return servers[-1]

    yield serve
    for server in servers:
        if server.process.poll() is None:
            server.stop()


def test_the_emulators_own_export_and_import(server, tmp_path):
    tools = Tools(server)
    client = server.client("asked")
    values = everything(client)
    reference = values.pop("reference")
    client.document("kinds/all").set(values)
    client.document("references/r").set({"to": reference})
    database = "projects/asked/databases/(default)"
    body = {"database": database, "export_directory": str(tmp_path), "export_name": "seed"}
    answer = tools.post("asked:export", body)
    assert (answer.status_code, answer.text) == (200, "{\n}\n")
    overall = tmp_path / "seed/seed.overall_export_metadata"
    assert overall.is_file()
    # Only the folder exists. The tools themselves write the listing.
    assert [path.name for path in tmp_path.iterdir()] == ["seed"]
    before = contents(tmp_path)
    assert tools.post("asked:export", body).status_code == 200
    assert contents(tmp_path) == before
    # If the request has no name, the server makes one.
    assert tools.post(
        "asked:export", {"export_directory": str(tmp_path)}).status_code == 200
    assert sum(path.name.startswith("firestore_export_") for path in tmp_path.iterdir()) == 1
    other = server.client("asked-elsewhere")
    other.document("kinds/mine").set({"n": 1})
    answer = tools.post("asked-elsewhere:import", {
        "database": "projects/asked-elsewhere/databases/(default)",
        "export_directory": str(overall)})
    assert (answer.status_code, answer.text) == (200, "{\n}\n")
    rows = {row.id: row.to_dict() for row in other.collection("kinds").stream()}
    assert rows.pop("mine") == {"n": 1}
    assert rows == {"all": values}
    # A reference to another project stays a reference to that project. Google's client refuses to
    # read it.
    answer = requests.get(
        f"http://{server.host}/v1/projects/asked-elsewhere/databases/(default)/documents/"
        "references/r", timeout=60)
    assert answer.json()["fields"] == {"to": {"referenceValue": (
        "projects/asked/databases/(default)/documents/rooms/blue")}}


@pytest.mark.parametrize("verb, body, status, sentence", [
    ("export", {"export_directory": "/nowhere/at/all"}, "FAILED_PRECONDITION",
     "export_directory must be a directory"),
    ("export", {"export_directory": "relative"}, "INVALID_ARGUMENT", "must be an absolute path"),
    ("export", {}, "INVALID_ARGUMENT", "export_directory must be an absolute path"),
    ("export", {"export_directory": "/", "export_name": "../x"}, "INVALID_ARGUMENT",
     "must be the name of a folder"),
    ("export", {"export_directory": "/", "database": "projects/other/databases/(default)"},
     "INVALID_ARGUMENT", "not a database of the project refused"),
    ("import", {"export_directory": "/nowhere"}, "FAILED_PRECONDITION", "no such file"),
    ("import", [], "INVALID_ARGUMENT", "must be the JSON of an export"),
])
def test_what_cannot_be_exported_or_imported(server, verb, body, status, sentence):
    answer = Tools(server).post(f"refused:{verb}", body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["status"] == status and sentence in error["message"]


def test_a_damaged_export_is_refused_by_the_endpoint(server, tmp_path):
    tools = Tools(server)
    server.client("broken").document("a/b").set({"text": "x" * 300})
    body = {"export_directory": str(tmp_path), "export_name": "seed"}
    assert tools.post("broken:export", body).status_code == 200
    output = tmp_path / "seed/all_namespaces/all_kinds/output-0"
    output.write_bytes(output.read_bytes()[:-1])
    answer = tools.post("broken-2:import", {
        "export_directory": str(tmp_path / "seed/seed.overall_export_metadata")})
    assert answer.status_code == 400 and "damaged" in answer.json()["error"]["message"]
    assert list(server.client("broken-2").collection("a").stream()) == []
    # The export of another database is also refused.
    server.client("broken", "eu").document("a/b").set({})
    body = {"database": "projects/broken/databases/eu", "export_directory": str(tmp_path),
            "export_name": "eu"}
    assert tools.post("broken:export", body).status_code == 200
    answer = tools.post("broken-2:import", {
        "export_directory": str(tmp_path / "eu/eu.overall_export_metadata")})
    assert answer.status_code == 400 and '"eu"' in answer.json()["error"]["message"]


def test_no_page_exports(server, tmp_path):
    tools = Tools(server)
    page = {"origin": "http://localhost:3000"}
    for verb in ("export", "import"):
        answer = tools.post(f"paged:{verb}", {"export_directory": str(tmp_path)}, **page)
        assert answer.status_code == 403
    answer = tools.hub({"path": str(tmp_path / "out")}, **page)
    assert answer.status_code == 403
    assert list(tmp_path.iterdir()) == []


def test_who_shows_no_token_neither_exports_nor_clears(served, tmp_path):
    server = served("guarded", "--token", "secret")
    tools = Tools(server)
    document = (f"http://{server.host}/v1/projects/p/databases/(default)/documents/a/b")
    token = {"authorization": "Bearer secret"}
    assert requests.patch(document, json={}, headers=token, timeout=60).status_code == 200
    body = {"export_directory": str(tmp_path), "export_name": "seed"}
    assert tools.post("p:export", body).status_code == 401
    whole = {"path": str(tmp_path / "seed")}
    assert tools.hub(whole).status_code == 401
    assert requests.post(
        f"http://{server.host}/_admin/export", json=whole, timeout=60).status_code == 401
    assert not (tmp_path / "seed").exists()
    clear = f"http://{server.host}/emulator/v1/projects/p/databases/(default)/documents"
    assert requests.delete(clear, timeout=60).status_code == 401
    rules = {"rules": {"files": [{"content": "service cloud.firestore {}"}]}}
    put = f"http://{server.host}/emulator/v1/projects/p:securityRules"
    assert requests.put(put, json=rules, timeout=60).status_code == 401
    assert requests.get(document, headers=token, timeout=60).status_code == 200
    assert tools.post("p:export", body, **token).status_code == 200
    assert (tmp_path / "seed").exists()
    assert requests.delete(clear, headers=token, timeout=60).status_code == 200
    assert requests.get(document, headers=token, timeout=60).status_code == 404


def test_accounts_go_with_the_documents(served, tmp_path):
    seed = tmp_path / "seed"
    first = served("one", "--hub-project", "town", environment={"TMPDIR": str(tmp_path)})
    tools = Tools(first)
    first.client("town").document("rooms/blue").set({"n": 1})
    ann = tools.sign_up("town", email="ann@example.com", password="secret-ann",
                        displayName="Ann", customAttributes='{"role":"admin"}')
    bob = tools.sign_up("town", phoneNumber="+15550100")
    off = tools.sign_up("town", email="off@example.com", password="secret-off", disabled=True)
    there = tools.sign_up("other-town", email="ann@example.com", password="another-one")
    answer = tools.hub({"path": str(seed), "initiatedBy": "emulators:export"})
    assert (answer.status_code, answer.json()) == (200, {"message": "OK"})
    listing = json.loads((seed / "firebase-export-metadata.json").read_text())
    assert listing["auth"]["path"] == "auth_export"
    official = json.loads((seed / "auth_export/accounts.json").read_text())
    assert [user["localId"] for user in official["users"]] == sorted([ann, bob, off])
    assert "secret-ann" not in (seed / "auth_export/accounts.json").read_text()
    config = json.loads((seed / "auth_export/config.json").read_text())
    assert config["signIn"] == {"allowDuplicateEmails": False}
    # A second export has the same bytes.
    before = contents(seed)
    assert tools.hub({"path": str(seed)}).status_code == 200
    assert contents(seed) == before
    kept = tools.users("town")
    first.stop()

    second = served("two", "--import", seed, "--accounts-project", "town",
                    "--export-on-exit", tmp_path / "out")
    tools = Tools(second)
    assert second.client("town").document("rooms/blue").get().to_dict() == {"n": 1}
    assert tools.users("town") == kept
    assert list(tools.users("other-town")) == [there]
    assert tools.sign_in("town", "ann@example.com", "secret-ann")["localId"] == ann
    assert "error" in tools.sign_in("town", "ann@example.com", "secret-off")
    assert "USER_DISABLED" in tools.sign_in("town", "off@example.com", "secret-off")[
        "error"]["message"]
    second.stop()
    written = json.loads((tmp_path / "out/auth_export/accounts.json").read_text())
    assert [user["localId"] for user in written["users"]] == sorted([ann, bob, off])


def official_folder(place: pathlib.Path, users):
    """A folder in the form of the official emulators, with only accounts."""
    (place / "auth_export").mkdir(parents=True)
    (place / "firebase-export-metadata.json").write_text(json.dumps({
        "version": "13.0.0", "auth": {"version": "13.0.0", "path": "auth_export"}}))
    (place / "auth_export/accounts.json").write_text(json.dumps({
        "kind": "identitytoolkit#DownloadAccountResponse", "users": users}))
    (place / "auth_export/config.json").write_text(json.dumps({
        "signIn": {"allowDuplicateEmails": False}, "usageMode": "DEFAULT"}))


def official_user(name, **more):
    return {
        "localId": name, "createdAt": "1700000000000", "lastLoginAt": "1700000001000",
        "passwordHash": f"fakeHash:salt=fakeSalt{name}:password=pass:{name}",
        "salt": f"fakeSalt{name}", "passwordUpdatedAt": 1700000000000,
        "providerUserInfo": [{
            "providerId": "password", "email": f"{name}@example.com",
            "federatedId": f"{name}@example.com", "rawId": f"{name}@example.com"}],
        "validSince": "1700000000", "email": f"{name}@example.com", "emailVerified": False,
        "disabled": False, "lastRefreshAt": "2023-11-14T22:13:21.000Z", **more}


def test_users_of_the_official_emulator_sign_in(served, tmp_path):
    seed = tmp_path / "seed"
    official_folder(seed, [official_user("ann"), official_user(
        "gus", providerUserInfo=[
            {"providerId": "google.com", "rawId": "g-1", "federatedId": "g-1",
             "email": "gus@example.com"},
            {"providerId": "password", "email": "gus@example.com", "rawId": "gus@example.com",
             "federatedId": "gus@example.com"}])])
    server = served("one", "--import", seed, "--accounts-project", "town")
    tools = Tools(server)
    users = tools.users("town")
    assert set(users) == {"ann", "gus"}
    assert users["ann"]["createdAt"] == "1700000000000"
    assert users["ann"]["lastRefreshAt"].startswith("2023-11-14T22:13:21")
    assert {info["providerId"] for info in users["gus"]["providerUserInfo"]} == {
        "google.com", "password"}
    assert "pass:ann" not in json.dumps(users)
    assert tools.sign_in("town", "ann@example.com", "pass:ann")["localId"] == "ann"
    assert "error" in tools.sign_in("town", "ann@example.com", "pass:gus")


@pytest.mark.parametrize("damage, sentence", [
    (lambda users: users + [official_user("two", email="ann@example.com")], "EMAIL_EXISTS"),
    (lambda users: users + [official_user("a/b")], "users[1]"),
    (lambda users: {"ann": 1}, "users is not a list"),
])
def test_accounts_that_cannot_be_taken_keep_everything_out(
        served, tmp_path, damage, sentence):
    seed = tmp_path / "seed"
    official_folder(seed, damage([official_user("ann")]))
    with pytest.raises(AssertionError):
        served("one", "--import", seed)
    stopped = served("two")
    process = stopped.run("serve", "--port", "0", "--data", tmp_path / "three",
                          "--import", seed)
    assert process.returncode == 1 and sentence in process.stderr
    assert process.stderr.startswith("tidemark serve: The accounts: ")
    again = served("four", "--accounts-project", "town")
    assert Tools(again).users("town") == {}


def test_json_lines_both_ways(server, served, tmp_path):
    client = server.client("lined")
    client.document("kinds/all").set(everything(client) | {"minus": -0.0})
    for row in range(30):
        client.document(f"rows/r{row:02}").set({"n": row})
    file = tmp_path / "town.jsonl"
    process = server.run("export", file, "--project", "lined")
    assert process.returncode == 0, process.stderr
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert lines[0] == {"database": "projects/lined/databases/(default)"}
    assert lines[-1] == {"documents": 31}
    assert lines[2] == {"path": "rows/r00", "fields": {"n": {"integerValue": "0"}}}
    assert lines[1]["fields"]["minus"] == {"doubleValue": "-0"}
    assert lines[1]["fields"]["least"] == {"integerValue": str(-2**63)}
    # A change of one field changes one line.
    first = file.read_text().splitlines()
    client.document("rows/r07").update({"n": 70})
    assert server.run("export", file, "--project", "lined").returncode == 0
    second = file.read_text().splitlines()
    assert [a == b for a, b in zip(first, second, strict=True)].count(False) == 1
    other = served("other", "--import", file)
    again = tmp_path / "again.jsonl"
    process = other.run("export", again, "--project", "lined")
    assert process.returncode == 0 and again.read_bytes() == file.read_bytes()
    # The content of the official form equals the content of this form.
    for host, name in ((server, "a"), (other, "b")):
        assert host.run("export", tmp_path / name, "--project", "lined").returncode == 0
    output = "firestore_export/all_namespaces/all_kinds/output-0"
    assert (tmp_path / "a" / output).read_bytes() == (tmp_path / "b" / output).read_bytes()


@pytest.mark.parametrize("edit, sentence", [
    (lambda lines: lines[:-1], "the end of the file is missing"),
    (lambda lines: lines[1:], "first line"),
    (lambda lines: [lines[0]] + lines[2:], "documents are there"),
    (lambda lines: lines + ["{}"], "there is text after"),
    (lambda lines: [lines[0], '{"path":"a"}'] + lines[2:], "line 2"),
    (lambda lines: [lines[0], '{"path":"a/b","fields":{"n":{"integerValue":"x"}}}'] + lines[2:],
     "integer_value"),
    (lambda lines: [lines[0], lines[1][:-3]] + lines[2:], "line 2 is not a JSON object"),
    (lambda lines: [lines[0], '{"path":"../../x/y/documents/b","fields":{}}'] + lines[2:],
     'The id ".." is reserved'),
])
def test_damaged_lines_are_refused(server, tmp_path, edit, sentence):
    client = server.client("cut")
    client.document("a/b").set({"n": 1})
    client.document("a/c").set({"n": 2})
    file = tmp_path / "cut.jsonl"
    assert server.run("export", file, "--project", "cut").returncode == 0
    file.write_text("\n".join(edit(file.read_text().splitlines())) + "\n")
    process = server.run("import", "firestore", file, "--project", "cut-2")
    assert process.returncode == 1 and sentence in process.stderr, process.stderr
    assert process.stderr.count("\n") == 1
    assert list(server.client("cut-2").collection("a").stream()) == []


def test_another_file_is_not_replaced_by_lines(server, tmp_path):
    (tmp_path / "mine.jsonl").write_text("mine\n")
    process = server.run("export", tmp_path / "mine.jsonl")
    assert process.returncode == 1 and "not replaced" in process.stderr
    assert contents(tmp_path) == {"mine.jsonl": b"mine\n"}
