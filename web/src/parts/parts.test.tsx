import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from "@tanstack/react-router";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { fireEvent } from "@testing-library/dom";
import { useState } from "react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Media, Run } from "../api/contract";
import type { Draft } from "../api/draft";
import { queryClient } from "../api/queries";
import { newRun } from "../schema/run";
import { agentOptions } from "./agent-model-menus";
import { Composer } from "./composer";
import { remainingMedia } from "./exchange";
import { MessageText } from "./markdown";
import { QuestionCard } from "./question";
import { withLineBreaks } from "./request-log";
import { Steps } from "./steps";

beforeEach(() => vi.stubGlobal("fetch", vi.fn(async (_url: string, _init?: RequestInit) => new Response('{"items":[]}'))));
afterEach(() => vi.unstubAllGlobals());

async function show(part: ReactNode) {
  const router = createRouter({ routeTree: createRootRoute({ component: () => part }), history: createMemoryHistory() });
  const all = render(<MantineProvider><QueryClientProvider client={queryClient}><RouterProvider router={router as never} /></QueryClientProvider></MantineProvider>);
  await waitFor(() => expect(all.container.querySelector("[data-ready], form, div, section")).not.toBeNull());
  return all;
}

const draft = (more: Partial<Draft> = {}): Draft => ({ text: "Draw", attachments: [], setText: vi.fn(), addText: vi.fn(), attach: vi.fn(), attachMedia: vi.fn(), remove: vi.fn(), replace: vi.fn(), clear: vi.fn(), uploading: false, ...more });
const picture: Media = { id: "m1", ref: "img-a", modality: "image", mime_type: "image/png", width: 1024, height: 512, label: "a harbour", url: "/media/m1" };

test("agents that lack a source come last and say which", () => {
  const agent = (slug: string, ...missing: string[]) => ({ slug, name: slug, description: "What it does.", ready: missing.length === 0, ...(missing.length > 0 && { missing }) });
  const options = agentOptions([agent("database-agent", "db"), agent("writer"), agent("kb-agent", "kb", "plans"), agent("sage")]);
  expect(options.map((o) => [o.value, o.ready, o.reason])).toEqual([
    ["sage", true, undefined], ["writer", true, undefined],
    ["database-agent", false, "Needs a source that this server does not have: database"],
    ["kb-agent", false, "Needs a source that this server does not have: knowledge base, plans"],
  ]);
});

