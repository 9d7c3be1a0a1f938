// The table of a collection, however large: only what is seen is there. Rows come in pages by cursor, and
// a page far away by its distance from the nearest cursor that is known.
import { element, escapePath, fetchJSON, say } from "./dom.js";
import { json, jsonOf, kindOf, shown, textOf } from "./values.js";
import { stage } from "./stage.js";

const pageSize = 100, rowHeight = 30, maxPages = 40;
// Browsers draw no element higher than some millions of pixels: a larger table is scrolled in proportion.
const maxHeight = 8_000_000;

class Grid {
  constructor(section) {
    this.section = section;
    this.source = section.dataset.source;
    // The page has this fetched beside the modules: it is asked for as it is written there.
    this.first = section.dataset.first;
    this.address = section.dataset.path;
    this.isLive = section.dataset.key === "live";
    this.columns = [...section.querySelectorAll("thead th")].slice(1).map((th) => th.textContent).filter((n) => n !== "…");
    this.total = section.querySelectorAll("tbody tr").length;
    this.pages = new Map();
    this.cursors = new Map([[0, undefined]]);
    this.pending = new Map();
    this.top = 0;
    this.pauseUntil = 0;
    this.active = { row: 0, column: 0 };
    this.build();
  }

  build() {
    this.head = element("thead", {}, element("tr", { role: "row" },
      ...["Document", ...this.columns].map((name) => element("th", { scope: "col", role: "columnheader" }, element("bdi", {}, name)))));
    this.body = element("tbody", {});
    this.table = element("table", { role: "grid", class: "gridtable", "aria-label": "Documents" }, this.head, this.body);
    this.layer = element("div", { class: "layer" }, this.table);
    this.layer.style.minWidth = `${(this.columns.length + 1) * 11}rem`;
    this.sizer = element("div", { class: "sizer" });
    this.view = element("div", { class: "gridview", tabindex: "0", role: "region", "aria-label": "Documents" }, this.layer, this.sizer);
    this.count = element("p", { class: "count", "aria-live": "polite" });
    this.form = element("form", { class: "query" }, element("label", { for: "goto" }, "Go to row"),
      element("input", { id: "goto", type: "number", min: 1, value: 1 }), element("button", { type: "submit" }, "Go"), this.count);
    this.rows = [];
    this.view.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.view.addEventListener("keydown", (event) => this.key(event));
    this.view.addEventListener("dblclick", (event) => {
      const cell = event.target.closest("td");
      if (cell) { this.place(cell); this.edit(); }
    });
    this.view.addEventListener("click", (event) => {
      const cell = event.target.closest("td, th[scope=row]");
      if (cell && !event.target.closest("a, input")) { this.place(cell); this.draw(); }
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.goTo(Number(this.form.querySelector("input").value) - 1);
      this.view.focus();
    });
  }

  async start() {
    const first = await this.page(0);
    if (!first) return;
    if (!first.rows.length) { addEventListener("tidemark-data", () => location.reload()); return; }
    this.section.replaceChildren(this.form, this.view);
    performance.mark("grid-first-rows");
    this.resize();
    new ResizeObserver(() => { this.resize(); }).observe(this.view);
    this.recount();
  }

  async recount() {
    try {
      const { documents } = await fetchJSON(this.source.replace("/rows/", "/count/"));
      this.total = Math.max(documents, this.known());
      this.resize();
    } catch (error) { say(error.message); }
  }

  /** Rows that are known to be there. */
  known() {
    let most = 0;
    for (const [number, page] of this.pages) most = Math.max(most, number * pageSize + page.rows.length);
    return most;
  }

  // Pages

  async page(number) {
    const known = this.pages.get(number);
    if (known) return known;
    if (this.pending.has(number)) return this.pending.get(number);
    const request = this.fetchPage(number).catch((error) => {
      this.pauseUntil = performance.now() + 2_000;
      say(error.message);
    });
    this.pending.set(number, request);
    const page = await request;
    this.pending.delete(number);
    return page;
  }

  async fetchPage(number) {
    const page = await fetchJSON(number ? this.addressOf(number) : this.first);
    this.pages.set(number, page);
    const last = page.rows.at(-1);
    if (last) this.cursors.set(number + 1, last.id);
    const end = number * pageSize + page.rows.length, total = this.total;
    if (!page.more) this.total = end;
    else if (this.total <= end) this.total = end + 1;
    if (this.total !== total && this.view.isConnected) this.resize();
    while (this.pages.size > maxPages) {
      const here = this.top / pageSize;
      this.pages.delete([...this.pages.keys()].reduce((a, b) => (Math.abs(a - here) > Math.abs(b - here) ? a : b)));
    }
    return page;
  }

  addressOf(number) {
    let from = number;
    while (!this.cursors.has(from)) from -= 1;
    const url = new URL(this.first, location.href);
    const after = this.cursors.get(from);
    if (after !== undefined) url.searchParams.set("after", after);
    if (number > from) url.searchParams.set("skip", (number - from) * pageSize);
    return url;
  }

