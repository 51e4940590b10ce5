// JSON in the browser's storage. Pages also work where storage is disabled or full.

/** Returns a stored value; undefined if there is none or it cannot be read. */
export function readStored<T>(storage: () => Storage, key: string): Partial<T> | undefined {
  try {
    const v: unknown = JSON.parse(storage().getItem(key) ?? "null");
    return typeof v === "object" && v !== null && !Array.isArray(v) ? v : undefined;
  } catch {
    return undefined;
  }
}

export function writeStored(storage: () => Storage, key: string, value: object) {
  try {
    storage().setItem(key, JSON.stringify(value));
  } catch { /* Without storage, the value does not survive a reload. */ }
}
