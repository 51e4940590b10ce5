// The settings that this browser remembers.
import { useSyncExternalStore } from "react";

export interface Settings {
  agent: string;
  model: string;
  imageModel: string;
  developer: boolean;
}

const key = "atelier-settings";
const defaults: Settings = { agent: "", model: "", imageModel: "", developer: false };
const watchers = new Set<() => void>();
let now = load();

function load(): Settings {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Settings>) };
  } catch {
    return defaults;
  }
}

export function updateSettings(change: Partial<Settings>) {
  now = { ...now, ...change };
  try {
    localStorage.setItem(key, JSON.stringify(now));
  } catch { /* The page works without storage. */ }
  for (const f of watchers) f();
}

export function useSettings(): Settings {
  return useSyncExternalStore((f) => { watchers.add(f); return () => watchers.delete(f); }, () => now);
}
