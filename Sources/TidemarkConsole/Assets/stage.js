// Edits that wait: kept in the browser, shown as a difference, written together or not at all.
import { element, send } from "./dom.js";
import { shown } from "./values.js";

const prefix = "tidemark-staged:";
/** Writes of one batch; the server takes no more. */
export const maxStaged = 500;

export function staged(key) { return JSON.parse(localStorage.getItem(prefix + key) ?? "[]"); }

function keep(key, edits) {
  if (edits.length) localStorage.setItem(prefix + key, JSON.stringify(edits));
  else localStorage.removeItem(prefix + key);
  draw();
}

/** Adds an edit, in the place of one of the same document. `fields` is JSON text, undefined to delete. */
export function stage(key, edit) {
  const edits = staged(key).filter((other) => other.path !== edit.path);
  if (edits.length >= maxStaged) throw new Error(`At most ${maxStaged} edits can be staged.`);
  keep(key, [...edits, edit]);
}

/** The body of a batch. Texts of fields go as they are. */
export function batch(edits) {
  const writes = edits.map((edit) => {
    const parts = [`"path":${JSON.stringify(edit.path)}`];
    if (edit.update) parts.push(`"update":${JSON.stringify(edit.update)}`);
    if (edit.fields !== undefined) parts.push(`"fields":${edit.fields}`);
    return `{${parts.join(",")}}`;
  });
  return `{"writes":[${writes.join(",")}]}`;
}

const bar = element("div", { id: "staged", role: "region", "aria-label": "Staged edits", hidden: true });
document.body.append(bar);

function keys() {
  return Object.keys(localStorage).filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
}

function draw() {
  const all = keys();
  bar.hidden = all.length === 0;
  bar.replaceChildren(...all.map((key) => {
    const count = staged(key).length;
    return element("button", { type: "button", click: () => review(key) },
      `Review ${count === 1 ? "1 staged edit" : `${count} staged edits`}`);
  }));
}

/** Rows of what a document's fields were and are. */
function differences(edit) {
  const before = JSON.parse(edit.before ?? "{}"), after = JSON.parse(edit.fields ?? "{}");
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.map((name) => [name, before[name] && shown(before[name]), after[name] && shown(after[name])])
    .filter(([, old, now]) => old !== now);
}

function cell(text, name) {
  return element("td", { class: `value ${name}` }, element("bdi", {}, text ?? "–"));
}

function review(key) {
  const output = element("output", { "aria-live": "polite" });
  const list = element("div", {});
  const fill = () => list.replaceChildren(...staged(key).map((edit) => element("section", { "aria-label": edit.path },
    element("h3", {}, element("bdi", {}, edit.path), edit.fields === undefined ? " is deleted" : edit.update ? " is changed" : " is created"),
    element("table", { class: "fields difference" }, element("tbody", {}, ...differences(edit).slice(0, 50).map(
      ([name, old, now]) => element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, name)), cell(old, "before"), cell(now, "after"))))),
    element("button", { type: "button", class: "plain", "aria-label": `Discard the edit of ${edit.path}`, click: () => {
      keep(key, staged(key).filter((other) => other.path !== edit.path));
      if (staged(key).length) fill(); else dialog.close();
    } }, "Discard"))));
  const write = element("button", { type: "button", click: async () => {
    const answer = await send("POST", `/batch${key}`, batch(staged(key)), output);
    if (!answer) return;
    keep(key, []);
    location.reload();
  } }, "Write all");
  const dialog = element("dialog", { "aria-label": "Staged edits" },
    element("h2", {}, "Staged edits"), list,
    element("p", {}, write, element("button", { type: "button", class: "plain", click: () => dialog.close() }, "Close"), output));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  fill();
  dialog.showModal();
}

draw();
addEventListener("storage", draw);
