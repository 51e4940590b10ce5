// The parameters that a person set: per card while the tab is open, per provider permanently.
import type { JSONObject } from "../schema/pointer";
import { readStored, writeStored } from "./storage";

const providerStorageKey = "atelier-params";
const cardStorageKey = "atelier-card-params";
/** The parameters remembered when the page was loaded: a change on one card does not affect other cards. */
const initialProviderParams = read(providerStorageKey, () => localStorage);

type Params = Partial<Record<string, JSONObject>>;

function read(key: string, storage: () => Storage): Params {
  return readStored<Record<string, JSONObject>>(storage, key) ?? {};
}

/** The parameters of a card: its own, or else those remembered for its provider. */
export function cardParams(card: string, provider: string): JSONObject {
  return read(cardStorageKey, () => sessionStorage)[card] ?? initialProviderParams[provider] ?? {};
}

/** Stores the parameters of a card. */
export function saveCardParams(card: string, params: JSONObject) {
  writeStored(() => sessionStorage, cardStorageKey, { ...read(cardStorageKey, () => sessionStorage), [card]: params });
}

/** Stores the parameters of a provider. */
export function saveProviderParams(provider: string, params: JSONObject) {
  writeStored(() => localStorage, providerStorageKey, { ...read(providerStorageKey, () => localStorage), [provider]: params });
}
