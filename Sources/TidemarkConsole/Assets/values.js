// Values in Firestore's REST form, as text that people edit, without loss: integers and nanoseconds are
// texts all the way, and a double is written as it was typed.

export const kinds = ["string", "integer", "double", "boolean", "null", "timestamp", "bytes",
  "reference", "geo point", "array", "map", "vector"];

const names = {
  stringValue: "string", integerValue: "integer", doubleValue: "double", booleanValue: "boolean",
  nullValue: "null", timestampValue: "timestamp", bytesValue: "bytes", referenceValue: "reference",
  geoPointValue: "geo point", arrayValue: "array", mapValue: "map",
};

function vectorOf(map) {
  const fields = map.fields ?? {};
  return fields.__type__?.stringValue === "__vector__" ? fields.value?.arrayValue?.values ?? [] : undefined;
}

export function kindOf(value) {
  const key = Object.keys(value)[0];
  return key === "mapValue" && vectorOf(value.mapValue) ? "vector" : names[key];
}

function numberText(number) { return Object.is(number, -0) ? "-0.0" : String(number); }

/** The text of a value without parts, as it is edited. */
export function textOf(value) {
  switch (kindOf(value)) {
    case "null": return "null";
    case "boolean": return String(value.booleanValue);
    case "integer": return String(value.integerValue);
    case "double": return numberText(value.doubleValue);
    case "geo point":
      return `${numberText(value.geoPointValue.latitude)}, ${numberText(value.geoPointValue.longitude)}`;
    case "vector":
      return vectorOf(value.mapValue).map((v) => numberText(v.doubleValue)).join(", ");
    case "reference": return value.referenceValue.split("/documents/")[1] ?? value.referenceValue;
    default: return value.stringValue ?? value.timestampValue ?? value.bytesValue ?? "";
  }
}

/** A value in one line, as a cell shows it. */
export function shown(value) {
  switch (kindOf(value)) {
    case "string": return JSON.stringify(value.stringValue);
    case "array": return `[${(value.arrayValue.values ?? []).map(shown).join(", ")}]`;
    case "map":
      return `{${Object.entries(value.mapValue.fields ?? {}).map(([k, v]) => `${k}: ${shown(v)}`).join(", ")}}`;
    case "vector": return `[${textOf(value)}]`;
    default: return textOf(value);
  }
}

/** JSON text of a value; JSON.stringify would lose the sign of -0. */
export function json(value) {
  if (Array.isArray(value)) return `[${value.map(json).join(",")}]`;
  if (value && typeof value === "object") {
    return `{${Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}:${json(v)}`).join(",")}}`;
  }
  return Object.is(value, -0) ? "-0.0" : JSON.stringify(value);
}

/** The same over several lines. */
export function pretty(value, indent = "") {
  const inner = indent + "  ";
  if (Array.isArray(value)) {
    if (!value.length) return "[]";
    return `[\n${value.map((part) => inner + pretty(part, inner)).join(",\n")}\n${indent}]`;
  }
  if (value && typeof value === "object") {
    const parts = Object.entries(value).map(([k, v]) => `${inner}${JSON.stringify(k)}: ${pretty(v, inner)}`);
    return parts.length ? `{\n${parts.join(",\n")}\n${indent}}` : "{}";
  }
  return json(value);
}

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

function doubleJSON(text) {
  const plain = text.trim();
  if (["NaN", "Infinity", "-Infinity"].includes(plain)) return JSON.stringify(plain);
  if (!number.test(plain) || !Number.isFinite(Number(plain))) throw new Error(`${text} is not a number.`);
  return plain;
}

function listed(text) { return text.trim() ? text.split(",").map(doubleJSON) : []; }

/** JSON text of a value without parts. Throws a sentence for a text that is none of that kind. */
export function jsonOf(kind, text, root) {
  switch (kind) {
    case "string": return `{"stringValue":${JSON.stringify(text)}}`;
    case "null": return '{"nullValue":null}';
    case "boolean":
      if (!["true", "false"].includes(text)) throw new Error(`${text} is neither true nor false.`);
      return `{"booleanValue":${text}}`;
    case "integer":
      if (!/^-?\d+$/.test(text.trim()) || BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) {
        throw new Error(`${text} is not a 64-bit integer.`);
      }
      return `{"integerValue":"${BigInt(text)}"}`;
    case "double": return `{"doubleValue":${doubleJSON(text)}}`;
    case "timestamp":
      if (Number.isNaN(Date.parse(text.trim()))) throw new Error(`${text} is not a time, as in 2026-11-24T10:00:00.000000001Z.`);
      return `{"timestampValue":${JSON.stringify(text.trim())}}`;
    case "bytes":
      try { atob(text.trim()); } catch { throw new Error("Write bytes in base64."); }
      return `{"bytesValue":${JSON.stringify(text.trim())}}`;
    case "reference": {
      const name = text.startsWith("projects/") ? text : `${root}/documents/${text}`;
      return `{"referenceValue":${JSON.stringify(name)}}`;
    }
    case "geo point": {
      const parts = listed(text);
      if (parts.length !== 2) throw new Error("A geo point must be a latitude and a longitude, as in 52.5, 13.4.");
      return `{"geoPointValue":{"latitude":${parts[0]},"longitude":${parts[1]}}}`;
    }
    case "vector": {
      const values = listed(text).map((n) => `{"doubleValue":${n}}`).join(",");
      return `{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[${values}]}}}}}`;
    }
    default: throw new Error(`${kind} is not a type of value.`);
  }
}
