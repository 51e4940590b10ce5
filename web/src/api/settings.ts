// The settings that this browser remembers.
import { sharedState } from "./shared-state";
import { readStored, writeStored } from "./storage";

interface Settings {
  agent: string;
  model: string;
  imageModel: string;
  developer: boolean;
}

const key = "atelier-settings";
const storage = () => localStorage;
const settings = sharedState<Settings>({ agent: "", model: "", imageModel: "", developer: false, ...readStored<Settings>(storage, key) });

export function updateSettings(change: Partial<Settings>) {
  settings.set({ ...settings.get(), ...change });
  writeStored(storage, key, settings.get());
}

export function useSettings(): Settings {
  return settings.use((all) => all);
}
