// A value outside React. A component that reads a part of it is drawn again when that part changes.
import { useSyncExternalStore } from "react";

interface SharedState<T> {
  get: () => T;
  set: (value: T) => void;
  /** A hook that returns a part of the value. The part must be the same object until it changes. */
  use: <P>(select: (value: T) => P) => P;
}

export function sharedState<T>(initial: T): SharedState<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  const subscribe = (f: () => void) => { listeners.add(f); return () => listeners.delete(f); };
  return {
    get: () => value,
    set: (next) => { value = next; for (const f of listeners) f(); },
    use: (select) => useSyncExternalStore(subscribe, () => select(value)),
  };
}