  row(index) { return this.pages.get(Math.floor(index / pageSize))?.rows[index % pageSize]; }

  // Where one is

  get visible() { return Math.max(1, Math.floor((this.view.clientHeight - this.head.offsetHeight) / rowHeight)); }
  get last() { return Math.max(0, this.total - this.visible); }

  resize() {
    const height = Math.min(this.total * rowHeight, maxHeight) + this.head.offsetHeight;
    this.sizer.style.height = `${Math.max(0, height - this.view.clientHeight)}px`;
    this.count.textContent = `${this.total.toLocaleString("en").replaceAll(",", " ")} documents`;
    this.table.setAttribute("aria-rowcount", this.total + 1);
    this.draw();
  }

  scrolled() {
    const now = this.view.scrollTop, moved = now - (this.scrollTop ?? 0);
    this.scrollTop = now;
    const most = this.view.scrollHeight - this.view.clientHeight;
    const isScaled = this.total * rowHeight > maxHeight;
    if (!isScaled) this.top = now / rowHeight;
    else if (now <= 0) this.top = 0;
    else if (now >= most - 1) this.top = this.last;
    else if (Math.abs(moved) < 2 * this.view.clientHeight && !this.isJump) this.top += moved / rowHeight;
    else if (!this.isJump) this.top = (now / most) * this.last;
    this.isJump = false;
    this.top = Math.min(Math.max(0, this.top), this.last + 1);
    this.schedule();
  }

  goTo(index) {
    const row = Math.min(Math.max(0, index), this.total - 1);
    this.active = { row, column: this.active.column };
    this.top = Math.min(row, this.last);
    const most = this.view.scrollHeight - this.view.clientHeight;
    const isScaled = this.total * rowHeight > maxHeight;
    this.isJump = isScaled;
    this.view.scrollTop = isScaled ? (this.last ? (this.top / this.last) * most : 0) : this.top * rowHeight;
    if (isScaled && this.view.scrollTop === this.scrollTop) this.isJump = false;
    this.schedule();
  }

  schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => { this.isScheduled = false; this.draw(); });
  }

  // Drawing: the same few rows are filled anew.

  draw() {
    const first = Math.floor(this.top), count = Math.min(this.visible + 2, Math.max(0, this.total - first));
    while (this.rows.length < count) this.rows.push(this.newRow());
    this.rows.forEach((row, index) => this.fill(row, first + index, index < count));
    this.body.style.transform = `translateY(${-(this.top - first) * rowHeight}px)`;
    const pages = [Math.floor(first / pageSize), Math.floor((first + count) / pageSize)];
    const missing = [...new Set(pages)].filter((page) => !this.pages.has(page) && page * pageSize < this.total);
    if (missing.length) {
      // Of pages that one scrolls past, only the last are asked for; after a failure not at once.
      clearTimeout(this.wait);
      const pause = Math.max(this.pending.size ? 60 : 0, this.pauseUntil - performance.now());
      this.wait = setTimeout(async () => {
        for (const page of missing) await this.page(page);
        this.schedule();
      }, pause);
    }
    const near = pages[1] + 1;
    const isNear = first % pageSize > pageSize / 2 && this.pages.has(pages[1]);
    if (isNear && !this.pages.has(near) && near * pageSize < this.total && performance.now() > this.pauseUntil) this.page(near);
    this.table.setAttribute("aria-activedescendant", "active-cell");
  }

  newRow() {
    const link = element("a", {});
    const small = element("small", {});
    const cells = this.columns.map(() => element("td", { role: "gridcell" }, element("bdi", {})));
    const row = element("tr", { role: "row" }, element("th", { scope: "row", role: "rowheader" }, link, small), ...cells);
    this.body.append(row);
    return { row, link, small, cells };
  }

  fill(made, index, isShown) {
    const { row, link, small, cells } = made;
    row.hidden = !isShown;
    if (!isShown) return;
    const data = this.row(index);
    made.index = index;
    row.setAttribute("aria-rowindex", index + 2);
    const isActive = index === this.active.row;
    if (made.data !== data || made.shownIndex !== index) {
      made.data = data;
      made.shownIndex = index;
      link.textContent = data ? data.id : "…";
      if (data) link.href = this.documentAddress(data.id); else link.removeAttribute("href");
      link.tabIndex = -1;
      small.textContent = data && !data.update ? " missing, has subcollections" : "";
      cells.forEach((cell, column) => this.fillCell(cell, data?.cells[column]));
    }
    row.classList.toggle("active", isActive);
    [link.parentElement, ...cells].forEach((cell, column) => {
      if (isActive && column === this.active.column) cell.id = "active-cell"; else cell.removeAttribute("id");
    });
  }

  fillCell(cell, value) {
    const text = cell.firstChild;
    if (cell.querySelector("textarea")) cell.replaceChildren(text ?? element("bdi", {}));
    const kind = value ? value.kind ?? kindOf(value) : "absent";
    cell.className = `value ${kind.replace(" ", "-")}`;
    cell.title = kind;
    cell.firstChild.textContent = value ? value.cut ?? shown(value) : "–";
  }

  documentAddress(id) {
    const [path, query] = this.address.split("?");
    return `${path}/${encodeURIComponent(id)}${query ? `?${query}` : ""}`;
  }

  // Keys and edits

  place(cell) {
    const made = this.rows.find(({ row }) => row.contains(cell));
    this.active = { row: made.index, column: [...made.row.children].indexOf(cell) };
  }

  key(event) {
    if (event.target.matches("textarea, input")) return;
    const { row, column } = this.active, page = this.visible - 1;
    const move = { ArrowDown: row + 1, ArrowUp: row - 1, PageDown: row + page, PageUp: row - page };
    if (event.key in move) this.show(move[event.key], column);
    else if (event.key === "ArrowRight") this.show(row, Math.min(this.columns.length, column + 1));
    else if (event.key === "ArrowLeft") this.show(row, Math.max(0, column - 1));
    else if (event.key === "Home") this.show(0, column);
    else if (event.key === "End") this.show(this.total - 1, column);
    else if (event.key === "F2") this.edit();
    else if (event.key === "Enter") {
      if (column > 0) this.edit();
      else if (this.row(row)) location.href = this.documentAddress(this.row(row).id);
    } else return;
    event.preventDefault();
  }

  show(row, column) {
    this.active = { row: Math.min(Math.max(0, row), this.total - 1), column };
    const index = this.active.row;
    if (index < this.top) this.goTo(index);
    else if (index >= this.top + this.visible) {
      this.goTo(index - this.visible + 1);
    }
    this.active = { row: index, column };
    this.draw();
  }

  /** Edits the active cell where it stands; the edit is staged. */
  edit() {
    const data = this.row(this.active.row), name = this.columns[this.active.column - 1];
    if (!this.isLive || !data?.update || name === undefined) return;
    const value = data.cells[this.active.column - 1] ?? { stringValue: "" };
    if (value.cut || ["array", "map"].includes(kindOf(value))) {
      location.href = this.documentAddress(data.id);
      return;
    }
    const cell = document.getElementById("active-cell");
    const field = element("textarea", { rows: 1, "aria-label": `${name} of ${data.id}`, spellcheck: "false" });
    field.value = textOf(value);
    cell.replaceChildren(field);
    field.focus();
    field.select();
    const end = () => { cell.replaceChildren(element("bdi", {})); this.rows.forEach((made) => { made.data = undefined; }); this.draw(); this.view.focus(); };
    field.addEventListener("keydown", async (event) => {
      if (event.key === "Escape") end();
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      try {
        await this.stageCell(data, name, kindOf(value), field.value);
        end();
      } catch (error) { say(error.message); }
    });
  }

  async stageCell(data, name, kind, text) {
    const [path] = this.address.split("?");
    const whole = await fetchJSON(`${path.replace("/data/", "/data.json/")}/${encodeURIComponent(data.id)}`);
    if (whole.updateTime !== data.update) throw new Error("The document has changed since you opened it.");
    const { project, database } = whole.place;
    const value = JSON.parse(jsonOf(kind, text, `projects/${project}/databases/${database}`));
    const fields = whole.fields ?? {};
    stage(`/${escapePath(`${project}/${database}`)}`, {
      path: whole.place.path, update: data.update, before: json(fields), fields: json({ ...fields, [name]: value }),
    });
    data.cells[this.columns.indexOf(name)] = value;
    say("Staged. Write it together with the other staged edits.");
  }

  /** Fetches again what is seen: documents have changed. */
  async refresh() {
    if (!this.isLive || !this.view.isConnected || this.view.querySelector("textarea")) return;
    const pages = new Set([Math.floor(this.top / pageSize), Math.floor((this.top + this.visible + 1) / pageSize)]);
    const cursors = new Map([[0, undefined]]);
    for (const page of pages) if (this.cursors.has(page)) cursors.set(page, this.cursors.get(page));
    this.cursors = cursors;
    const old = this.pages;
    this.pages = new Map([...old].filter(([number]) => pages.has(number)));
    await Promise.all([...pages].filter((page) => page * pageSize < this.total)
      .map((page) => this.fetchPage(page).catch((error) => say(error.message))));
    await this.recount();
    // Nothing was here when the columns were chosen.
    if (!this.columns.length && this.total) location.reload();
  }
}

const section = document.querySelector("[data-part=grid]");
if (section) {
  const grid = new Grid(section);
  grid.start();
  addEventListener("tidemark-data", () => grid.refresh());
}
