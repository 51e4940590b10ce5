// The parameters that a person set: per card while the tab is open, per provider permanently.
import type { JSONObject } from "../schema/pointer";
import { isObject } from "../schema/pointer";

const providerStorageKey = "atelier-params";
const cardStorageKey = "atelier-card-params";
/** The parameters remembered when the page was loaded: a change on one card does not affect other cards. */
const initialProviderParams = read(providerStorageKey, () => localStorage);

function read(key: string, storage: () => Storage): Record<string, JSONObject> {
  try {
    const v: unknown = JSON.parse(storage().getItem(key) ?? "{}");
    return isObject(v) ? (v as Record<string, JSONObject>) : {};
  } catch {
    return {};
  }
}

function write(key: string, storage: () => Storage, all: Record<string, JSONObject>) {
  try {
    storage().setItem(key, JSON.stringify(all));
  } catch { /* The page works without storage. */ }
}

/** The parameters of a card: its own, or else those remembered for its provider. */
export function cardParams(card: string, provider: string): JSONObject {
  return read(cardStorageKey, () => sessionStorage)[card] ?? initialProviderParams[provider] ?? {};
}

/** Stores the parameters of a card. */
export function saveCardParams(card: string, params: JSONObject) {
  write(cardStorageKey, () => sessionStorage, { ...read(cardStorageKey, () => sessionStorage), [card]: params });
}

/** Stores the parameters of a provider. */
export function saveProviderParams(provider: string, params: JSONObject) {
  write(providerStorageKey, () => localStorage, { ...read(providerStorageKey, () => localStorage), [provider]: params });
}
