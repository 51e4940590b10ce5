// JSON pointers (RFC 6901) and the values that they name.

export type JSONValue = null | boolean | number | string | JSONValue[] | { [key: string]: JSONValue };
export type JSONObject = { [key: string]: JSONValue };

/** Appends a key to a pointer. */
export function join(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Returns the pointer of a path. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.reduce<string>(join, "");
}

/** Returns the path of a pointer. A text without a leading slash is one key. */
export function pathOf(pointer: string): string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) return [pointer];
  return pointer.slice(1).split("/").map((s) => s.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function isObject(v: unknown): v is JSONObject {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

/** Returns the value at a path; undefined if there is none. Only own keys count. */
export function get(v: unknown, path: readonly string[]): JSONValue | undefined {
  let at: unknown = v;
  for (const key of path) {
    if (Array.isArray(at) && /^(0|[1-9]\d*)$/.test(key)) at = (at as unknown[])[Number(key)];
    else if (isObject(at) && Object.hasOwn(at, key)) at = at[key];
    else return undefined;
  }
  return at as JSONValue | undefined;
}

/** Sets the value at a path in a copy; undefined removes it. Missing objects are created. An index past the
 * end of a list appends to the list. */
export function set(v: JSONValue | undefined, path: readonly string[], value: JSONValue | undefined): JSONValue {
  const [key, ...rest] = path;
  if (key === undefined) return value ?? null;
  if (Array.isArray(v)) {
    const list = [...v];
    const i = key === "-" ? list.length : Number(key);
    if (rest.length === 0 && value === undefined) list.splice(i, 1);
    else list[Math.min(i, list.length)] = set(list[i], rest, value);
    return list;
  }
  const object = isObject(v) ? { ...v } : {};
  if (rest.length === 0 && value === undefined) delete object[key];
  else Object.defineProperty(object, key, { value: set(Object.hasOwn(object, key) ? object[key] : undefined, rest, value), enumerable: true, configurable: true, writable: true });
  return object;
}

/** Inserts a value at a path in a copy; in a list, before the existing element. */
export function insert(v: JSONValue, path: readonly string[], value: JSONValue): JSONValue {
  const parent = get(v, path.slice(0, -1));
  const key = path.at(-1);
  if (!Array.isArray(parent) || key === undefined || key === "-") return set(v, path, value);
  return set(v, path.slice(0, -1), parent.toSpliced(Number(key), 0, value));
}

/** Reports whether the first pointer names the second one's value or a value that contains it. */
export function covers(above: string, below: string): boolean {
  return above === below || below.startsWith(`${above}/`);
}

/** Reports whether two values are equal. The order of keys is ignored. */
export function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((e, i) => equal(e, b[i]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && equal(a[k], b[k]));
}
