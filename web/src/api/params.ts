// The parameters that a person set: per card while the tab is open, per provider permanently.
import type { JSONObject } from "../schema/pointer";
import { isObject } from "../schema/pointer";

const forProviders = "atelier-params";
const forCards = "atelier-card-params";
/** What was remembered when the tab was opened: what is set on one card changes no other one. */
const remembered = read(forProviders, () => localStorage);

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
  } catch { /* A browser that keeps nothing still works. */ }
}

/** The parameters of a card: its own, else those that its provider was given last. */
export function cardParams(card: string, provider: string): JSONObject {
  return read(forCards, () => sessionStorage)[card] ?? remembered[provider] ?? {};
}

/** Keeps what was set on a card. */
export function keepCardParams(card: string, params: JSONObject) {
  write(forCards, () => sessionStorage, { ...read(forCards, () => sessionStorage), [card]: params });
}

/** Remembers what a provider was given. */
export function rememberParams(provider: string, params: JSONObject) {
  write(forProviders, () => localStorage, { ...read(forProviders, () => localStorage), [provider]: params });
}
