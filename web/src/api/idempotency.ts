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

  /** Forgets the key, unless the error may be a proxy's or that no response came: the request may have arrived. */
  settle(error?: unknown) {
    if (!(error instanceof ApiError) || (error.status > 0 && error.status < 500)) this.last = { body: "", key: "" };
  }

  /** Sends a request under its key. */
  async send<T>(request: unknown, send: (key: string) => Promise<T>): Promise<T> {
    try {
      const response = await send(this.keyFor(request));
      this.settle();
      return response;
    } catch (e) {
      this.settle(e);
      throw e;
    }
  }
}

export function useRequestKeys(): RequestKeys {
  return useState(() => new RequestKeys())[0];
}
