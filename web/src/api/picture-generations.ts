// The generations started from pictures in this tab, by picture. They survive a reload.
import { sharedState } from "./shared-state";
import { readStored, writeStored } from "./storage";

const key = "atelier-made";
const none: string[] = [];
const storage = () => sessionStorage;
const generations = sharedState<Partial<Record<string, string[]>>>(readStored<Record<string, string[]>>(storage, key) ?? {});

/** Records that a generation was started from a picture. */
export function recordPictureGeneration(media: string, generation: string) {
  const all = generations.get();
  generations.set({ ...all, [media]: [generation, ...(all[media] ?? [])] });
  writeStored(storage, key, generations.get());
}

/** The generations that were started from a picture, newest first. */
export function usePictureGenerations(media: string): string[] {
  return generations.use((all) => all[media] ?? none);
}
