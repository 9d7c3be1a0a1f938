// What is done to documents and collections: create, paste, drop, copy, rename, delete.
import { ask, escapePath, fetchJSON, say, send } from "./dom.js";
import { json } from "./values.js";
import { batch, maxStaged, stage } from "./stage.js";

const tools = document.querySelector("[data-part=tools]");
if (tools) {
  tools.hidden = false;
  const output = tools.querySelector("output"), { path, key } = tools.dataset;
  const here = path ? `${key}/${escapePath(path)}` : key;
  const parent = path.split("/").slice(0, -1).join("/");

  const open = (target) => { location.href = `/data${key}/${escapePath(target)}`; };

  const copy = async (move) => {
    const update = document.querySelector("[data-part=editor]")?.dataset.update;
    const to = await ask(move ? "Rename the document" : "Copy the document", {
      label: "New path", value: move ? path : `${path}-copy`, action: move ? "Rename" : "Copy",
    });
    if (!to || to === path) return;
    const answer = await send("POST", `/copy${here}`, JSON.stringify({ to, update, move }), output);
    if (answer) open(to);
  };

  const erase = async () => {
    const update = document.querySelector("[data-part=editor]")?.dataset.update;
    if (!await ask(`Delete ${path}?`, { action: "Delete", danger: true })) return;
    if (await send("DELETE", `/data${here}?update=${encodeURIComponent(update)}`, undefined, output)) open(parent);
  };

  const eraseBelow = async () => {
    try {
      const { documents } = await fetchJSON(`/below${here}`);
      if (!await ask(`Delete ${documents} ${documents === 1 ? "document" : "documents"}: ${path} and all subcollections?`,
        { action: `Delete ${documents}`, danger: true })) return;
      if (await send("DELETE", `/below${here}?count=${documents}`, undefined, output)) open(parent);
    } catch (error) { output.textContent = error.message; }
  };

  const create = async () => {
    const id = await ask("A new document", { label: path ? "Document id" : "Path, as in rooms/blue", action: "Continue" });
    if (id) open(path ? `${path}/${id}` : id);
  };

  /** Reads a text, and stages what it holds; more than can be staged is written in batches, if wanted. */
  const take = async (text) => {
    const collection = path && path.split("/").length % 2 ? path
      : await ask("Into which collection?", { label: "Collection" });
    if (!collection) return;
    const read = await send("POST", `/import${key}`, JSON.stringify({ text }), output);
    if (!read) return;
    const edits = read.documents.map((one) => ({ path: `${collection}/${one.id}`, fields: json(one.fields ?? {}) }));
    if (edits.length <= maxStaged) {
      try { for (const edit of edits) stage(key, edit); } catch (error) { output.textContent = error.message; return; }
      output.textContent = edits.length === 1 ? "1 document is staged." : `${edits.length} documents are staged.`;
      return;
    }
    const parts = Math.ceil(edits.length / maxStaged);
    if (!await ask(`Write ${edits.length} documents in ${parts} batches?`, { action: "Write" })) return;
    for (let part = 0; part < parts; part += 1) {
      const some = edits.slice(part * maxStaged, (part + 1) * maxStaged);
      if (!await send("POST", `/batch${key}`, batch(some), output)) {
        output.textContent += ` ${part * maxStaged} documents were written before that.`;
        return;
      }
    }
    output.textContent = `${edits.length} documents were written.`;
  };

  const paste = async () => {
    const text = await ask("Paste documents", { label: "JSON, JSON lines or CSV", action: "Read", area: true });
    if (text) await take(text);
  };

  const actions = { create, paste, copy: () => copy(false), rename: () => copy(true), delete: erase, "delete-below": eraseBelow };
  tools.addEventListener("click", (event) => actions[event.target.dataset.update]?.());
  if (tools.querySelector("[data-update=paste]")) {
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", async (event) => {
      event.preventDefault();
      const file = event.dataTransfer.files[0];
      if (file && file.size > 4_000_000) { say("A file can have at most 4 MB. Split the file."); return; }
      const text = file ? await file.text() : event.dataTransfer.getData("text");
      if (text) await take(text);
    });
  }
}
