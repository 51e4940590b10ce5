import { useState } from "react";
import { showError } from "./notice";

/** Returns whether an action is in progress, and the function that runs one. An error of the action is shown. */
export function useBusy(): [boolean, (action: () => Promise<unknown>) => Promise<void>] {
  const [busy, setBusy] = useState(false);
  const whileBusy = async (action: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await action();
    } catch (e) {
      showError(e);
    }
    setBusy(false);
  };
  return [busy, whileBusy];
}
