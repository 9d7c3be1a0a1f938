// The marks of a user's feeds for a web client: see Documentation/Marks.md. The module needs
// Firebase's modular API, which the page passes in, and nothing else:
//
//   import * as firestore from "firebase/firestore";
//   import { Marks } from "./marks.js";
//   const marks = new Marks(firestore, db, "users/ann/state/marks", "chat_blue");
//   await marks.clear(Date.now());

const LARGEST = 1e14;

/** Returns the mark that a field holds, in milliseconds since 1970; null for none. */
export function readMark(value) {
  let milliseconds = null;
  if (typeof value === "number") {
    milliseconds = value;
  } else if (typeof value === "string" && /^[+-]?\d+$/.test(value)) {
    // A text has whole milliseconds and covers all of their fractions.
    milliseconds = Number(value) + 0.999;
  } else if (typeof value === "string" && value.trim() !== "") {
    milliseconds = Number(value);
  }
  if (milliseconds === null || !Number.isFinite(milliseconds)) return null;
  return Math.abs(milliseconds) < LARGEST ? milliseconds : null;
}

/**
 * Returns the value of the field after a write. A mark keeps the form in which it was found, and
 * only rises.
 *
 * @param found the present value; undefined for none
 * @param mark milliseconds since 1970
 * @param encoding "number" or "string": the form of the first mark
 */
export function raisedMark(found, mark, encoding = "number") {
  const isNumber = typeof found === "number";
  const isText = typeof found === "string" || (!isNumber && encoding === "string");
  const old = readMark(found);
  if (isText) return String(Math.floor(old === null ? mark : Math.max(old, mark)));
  return isNumber && old !== null ? Math.max(old, mark) : mark;
}

/** Returns the time above which items are shown: the later of two marks; null for no filter. */
export function floorOf(action, consumption) {
  const usable = [action, consumption].filter((mark) => mark !== null && mark >= 0);
  return usable.length ? Math.max(...usable) : null;
}

/** The clear mark of one context of a user. */
export class Marks {
  /**
   * @param api Firebase's modular API: doc, onSnapshot, runTransaction, query, where, Timestamp
   * @param db the database
   * @param path the path of the user's document
   * @param field the name of the field of the context
   * @param options encoding: "number" or "string"; onClear: fields that a clear also sets
   */
  constructor(api, db, path, field = "fetch_message_after", options = {}) {
    Object.assign(this, { api, db, field, encoding: options.encoding ?? "number" });
    this.onClear = options.onClear ?? {};
    this.document = api.doc(db, path);
  }

  /**
   * Clears the context up to a time, for good and on all devices of the user. The web's API cannot
   * raise a number on the server, so this is a transaction: it needs the network. Returns the mark
   * that the document has then.
   */
  async clear(milliseconds) {
    if (!(milliseconds >= 0 && milliseconds < LARGEST)) {
      throw new RangeError(`${milliseconds} is no time in milliseconds since 1970.`);
    }
    return this.api.runTransaction(this.db, async (transaction) => {
      const snapshot = await transaction.get(this.document);
      const found = snapshot.exists() ? snapshot.data()[this.field] : undefined;
      const value = raisedMark(found, milliseconds, this.encoding);
      transaction.set(this.document, { ...this.onClear, [this.field]: value }, { merge: true });
      return readMark(value);
    });
  }

  /** Calls back with the mark now and after each change, null for none. Returns how to stop. */
  watch(callback, failed) {
    return this.api.onSnapshot(this.document, (snapshot) => {
      callback(readMark(snapshot.exists() ? snapshot.data()[this.field] : undefined));
    }, failed);
  }

  /** Returns the query for the items above a mark; the query itself for no mark. */
  above(query, itemTime, mark) {
    if (mark === null || mark < 0) return query;
    const micros = Math.round(mark * 1000);
    const time = new this.api.Timestamp(
      Math.floor(micros / 1e6), (micros - Math.floor(micros / 1e6) * 1e6) * 1000);
    return this.api.query(query, this.api.where(itemTime, ">", time));
  }
}