describe("the composer", () => {
  const box = () => screen.findByRole("textbox", { name: "Message" });

  test("sends by Enter, not by Shift+Enter, nor while a word is being composed", async () => {
    const send = vi.fn();
    await show(<Composer draft={draft()} onSend={send} sending={false} />);
    const message = await box();
    fireEvent.keyDown(message, { key: "Enter", shiftKey: true });
    fireEvent.keyDown(message, { key: "Enter", isComposing: true });
    fireEvent.keyDown(message, { key: "Enter", keyCode: 229 });
    expect(send).not.toHaveBeenCalled();
    fireEvent.keyDown(message, { key: "Enter" });
    expect(send).toHaveBeenCalledTimes(1);
    await userEvent.click(screen.getByRole("button", { name: "Send" }));
    expect(send).toHaveBeenCalledTimes(2);
  });

  test.each([
    ["nothing", draft({ text: " " }), 0],
    ["a file alone", draft({ text: "", attachments: [{ key: "k", name: "a.csv", size: 1, progress: 1, media: picture }] }), 1],
    ["a file that is on its way", draft({ uploading: true, attachments: [{ key: "k", name: "a.csv", size: 1, progress: 0.4 }] }), 0],
    ["a file that was refused alone", draft({ text: "", attachments: [{ key: "k", name: "a.exe", size: 1, progress: 0, error: "No." }] }), 0],
  ])("with %s", async (_, d, times) => {
    const send = vi.fn();
    await show(<Composer draft={d} onSend={send} sending={false} />);
    fireEvent.keyDown(await box(), { key: "Enter" });
    expect(send).toHaveBeenCalledTimes(times);
  });

  test("attaches what is pasted, shows how far it is, and removes it", async () => {
    const d = draft({ attachments: [{ key: "k", name: "a.png", size: 1, progress: 0.4, preview: "blob:x" }] });
    await show(<Composer draft={d} onSend={vi.fn()} sending={false} />);
    const file = new File(["x"], "b.png", { type: "image/png" });
    fireEvent.paste(await box(), { clipboardData: { files: [file] } });
    expect(d.attach).toHaveBeenCalledWith([file]);
    expect(screen.getByText("Uploading, 40 %")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Remove a.png" }));
    expect(d.remove).toHaveBeenCalledWith("k");
  });

  test("says why a file was refused, also to screen readers", async () => {
    await show(<Composer draft={draft({ attachments: [{ key: "k", name: "a.exe", size: 1, progress: 0, error: "No." }] })} onSend={vi.fn()} sending={false} />);
    expect((await screen.findByRole("alert")).textContent).toBe("No.");
  });

  test("shows no preview of a file that is no picture, whatever its name says, or that the browser cannot draw", async () => {
    const file = (modality: "document" | "image") => ({ key: modality, name: "a.png", size: 1, progress: 1, preview: `blob:${modality}`, media: { ...picture, modality } });
    const { container } = await show(<Composer draft={draft({ attachments: [file("document"), file("image")] })} onSend={vi.fn()} sending={false} />);
    const previews = () => [...container.querySelectorAll(".attachment img")].map((i) => i.getAttribute("src"));
    expect(previews()).toEqual(["blob:image"]);
    fireEvent.error(container.querySelector(".attachment img") as Element);
    expect(previews()).toEqual([]);
  });

  test("stops only where something runs", async () => {
    const stop = vi.fn();
    await show(<Composer draft={draft()} onSend={vi.fn()} sending={false} onStop={stop} />);
    await userEvent.click(await screen.findByRole("button", { name: "Stop" }));
    expect(stop).toHaveBeenCalledTimes(1);
  });
});

describe("a message", () => {
  const said = async (text: string, pending = false) => (await show(<MessageText text={text} media={{ "img-a": picture }} pending={pending} />)).container;

  test("runs and loads nothing that is not its own", async () => {
    const c = await said('Hello <script>x</script><img src=x onerror=y> **bold** [a](javascript:z) ![far](https://evil.example/a.png) <b onclick="q">t</b>');
    await screen.findByText("bold");
    expect(c.querySelectorAll("script, img, [onerror], [onclick]")).toHaveLength(0);
    expect([...c.querySelectorAll("a")].map((a) => a.getAttribute("href"))).not.toContain("javascript:z");
    expect(screen.getByText("far").getAttribute("href")).toBe("https://evil.example/a.png");
  });

  test("has its pictures with alternative text by attribute and on hover, and their size", async () => {
    await said("Look:\n\n${media:img-a}");
    const img = await screen.findByRole("img", { name: "a harbour" });
    expect([img.getAttribute("title"), img.getAttribute("width"), img.getAttribute("height")]).toEqual(["a harbour", "1024", "512"]);
    expect(img.closest("button")?.style.aspectRatio).toBe("1024 / 512");
    expect(img.closest("button")?.style.backgroundImage).toContain("/media/m1?w=16");
  });

  test("keeps its pictures, and the click on one, when what is known of its media comes anew", async () => {
    function Changing() {
      const [media, setMedia] = useState({ "img-a": picture });
      return <div><button type="button" onClick={() => setMedia({ "img-a": { ...picture } })}>anew</button><MessageText text={"Look:\n\n${media:img-a}"} media={media} pending={false} /></div>;
    }
    await show(<Changing />);
    const img = await screen.findByRole("img", { name: "a harbour" });
    await userEvent.click(screen.getByRole("button", { name: "anew" }));
    expect(screen.getByRole("img", { name: "a harbour" })).toBe(img);
  });

  test("never shows a placeholder", async () => {
    const c = await said("Look ${media:img-z} and ${media:");
    await screen.findByText("This picture is not available.");
    expect(c.textContent).not.toContain("${");
  });

  test("breaks lines in cells, and leads to its footnotes and back in place", async () => {
    const c = await said("| a |\n|---|\n| one<br>two |\n\nSee[^1].\n\n[^1]: The note.");
    await waitFor(() => expect(c.querySelector("td")?.innerHTML).toBe("one<br>two"));
    expect([...c.querySelectorAll("a")].map((a) => [a.target, document.getElementById(a.hash.slice(1))?.tagName])).toEqual([["", "LI"], ["", "A"]]);
  });

  test("names the boxes of a list of tasks", async () => {
    await show(<MessageText text={"- [x] Sketch\n- [ ] Print"} media={{}} pending={false} />);
    expect(screen.getAllByRole("checkbox").map((c) => c.getAttribute("aria-label"))).toEqual(["done", "open"]);
  });

  test("keeps a picture of a list in its line", async () => {
    const c = await said("- one ${media:img-a} two");
    await screen.findByRole("img", { name: "a harbour" });
    expect(c.querySelector("li .picture-inline")).not.toBeNull();
  });
});

describe("a message with other media than pictures", () => {
  test.each(["- The data: ${media:doc-a}", "# See ${media:doc-a}"])("links them in their line: %s", async (text) => {
    await show(<MessageText text={text} media={{ "doc-a": { id: "d1", ref: "doc-a", modality: "document", mime_type: "text/csv", file_name: "sales.csv", url: "/media/d1" } }} pending={false} />);
    expect((await screen.findByRole("link", { name: /sales.csv/ })).getAttribute("href")).toBe("/media/d1");
  });
});

test("a picture that cannot be loaded shows its alternative text", async () => {
  await show(<MessageText text={"${media:img-a}"} media={{ "img-a": picture }} pending={false} />);
  const img = await screen.findByRole("img", { name: "a harbour" });
  fireEvent.error(img);
  expect(img.closest("button")?.dataset["loaded"]).toBe("true");
});

describe("a question", () => {
  const sent = () => JSON.parse(vi.mocked(fetch).mock.calls.map((c) => c[1]?.body).find((b) => typeof b === "string") as string) as unknown;

  test("is answered by its form", async () => {
    await show(<QuestionCard run="r" media={{}} question={{ question: "Which style?", schema: { type: "object", required: ["style"], properties: { style: { enum: ["Oil", "Ink"] } } } }} />);
    await userEvent.click(await screen.findByRole("button", { name: "Answer" }));
    expect(await screen.findByText("This field is required.")).toBeTruthy();
    await userEvent.click(screen.getByRole("radio", { name: "Ink" }));
    await userEvent.click(screen.getByRole("button", { name: "Answer" }));
    await waitFor(() => expect(sent()).toEqual({ answer: { style: "Ink" } }));
  });

  test("shows what the server found at its field", async () => {
    vi.mocked(fetch).mockImplementation(async () => new Response(JSON.stringify({ status: 400, code: "invalid", detail: "the answer does not fit", errors: [{ pointer: "/answer/style", detail: "Ink is used up" }] }), { status: 400 }));
    await show(<QuestionCard run="r" media={{}} question={{ question: "Which style?", schema: { type: "object", properties: { style: { type: "string", title: "Style" } } } }} />);
    await userEvent.type(await screen.findByRole("textbox", { name: /Style/ }), "Ink");
    await userEvent.click(screen.getByRole("button", { name: "Answer" }));
    expect(await screen.findByText("Ink is used up")).toBeTruthy();
  });

  test("whose schema has no control for a field takes JSON", async () => {
    await show(<QuestionCard run="r" media={{}} question={{ question: "What else?", schema: { type: "object", properties: { more: { type: "object" } } } }} />);
    fireEvent.change(await screen.findByRole("textbox", { name: "More" }), { target: { value: '{"a":1}' } });
    await userEvent.click(screen.getByRole("button", { name: "Answer" }));
    await waitFor(() => expect(sent()).toEqual({ answer: { more: { a: 1 } } }));
  });

  test("has an input for a field of any value", async () => {
    await show(<QuestionCard run="r" media={{}} question={{ question: "What else?", schema: { type: "object", properties: { anything: {} } } }} />);
    fireEvent.change(await screen.findByRole("textbox", { name: "Anything" }), { target: { value: "[1]" } });
    await userEvent.click(screen.getByRole("button", { name: "Answer" }));
    await waitFor(() => expect(sent()).toEqual({ answer: { anything: [1] } }));
  });

  test("is not answered with the last valid JSON while the text is invalid", async () => {
    await show(<QuestionCard run="r" media={{}} question={{ question: "What else?", schema: { type: "object", properties: { more: { type: "object" } } } }} />);
    const box = await screen.findByRole("textbox", { name: "More" });
    fireEvent.change(box, { target: { value: '{"a":1}' } });
    fireEvent.change(box, { target: { value: '{"a":1, "b":' } });
    await userEvent.click(screen.getByRole("button", { name: "Answer" }));
    expect(vi.mocked(fetch).mock.calls.filter((c) => c[1]?.method === "POST")).toEqual([]);
    expect(screen.getByText(/not valid JSON yet/)).toBeTruthy();
    fireEvent.change(box, { target: { value: '{"a":1, "b":2}' } });
    await userEvent.click(screen.getByRole("button", { name: "Answer" }));
    await waitFor(() => expect(sent()).toEqual({ answer: { more: { a: 1, b: 2 } } }));
  });

  test("that follows another one does not keep the note on it", async () => {
    function Two() {
      const [id, setId] = useState("q1");
      return <div><button type="button" onClick={() => setId("q2")}>next</button><QuestionCard run="r" media={{}} question={{ id, kind: "approval", question: id }} /></div>;
    }
    await show(<Two />);
    await userEvent.type(await screen.findByRole("textbox", { name: "Note" }), "cheaper");
    await userEvent.click(screen.getByRole("button", { name: "next" }));
    expect((screen.getByRole("textbox", { name: "Note" }) as HTMLInputElement).value).toBe("");
  });

  test("about an action is approved or denied, and says its cost", async () => {
    await show(<QuestionCard run="r" media={{}} question={{ kind: "approval", question: "May I?", details: { action: "Generate Image", estimated_usd: "0.16" } }} />);
    expect(await screen.findByText("$0.16")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Deny" }));
    await waitFor(() => expect(sent()).toEqual({ approve: false }));
  });
});

test("steps show what happens, with sub-agents inside, and fold when the run has ended", async () => {
  const run = {
    ...newRun("r"), status: "running" as const, startedAt: Date.now() - 5000,
    steps: [
      { id: "1", kind: "agent" as const, runId: "r", childRunId: "k", name: "File Research Agent", status: "running" as const, startedAt: Date.now() - 3000, refs: [] },
      { id: "2", kind: "action" as const, runId: "k", name: "Generate Image", status: "running" as const, startedAt: Date.now() - 2000, refs: [], note: "30 % rendered", partial: picture },
    ],
  };
  const { container, unmount } = await show(<Steps run={run} onOpen={vi.fn()} />);
  expect(await screen.findByText("30 % rendered")).toBeTruthy();
  expect(screen.getByRole("img", { name: "Preview: a harbour" })).toBeTruthy();
  expect(container.querySelector("li li .step-name")?.textContent).toBe("Generate Image");
  expect(screen.getByRole("button", { name: /Working/ }).getAttribute("aria-expanded")).toBe("true");
  unmount();
  await show(<Steps run={{ ...run, status: "paused" }} onOpen={vi.fn()} />);
  expect((await screen.findByRole("button", { name: /Waiting/ })).textContent).toBe("Waiting for you2 steps"); // no time: it would stand still
  cleanup();
  await show(<Steps run={{ ...run, status: "succeeded", endedAt: Date.now() }} onOpen={vi.fn()} />);
  expect((await screen.findByRole("button", { name: /Worked/ })).getAttribute("aria-expanded")).toBe("false");
});

test("a raw value shows its line breaks, and backslashes as they are", () => {
  expect(withLineBreaks(JSON.stringify({ text: "a\nb", path: "C:\\new" }))).toBe('{"text":"a\nb","path":"C:\\\\new"}');
});

test("what a run made in its first moments is listed, however many digits the times have", () => {
  const record = { started_at: "2026-11-22T10:00:00.5Z", media: [{ ...picture, created_at: "2026-11-22T10:00:00.512Z" }, { ...picture, ref: "img-b", created_at: "2026-11-22T10:00:00Z" }] } as unknown as Run;
  const made = remainingMedia({ runId: "r", at: "", text: "", attachments: [], status: "succeeded" }, undefined, record, false, "");
  expect(made.map((m) => m.ref)).toEqual(["img-a"]);
});
