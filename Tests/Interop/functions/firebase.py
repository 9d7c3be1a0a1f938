"""Does what firebase-tools 15.28 does around Firestore's emulator, from `emulators:start` to Ctrl-C,
and prints one line of JSON with what it saw. Its exchange with the emulator is the one that the
recording of the official tools and emulator has."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

settings = json.loads(sys.argv[1])
seen = {}

# Java is looked for first. Without version 21, nothing starts.
java = subprocess.run(
    ["java", "-Duser.language=en", "-Dfile.encoding=UTF-8", "-version"], capture_output=True,
    text=True)
found = re.search(r'version "([1-9][0-9]*)', java.stdout + java.stderr)
seen["java"] = [java.returncode, int(found.group(1)) if found else None]
jar = os.environ["FIRESTORE_EMULATOR_BINARY_PATH"]
os.chmod(jar, 0o755)

port, websocket_port = settings["port"], settings["websocket_port"]
flags = {
    "host": "127.0.0.1", "port": port, "websocket_port": websocket_port,
    "project_id": "demo-test", "database-edition": "standard", "rules": settings.get("rules"),
    "seed_from_export": settings.get("seed_from_export"),
    "functions_emulator": settings["functions_emulator"], "single_project_mode": "true"}
command = ["java", "-Dgoogle.cloud_firestore.debug_log_level=FINE", "-Duser.language=en", "-jar",
           jar]
for name, value in flags.items():
    if value is not None:
        command += [f"--{name}", str(value)]
log = open("firestore-debug.log", "w")
emulator = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
while True:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        break
    except OSError:
        assert emulator.poll() is None, open("firestore-debug.log").read()
        time.sleep(0.2)


def ask(method, path, body=None):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return [answer.status, json.loads(answer.read() or b"null")]
    except urllib.error.HTTPError as error:
        return [error.code, json.loads(error.read() or b"null")]


place = "/emulator/v1/projects/demo-test"
first = {"eventTrigger": {
    "eventType": "providers/cloud.firestore/eventTypes/document.create",
    "resource": "projects/demo-test/databases/(default)/documents/rooms/{room}",
    "service": "firestore.googleapis.com"}}
second = {"eventType": "google.cloud.firestore.document.v1.created", "database": "(default)",
          "namespace": "(default)",
          "document": {"value": "rooms/{room}", "matchType": "PATH_PATTERN"}}
seen["first"] = ask("PUT", f"{place}/triggers/us-central1-first-0", first)
seen["second"] = ask(
    "POST", f"{place}/eventarcTrigger?eventarcTriggerId=us-central1-second-0", second)
documents = "/v1/projects/demo-test/databases/(default)/documents"
seen["write"] = ask("PATCH", f"{documents}/rooms/blue", {"fields": {"n": {"integerValue": "1"}}})
if settings.get("new_rules"):
    seen["rules"] = ask("PUT", f"{place}:securityRules", {
        "ignore_errors": True,
        "rules": {"files": [{"name": "security.rules", "content": settings["new_rules"]}]}})
    seen["closed"] = ask("GET", f"{documents}/rooms/blue")[0]
if settings.get("read"):
    seen["read"] = ask("GET", f"{documents}/{settings['read']}")
if settings.get("export_directory"):
    os.makedirs(settings["export_directory"])
    seen["export"] = ask("POST", f"{place}:export", {
        "database": "projects/demo-test/databases/(default)",
        "export_directory": settings["export_directory"], "export_name": "firestore_export"})
seen["idle"] = ask("POST", "/tidemark/v1/triggers:idle?timeout=20")[0]
if settings.get("hold"):
    print(json.dumps(seen), flush=True)
    # Ctrl-C ends the emulator too, which is in a session of its own.
    settings["code"] = 130
    try:
        signal.pause()
    except KeyboardInterrupt:
        pass
emulator.send_signal(signal.SIGINT)
seen["ended"] = emulator.wait(timeout=20)
print(json.dumps(seen), flush=True)
sys.exit(settings.get("code", 0))
