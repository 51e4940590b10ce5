// The generations started from pictures in this tab, by picture. They survive a reload.
import { useSyncExternalStore } from "react";

const key = "atelier-made";
const none: string[] = [];
const watchers = new Set<() => void>();
let all = load();

function load(): Record<string, string[]> {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "{}") as Record<string, string[]>;
  } catch {
    return {};
  }
}

/** Records that a generation was started from a picture. */
export function recordPictureGeneration(media: string, generation: string) {
  all = { ...all, [media]: [generation, ...(all[media] ?? [])] };
  try {
    sessionStorage.setItem(key, JSON.stringify(all));
  } catch { /* Without storage, the record does not survive a reload. */ }
  for (const f of watchers) f();
}

/** The generations that were started from a picture, newest first. */
export function usePictureGenerations(media: string): string[] {
  return useSyncExternalStore((f) => { watchers.add(f); return () => watchers.delete(f); }, () => all[media] ?? none);
}
