"""Runs the commands of Documentation/WebAndCurl.md and SecurityRules.md, exactly as written."""

import json
import re
import subprocess

import requests

from conftest import ROOT, Server

PAGE = ROOT / "Documentation/WebAndCurl.md"


def objects(text):
    """Returns the JSON documents in a text, one after the other."""
    decoder, index = json.JSONDecoder(), 0
    while text[index:].strip():
        index += len(text[index:]) - len(text[index:].lstrip())
        value, index = decoder.raw_decode(text, index)
        yield value


def test_the_commands_of_the_page(server):
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.S)
    answers = []
    for block in blocks:
        block = block.replace("127.0.0.1:8080", server.host)
        block = block.replace("127.0.0.1:4000", f"127.0.0.1:{server.control_port}")
        done = subprocess.run(["bash", "-euc", block], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        answers.append(list(objects(done.stdout)))
        assert "error" not in done.stdout, done.stdout
    made, changed, rows, count, commit, cleared, hub = answers
    assert made[0]["fields"]["seats"] == {"integerValue": "4"}
    assert changed[0] == changed[1]
    assert changed[1]["fields"] == {"title": {"stringValue": "Blue"},
                                    "seats": {"integerValue": "5"}}
    assert [row["document"]["name"] for row in rows[0]] == [made[0]["name"]]
    assert count[0][0]["result"]["aggregateFields"]["rooms"] == {"integerValue": "1"}
    assert commit[0]["writeResults"][0]["transformResults"] == [{"integerValue": "2"}]
    assert cleared == [{}]
    assert hub[0]["firestore"]["port"] == server.port


def test_the_token_of_the_page_about_rules(tmp_path):
    text = (ROOT / "Documentation/SecurityRules.md").read_text()
    (block,) = [each for each in re.findall(r"```sh\n(.*?)```", text, re.S) if "signUp" in each]
    rules = tmp_path / "firestore.rules"
    rules.write_text("""rules_version = '2';
        service cloud.firestore { match /databases/{d}/documents { match /rooms/{room} {
          allow read: if request.auth.token.email == 'ann@example.com'; } } }""")
    server = Server(tmp_path / "data", 0, "--rules", rules)
    room = f"http://{server.host}/v1/projects/demo/databases/(default)/documents/rooms/blue"
    requests.patch(room, json={"fields": {"seats": {"integerValue": 4}}}, timeout=30,
                   headers={"authorization": "Bearer owner"}).raise_for_status()
    assert requests.get(room, timeout=30).status_code == 403
    block = block.replace("127.0.0.1:8080", server.host)
    block = block.replace("127.0.0.1:9099", f"127.0.0.1:{server.accounts_port}")
    done = subprocess.run(["bash", "-euc", block], capture_output=True, text=True, timeout=30)
    server.stop()
    assert json.loads(done.stdout)["fields"] == {"seats": {"integerValue": "4"}}, done.stderr
