// JSON pointers (RFC 6901) and the values that they name.

export type JSONValue = null | boolean | number | string | JSONValue[] | { [key: string]: JSONValue };
export type JSONObject = { [key: string]: JSONValue };

/** Adds a key to a pointer. */
export function join(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Writes the pointer of a path. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.reduce<string>(join, "");
}

/** Reads a pointer; what has no slash at its beginning is one key. */
export function pathOf(pointer: string): string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) return [pointer];
  return pointer.slice(1).split("/").map((s) => s.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function isObject(v: unknown): v is JSONObject {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

/** Finds the value of a path; undefined if there is none. Only own keys count. */
export function get(v: unknown, path: readonly string[]): JSONValue | undefined {
  let at: unknown = v;
  for (const key of path) {
    if (Array.isArray(at) && /^(0|[1-9]\d*)$/.test(key)) at = (at as unknown[])[Number(key)];
    else if (isObject(at) && Object.hasOwn(at, key)) at = at[key];
    else return undefined;
  }
  return at as JSONValue | undefined;
}

/** Puts a value at a path of a copy; undefined removes what is there. Missing objects are made,
 * an index behind the end of a list adds to it. */
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

/** Puts a value at a path of a copy; in a list it goes before what is there. */
export function insert(v: JSONValue, path: readonly string[], value: JSONValue): JSONValue {
  const parent = get(v, path.slice(0, -1));
  const key = path.at(-1);
  if (!Array.isArray(parent) || key === undefined || key === "-") return set(v, path, value);
  return set(v, path.slice(0, -1), parent.toSpliced(Number(key), 0, value));
}

/** Says whether one pointer names the other's value or one that holds it. */
export function covers(above: string, below: string): boolean {
  return above === below || below.startsWith(`${above}/`);
}

/** Compares values; the order of keys does not count. */
export function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((e, i) => equal(e, b[i]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && equal(a[k], b[k]));
}
