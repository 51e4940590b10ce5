import { MantineProvider } from "@mantine/core";
import { Notifications, notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from "@tanstack/react-router";
import { fireEvent } from "@testing-library/dom";
import { act, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Composer } from "../parts/composer";
import { useDraft } from "./draft";
import { RunStoreProvider, queryClient } from "./queries";
import { RunStore } from "./run-store";
import { useSend } from "./send";
import { updateSettings } from "./settings";

const source = { close: vi.fn(), addEventListener: vi.fn() } as unknown as EventSource;
let lists: () => Promise<Response>;
let respond: (r: Response) => void;
let posted: { agent: string; message: string; model?: string }[];

beforeEach(() => {
  posted = [];
  lists = async () => new Response('{"items":[]}');
  vi.stubGlobal("fetch", (_: string, init?: RequestInit) => {
    if (init?.method !== "POST") return lists();
    posted.push(JSON.parse(init.body as string) as (typeof posted)[number]);
    return new Promise<Response>((done) => { respond = done; });
  });
  queryClient.clear();
  sessionStorage.clear();
});
afterEach(() => { vi.unstubAllGlobals(); notifications.clean(); updateSettings({ agent: "", model: "" }); });

function Page({ conversation }: { conversation: string }) {
  const draft = useDraft(conversation);
  const { send, sending } = useSend(draft, conversation);
  return <Composer draft={draft} onSend={send} sending={sending} />;
}

async function show(conversation: string) {
  const router = createRouter({ routeTree: createRootRoute({ component: () => <Page conversation={conversation} /> }), history: createMemoryHistory() });
  const page = render(<MantineProvider><Notifications /><QueryClientProvider client={queryClient}><RunStoreProvider value={new RunStore(() => source)}><RouterProvider router={router as never} /></RunStoreProvider></QueryClientProvider></MantineProvider>);
  return { ...page, box: (await screen.findByRole("textbox", { name: "Message" })) as HTMLTextAreaElement };
}

const started = () => act(async () => respond(new Response('{"id":"r","status":"running","conversation_id":"c"}', { status: 202 })));

test("what is typed while a message is being sent stays in the draft", async () => {
  const { box } = await show("c1");
  await userEvent.type(box, "Draw{Enter}");
  await userEvent.type(box, " and more");
  await started();
  await waitFor(() => expect(box.value).toBe("and more"));
  expect(posted[0]?.message).toBe("Draw");
});

test("the chosen agent is used although the list of agents has not been loaded", async () => {
  lists = () => new Promise(() => undefined);
  updateSettings({ agent: "research-agent" });
  const { box } = await show("c2");
  await userEvent.type(box, "Why?{Enter}");
  expect(posted[0]?.agent).toBe("research-agent");
});

test("an agent and a model that the lists lack are not sent: the menus show the defaults", async () => {
  updateSettings({ agent: "gone", model: "gone" });
  const { box } = await show("c3");
  await waitFor(() => expect(queryClient.isFetching()).toBe(0));
  await userEvent.type(box, "Why?{Enter}");
  expect([posted[0]?.agent, posted[0]?.model]).toEqual(["sage", undefined]);
});

test("a message is sent without an error where storage is disabled", async () => {
  const { box } = await show("c4");
  vi.stubGlobal("sessionStorage", undefined);
  await userEvent.type(box, "Draw{Enter}");
  await started();
  await waitFor(() => expect(box.value).toBe(""));
  expect(screen.queryByRole("alert")).toBeNull();
});

/** Holds uploads back, and returns the function that stores them all as one item. */
function uploads(): () => void {
  const requests: { responseText: string; onload: () => void }[] = [];
  vi.stubGlobal("XMLHttpRequest", class {
    upload = {};
    status = 201;
    responseText = "";
    onload = () => undefined;
    constructor() { requests.push(this); }
    open() {}
    send() {}
  });
  return () => act(() => { for (const r of requests) { r.responseText = '{"id":"m","ref":"doc-a","modality":"document","mime_type":"text/csv","size_bytes":1}'; r.onload(); } });
}

test("a file that is attached twice is attached once", async () => {
  const store = uploads();
  await show("c6");
  fireEvent.change(screen.getByLabelText("Files to attach", { selector: "input" }), { target: { files: [new File(["x"], "sales.csv"), new File(["x"], "sales.csv")] } });
  expect(await screen.findAllByText("Uploading, 0 %")).toHaveLength(2);
  store();
  await screen.findByText("1 B");
  expect(screen.getAllByText("sales.csv")).toHaveLength(1);
});

test("an upload that ends while another conversation is open is in the draft", async () => {
  const store = uploads();
  const before = await show("c5");
  fireEvent.change(screen.getByLabelText("Files to attach", { selector: "input" }), { target: { files: [new File(["x"], "sales.csv")] } });
  await screen.findByText("Uploading, 0 %");
  before.unmount();
  await show("c5");
  store();
  await screen.findByText("1 B");
});

test("a file that is refused is called by its name", async () => {
  sessionStorage.setItem("atelier-draft c9", JSON.stringify({ text: "Look", media: [{ id: "01a2", ref: "img-a", modality: "image", mime_type: "image/png", file_name: "harbour.png" }] }));
  const { box } = await show("c9");
  await userEvent.type(box, "{Enter}");
  await act(async () => respond(new Response(JSON.stringify({ code: "invalid", detail: "image 1 (media 01a2): it is damaged" }), { status: 400 })));
  await screen.findByText("image 1 (harbour.png): it is damaged");
});
