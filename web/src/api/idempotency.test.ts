import { expect, test } from "vitest";
import { ApiError } from "./client";
import { RequestKeys } from "./idempotency";

const lost = new ApiError(0, "unavailable", "No response.", "");

test("a lost request keeps its key, a changed or answered one does not", () => {
  const keys = new RequestKeys();
  const first = keys.keyFor({ prompt: "a" });
  keys.settle(lost);
  expect(keys.keyFor({ prompt: "a" })).toBe(first);
  const changed = keys.keyFor({ prompt: "b" });
  expect(changed).not.toBe(first);
  keys.settle(new ApiError(422, "invalid", "No.", ""));
  const refused = keys.keyFor({ prompt: "b" });
  expect(refused).not.toBe(changed);
  keys.settle();
  expect(keys.keyFor({ prompt: "b" })).not.toBe(refused);
});

test("a proxy's error keeps the key, because the server may have received the request", () => {
  const keys = new RequestKeys();
  const first = keys.keyFor({ prompt: "a" });
  keys.settle(new ApiError(504, "internal", "The server responded with status 504.", ""));
  expect(keys.keyFor({ prompt: "a" })).toBe(first);
});
