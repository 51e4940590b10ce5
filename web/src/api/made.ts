// The generations started from pictures in this tab, by picture; a reload keeps them.
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

/** Keeps that a generation was begun from a picture. */
export function keepMade(media: string, generation: string) {
  all = { ...all, [media]: [generation, ...(all[media] ?? [])] };
  try {
    sessionStorage.setItem(key, JSON.stringify(all));
  } catch { /* It is only in the page. */ }
  for (const f of watchers) f();
}

/** The generations that were begun from a picture, newest first. */
export function useMade(media: string): string[] {
  return useSyncExternalStore((f) => { watchers.add(f); return () => watchers.delete(f); }, () => all[media] ?? none);
}
