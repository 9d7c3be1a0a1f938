// A document as typed fields and as JSON, both ways. Saved at once, or staged with other edits.
import { element, send } from "./dom.js";
import { json, jsonOf, kindOf, kinds, pretty, textOf } from "./values.js";
import { stage } from "./stage.js";

let number = 0;

/** One field: its name, its kind, its value or its parts. `name` is undefined in a list. */
class Field {
  constructor(name, value, root, remove) {
    this.root = root;
    this.parts = [];
    const id = `field${number += 1}`;
    const spoken = name ?? "element";
    this.name = name === undefined ? undefined : element("input",
      { type: "text", "aria-label": `Name of ${spoken || "the new field"}`, class: "name", spellcheck: "false" });
    if (this.name) this.name.value = name;
    this.kind = element("select", { "aria-label": `Type of ${spoken || "the new field"}` },
      ...kinds.map((kind) => element("option", { value: kind }, kind)));
    this.text = element("textarea",
      { id, rows: 1, "aria-label": `Value of ${spoken || "the new field"}`, spellcheck: "false" });
    this.list = element("ul", {});
    this.add = element("button", { type: "button", class: "plain", click: () => this.addPart() }, "Add");
    this.box = element("div", { class: "parts" }, this.list, this.add);
    this.row = element("li", {}, element("div", { class: "field" },
      ...(this.name ? [this.name] : []), this.kind, this.text,
      element("button", { type: "button", class: "plain", "aria-label": `Remove ${spoken}`, click: remove }, "×")),
      this.box);
    this.kind.addEventListener("change", () => this.show());
    this.set(value);
  }

  set(value) {
    const kind = kindOf(value);
    this.kind.value = kind;
    if (kind === "array") for (const part of value.arrayValue.values ?? []) this.addPart(undefined, part);
    else if (kind === "map") for (const [k, v] of Object.entries(value.mapValue.fields ?? {})) this.addPart(k, v);
    else this.text.value = textOf(value);
    this.show();
  }

  show() {
    const kind = this.kind.value, hasParts = kind === "array" || kind === "map";
    this.box.hidden = !hasParts;
    this.text.hidden = hasParts || kind === "null";
    this.add.textContent = kind === "map" ? "Add a field" : "Add an element";
    this.add.setAttribute("aria-label", `${this.add.textContent} to ${this.name?.value || "this element"}`);
    this.text.rows = Math.min(8, this.text.value.split("\n").length);
    if (!hasParts) return;
    const wantsNames = kind === "map";
    for (const part of this.parts) if (Boolean(part.name) !== wantsNames) { this.parts = []; this.list.replaceChildren(); break; }
  }

  addPart(name = this.kind.value === "map" ? "" : undefined, value = { stringValue: "" }) {
    const part = new Field(name, value, this.root, () => {
      this.parts = this.parts.filter((other) => other !== part);
      part.row.remove();
    });
    this.parts.push(part);
    this.list.append(part.row);
  }

  /** JSON text. Throws a sentence that names the field. */
  json() {
    const kind = this.kind.value;
    if (kind === "array") return `{"arrayValue":{"values":[${this.parts.map((p) => p.json()).join(",")}]}}`;
    if (kind === "map") return `{"mapValue":{"fields":${members(this.parts)}}}`;
    try { return jsonOf(kind, this.text.value, this.root); } catch (error) {
      this.text.focus();
      throw error;
    }
  }
}

function members(fields) {
  const seen = new Set();
  return `{${fields.map((field) => {
    const name = field.name.value;
    if (!name) { field.name.focus(); throw new Error("A field has no name."); }
    if (seen.has(name)) throw new Error(`Two fields are named ${name}.`);
    seen.add(name);
    return `${JSON.stringify(name)}:${field.json()}`;
  }).join(",")}}`;
}

/** Typed fields in the place of a textarea's JSON. */
export function fieldsEditor(area, root) {
  let fields = [];
  const list = element("ul", { class: "fieldlist" });
  const add = (name = "", value = { stringValue: "" }) => {
    const field = new Field(name, value, root, () => {
      fields = fields.filter((other) => other !== field);
      field.row.remove();
    });
    fields.push(field);
    list.append(field.row);
    return field;
  };
  const box = element("fieldset", {}, element("legend", {}, "Fields"), list, element("button",
    { type: "button", class: "plain", click: () => add().name.focus() }, "Add a field"));
  return {
    box,
    read() {
      const parsed = JSON.parse(area.value);
      fields = [];
      list.replaceChildren();
      for (const [name, value] of Object.entries(parsed.fields ?? {})) add(name, value);
    },
    json() { return `{"fields":${members(fields)}}`; },
  };
}

const form = document.querySelector("[data-part=editor]");
if (form) {
  const area = form.querySelector("textarea"), label = form.querySelector("label");
  const output = form.querySelector("output");
  const { path, update, key } = form.dataset;
  const [project, database] = key.split("/").filter(Boolean).map(decodeURIComponent);
  const root = `projects/${project}/databases/${database}`;
  const before = area.value;
  const editor = fieldsEditor(area, root);
  let isJSON = false;
  const toggles = ["Fields", "JSON"].map((name) => element("button", {
    type: "button", class: "plain", "aria-pressed": String(name === "Fields"), click: () => show(name === "JSON"),
  }, name));
  const show = (wantsJSON) => {
    try {
      if (wantsJSON && !isJSON) area.value = pretty(JSON.parse(editor.json()));
      if (!wantsJSON) editor.read();
      output.textContent = "";
    } catch (error) { output.textContent = error.message; return; }
    isJSON = wantsJSON;
    editor.box.hidden = isJSON;
    area.hidden = label.hidden = !isJSON;
    toggles.forEach((button, index) => button.setAttribute("aria-pressed", String((index === 1) === isJSON)));
  };
  label.before(element("p", { class: "toggles", role: "group", "aria-label": "Edit as" }, ...toggles), editor.box);
  show(false);
  const body = () => (isJSON ? area.value : editor.json());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    let text;
    try { text = body(); } catch (error) { output.textContent = error.message; return; }
    const address = `/data${key}/${path.split("/").map(encodeURIComponent).join("/")}`
      + (update ? `?update=${encodeURIComponent(update)}` : "");
    if (await send("PUT", address, text, output)) location.reload();
  });
  const stageButton = form.querySelector("[data-part=stage]");
  stageButton.hidden = false;
  stageButton.addEventListener("click", () => {
    try {
      const fields = JSON.parse(body()).fields ?? {};
      stage(key, { path, update: update || undefined, fields: json(fields), before: json(JSON.parse(before).fields ?? {}) });
      output.textContent = "Staged. Write it together with the other staged edits.";
    } catch (error) { output.textContent = error.message; }
  });
}
