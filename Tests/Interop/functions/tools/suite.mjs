// The script that `firebase emulators:exec` runs: write, or read after an import. It asks the server
// by REST, with the addresses that the tools put into the environment.
import assert from "node:assert/strict";

const host = process.env.FIRESTORE_EMULATOR_HOST;
const project = process.env.GCLOUD_PROJECT;
assert(host && project, "firebase-tools sets FIRESTORE_EMULATOR_HOST and GCLOUD_PROJECT");

async function call(method, path, { database = "(default)", body, owner = true } = {}) {
  const answer = await fetch(
    `http://${host}/v1/projects/${project}/databases/${database}/documents/${path}`, {
      method, body: body && JSON.stringify(body),
      headers: owner ? { authorization: "Bearer owner" } : {},
    });
  return { status: answer.status, fields: (await answer.json()).fields };
}

async function idle() {
  const answer = await fetch(`http://${host}/tidemark/v1/triggers:idle?timeout=60`, { method: "POST" });
  assert.equal(answer.status, 200, "all events are delivered within a minute");
}

const seats = (n) => ({ body: { fields: { seats: { integerValue: String(n) } } } });

if (process.argv[2] === "write") {
  assert.equal((await call("PATCH", "rooms/blue", { ...seats(4), owner: false })).status, 200);
  await idle();
  assert.deepEqual((await call("GET", "first/blue")).fields, { seats: { integerValue: "4" } });
  assert.deepEqual((await call("GET", "second/blue")).fields,
    { before: { nullValue: null }, after: { integerValue: "4" } });
  await call("PATCH", "rooms/blue", seats(5));
  await idle();
  assert.deepEqual((await call("GET", "second/blue")).fields,
    { before: { integerValue: "4" }, after: { integerValue: "5" } });
  const refused = await call("PATCH", "rooms/blue", { ...seats(1), database: "closed", owner: false });
  assert.equal(refused.status, 403, "each database has its own rules");
} else {
  assert.deepEqual((await call("GET", "rooms/blue")).fields, { seats: { integerValue: "5" } });
  await idle();
  assert.deepEqual((await call("GET", "second/blue")).fields.after, { integerValue: "5" },
    "an import is no event");
}
console.log(`${process.argv[2]}: all facts hold`);
