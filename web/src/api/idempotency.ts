// The keys under which the server executes a request once, however often it is sent.
import { useState } from "react";
import { ApiError, idempotencyKey } from "./client";

/** The keys of one button: a request whose response was lost is sent again with the same key, unless its body has
 * changed. */
export class RequestKeys {
  private last = { body: "", key: "" };

  /** Returns the key for a request. */
  keyFor(request: unknown): string {
    const body = JSON.stringify(request);
    if (this.last.body !== body) this.last = { body, key: idempotencyKey() };
    return this.last.key;
  }

  /** Forgets the key, unless the error is that no response came. */
  settle(error?: unknown) {
    if (!(error instanceof ApiError) || error.status !== 0) this.last = { body: "", key: "" };
  }
}

export function useRequestKeys(): RequestKeys {
  return useState(() => new RequestKeys())[0];
}
