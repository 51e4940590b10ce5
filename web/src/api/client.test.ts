import { afterEach, expect, test, vi } from "vitest";
import { ApiError, api, errorFromResponse, upload } from "./client";
import { rejectReason } from "./draft";
import { inlineMedia } from "./report";
import { workflowApi } from "./workflows";

afterEach(() => vi.unstubAllGlobals());

test("an error says what happened and what to do", () => {
  expect(errorFromResponse(402, '{"code":"over_budget","detail":"The budget is used up.","hint":"Raise it.","retryable":false}')).toMatchObject({ status: 402, code: "over_budget", message: "The budget is used up.", hint: "Raise it." });
  expect(errorFromResponse(502, "<html>").message).toBe("The server responded with status 502.");
  expect(errorFromResponse(0, "").message).toBe("The server cannot be reached.");
});

test("a run is started under a key and in JSON", async () => {
  const fetch = vi.fn(async (_url: string, _init: RequestInit) => new Response('{"id":"r","status":"running"}', { status: 202 }));
  vi.stubGlobal("fetch", fetch);
  await api.start({ agent: "sage", message: "x", conversation_id: "new", images: [], files: [] }, "k");
  const init = fetch.mock.calls[0]?.[1];
  expect(init?.headers).toMatchObject({ "Idempotency-Key": "k", "Content-Type": "application/json" });
});

test("a lost connection is an error that can be tried again", async () => {
  vi.stubGlobal("fetch", async () => { throw new TypeError("network"); });
  await expect(api.health()).rejects.toBeInstanceOf(ApiError);
  await expect(api.health()).rejects.toMatchObject({ status: 0, retryable: true });
});

test("a connection lost in the middle of a response is a lost connection", async () => {
  const cut = () => new ReadableStream({ start: (c) => { c.enqueue(new TextEncoder().encode('{"id":')); c.error(new TypeError("network")); } });
  vi.stubGlobal("fetch", async () => new Response(cut(), { status: 202 }));
  await expect(api.health()).rejects.toMatchObject({ status: 0, message: "The server cannot be reached." });
  vi.stubGlobal("fetch", async () => new Response("<html>Log in</html>"));
  await expect(api.health()).rejects.toMatchObject({ name: "ApiError", message: "The server responded with status 200." });
});

test("an upload that a page of another server answers ends with an error", async () => {
  vi.stubGlobal("XMLHttpRequest", class {
    upload = {};
    status = 200;
    responseText = "<html>Log in</html>";
    onload?: () => void;
    open() {}
    send() { this.onload?.(); }
  });
  await expect(upload(new File(["x"], "a.png"), () => undefined, new AbortController().signal)).rejects.toMatchObject({ name: "ApiError" });
});

test("all sub-actions of a run are read, page by page", async () => {
  const fetch = vi.fn(async (url: string) => new Response(JSON.stringify(url.includes("after=") ? { items: [{ id: "b" }] } : { items: [{ id: "a" }], next: "a 1" })));
  vi.stubGlobal("fetch", fetch);
  expect((await workflowApi.subActions("r")).items.map((j) => j.id)).toEqual(["a", "b"]);
  expect(fetch.mock.calls.map((c) => c[0])).toEqual(["", "&after=a%201"].map((more) => `/api/workflow-runs/r/sub-actions?limit=200${more}`));
});

test("files that cannot be attached are refused before they are sent", () => {
  expect(rejectReason(new File([], "a.png"))).toBe("The file is empty.");
  expect(rejectReason(new File(["x"], "a.exe"))).toMatch(/can be attached/);
  for (const name of ["a.png", "A.CSV", "b.xlsx", "c.docx", "d.md"]) expect(rejectReason(new File(["x"], name))).toBeUndefined();
});

test("a saved report has its pictures inside, each asked for once", async () => {
  const load = vi.fn(async (a: string) => `data:${a.length}`);
  const html = await inlineMedia('<img src="/media/a1?w=640&amp;x=1"><img src="/media/a1?w=640&amp;x=1"><a href="/media/b2">b</a><img src="https://x/media/c">', load);
  expect(html).toBe('<img src="data:19"><img src="data:19"><a href="data:9">b</a><img src="https://x/media/c">');
  expect(load.mock.calls.map((c) => c[0])).toEqual(["/media/a1?w=640&x=1", "/media/b2"]);
});
