import { fireEvent } from "@testing-library/dom";
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { queryClient } from "../../api/queries";
import type { Interaction, Node } from "../../schema/view";
import { remedy } from "./failures";
import { Server, before, card, cases, job, json, show as showOf, stand, stream } from "./interaction-fixture";

let server: Server;
beforeEach(() => {
  server = new Server();
  vi.stubGlobal("fetch", server.fetch);
  queryClient.clear();
  sessionStorage.clear();
  localStorage.clear();
});
afterEach(() => vi.unstubAllGlobals());

const show = (interaction?: Interaction) => showOf(server, interaction);

test("the example's interaction is drawn of its schema: sections, cards, forms, text areas, no heading over nothing", async () => {
  await show();
  expect(screen.getAllByRole("heading").map((h) => h.textContent)).toEqual([before.title, "Prompts by Provider", "midjourney", "prompt_a", "prompt_b", "leonardo", "phoenix_1_0", "anime_xl"]);
  expect(await within(await card("prompt_a")).findByRole("textbox", { name: "Subject" })).toBeTruthy();
  expect((await within(await card("anime_xl")).findByRole("textbox", { name: "Prompt" })).tagName).toBe("TEXTAREA");
  expect(server.of("PATCH", "")).toEqual([]); // opening the page changes nothing
});

test("what is typed is saved as a patch with its version, and the prompt as sent is the server's", async () => {
  const first = cases.steps[0];
  server.answers["PATCH /api/interactions/in_1"] = () => json(first);
  await show();
  const box = await within(await card("prompt_a")).findByRole("textbox", { name: "Subject" });
  fireEvent.change(box, { target: { value: "A lighthouse" } });
  await waitFor(() => expect(server.of("PATCH", "/interactions/in_1")).toMatchObject([{ body: [{ op: "replace", path: "/prompts/midjourney/prompt_a/subject", value: "A lighthouse" }] }]));
  expect(server.of("PATCH", "")[0]?.headers.get("If-Match")).toBe(`"${before.version}"`);
  await within(await card("prompt_a")).findByText("A lighthouse, ...");
  expect(screen.getByText("Saved")).toBeTruthy();
});

test("what the server rejects is said once, at its field in words for people", async () => {
  const invalid = { pointer: "/prompts/midjourney/prompt_a/subject", detail: "minLength: got 0, want 1" };
  server.answers["PATCH /api/interactions/in_1"] = () => json({ code: "invalid", detail: `${invalid.pointer}: ${invalid.detail}`, errors: [invalid] }, 422);
  await show();
  fireEvent.change(await within(await card("prompt_a")).findByRole("textbox", { name: "Subject" }), { target: { value: "A lighthouse" } });
  await screen.findByText("Not saved: correct subject");
  expect(within(await card("prompt_a")).getByText("minLength: got 0, want 1")).toBeTruthy();
  expect(screen.queryByText(new RegExp(invalid.pointer))).toBeNull();
});

test("a click sends the card's action with its parameters, shows how far it is, and the results beneath the card", async () => {
  const user = userEvent.setup();
  server.answers["POST /workflow/wr_1/sub-action/stream"] = () => { server.jobs = [job()]; return stream(["accepted", { metadata_id: "gm_1", position: 0 }]); };
  await show();
  const a = await card("prompt_a");
  await user.click(within(a).getByText(/^Parameters/));
  await user.click(await within(a).findByRole("radio", { name: "relax" }));
  await user.click(within(a).getByRole("button", { name: "Generate Images" }));
  await within(a).findByText("Loading...");
  const sent = server.of("POST", "sub-action/stream")[0];
  expect(sent?.body).toMatchObject({ interaction_id: "in_1", path: "/prompts/midjourney/prompt_a", sub_action_id: "generate", params: { speed: "relax" } });
  expect(sent?.headers.get("Idempotency-Key")).toBe((sent?.body as { request_id: string }).request_id);
  server.event("operation-progress", { metadata_id: "gm_1", message: "half of it" });
  await within(a).findByText(/half of it/);
  expect(within(a).getByRole("button", { name: "Generate Images" })).toHaveProperty("disabled", false);
  server.jobs = [job({ status: "succeeded" })];
  for (const s of cases.steps.slice(0, 5)) server.event("interaction-patched", { interaction_id: "in_1", version: s.version, patch: s.patch, changes: s.changes });
  await within(a).findByRole("button", { name: "Choose prompt_a, result 1" });
  await waitFor(() => expect(within(a).queryByText("Loading...")).toBeNull());
  expect(JSON.parse(localStorage.getItem("atelier-params") ?? "")).toEqual({ midjourney: { speed: "relax" } });
  await user.click(within(a).getByRole("button", { name: "Reset to defaults" }));
  expect(await within(a).findByRole("radio", { name: "fast" })).toHaveProperty("checked", true);
});

test("a cleared number stays empty for the next one; left empty, the default is sent", async () => {
  const user = userEvent.setup();
  await show();
  const a = await card("phoenix_1_0");
  await user.click(within(a).getByText(/^Parameters/));
  const width = await within(a).findByRole<HTMLInputElement>("textbox", { name: "Width" });
  await user.clear(width);
  expect(width.value).toBe("");
  await user.type(width, "512");
  expect(width.value).toBe("512");
  await user.click(within(a).getByRole("button", { name: "Generate Images" }));
  await waitFor(() => expect(server.of("POST", "sub-action/stream")[0]?.body).toMatchObject({ params: { width: 512 } }));
  await user.clear(width);
  await user.click(within(a).getByRole("button", { name: "Generate Images" }));
  await waitFor(() => expect((server.of("POST", "sub-action/stream")[1]?.body as { params?: object }).params ?? {}).toEqual({}));
  expect(width.value).toBe("");
});

test("an approval names the version that was shown; when others have changed the data, it is shown and decided again", async () => {
  const user = userEvent.setup();
  await show({ ...before, interaction_type: "approval" });
  const path = "POST /api/interactions/in_1/answer";
  server.answers[path] = () => json({ code: "stale_data", detail: "The data has changed." }, 409);
  server.interaction = { ...stand(1), interaction_type: "approval" };
  await user.click(screen.getByRole("button", { name: "Approve" }));
  await screen.findByText(/The data has changed/);
  await within(await card("prompt_a")).findByText("A lighthouse, ...");
  server.answers[path] = () => json({});
  await user.click(screen.getByRole("button", { name: "Approve" }));
  await waitFor(() => expect(server.of("POST", "/answer").map((a) => a.body)).toEqual([before.version, stand(1).version].map((version) => ({ approved: true, version }))));
});

test("a retry whose response was lost is repeated under its key", async () => {
  const user = userEvent.setup();
  server.jobs = [job({ status: "failed", error: { code: "unavailable", message: "It is down.", retryable: true } })];
  server.answers["POST /api/sub-actions/gm_1/retry"] = () => { throw new TypeError("network"); };
  await show();
  const retry = await within(await card("prompt_a")).findByRole("button", { name: "Retry" });
  for (const times of [1, 2]) {
    await user.click(retry);
    await waitFor(() => expect(server.of("POST", "/retry")).toHaveLength(times));
    await waitFor(() => expect(retry).toHaveProperty("disabled", false));
  }
  const [first, second] = server.of("POST", "/retry").map((r) => r.headers.get("Idempotency-Key"));
  expect(second).toBe(first);
});

test("Ctrl+Z undoes edits of the data, and leaves parameters to the browser", async () => {
  const user = userEvent.setup();
  server.answers["PATCH /api/interactions/in_1"] = () => json(cases.steps[0]);
  await show();
  const a = await card("prompt_a");
  const box = await within(a).findByRole<HTMLInputElement>("textbox", { name: "Subject" });
  fireEvent.change(box, { target: { value: "A lighthouse" } });
  await user.click(within(a).getByText(/^Parameters/));
  fireEvent.keyDown(await within(a).findByRole("radio", { name: "relax" }), { key: "z", ctrlKey: true });
  expect(box.value).toBe("A lighthouse");
  fireEvent.keyDown(box, { key: "z", ctrlKey: true });
  expect(box.value).not.toBe("A lighthouse");
});

test("a failed start stays on its card while another tab of the page is open", async () => {
  const user = userEvent.setup();
  server.answers["POST /workflow/wr_1/sub-action/stream"] = () => json({ code: "unavailable", detail: "It is down.", retryable: true }, 503);
  await show(JSON.parse(JSON.stringify(before).replaceAll('"card-stack"', '"tabs"')) as Interaction);
  await user.click(within(await card("prompt_a")).getByRole("button", { name: "Generate Images" }));
  await within(await card("prompt_a")).findByRole("alert");
  await user.click(screen.getByRole("tab", { name: "prompt_b" }));
  expect(within(await card("prompt_b")).queryByRole("alert")).toBeNull();
  await user.click(screen.getByRole("tab", { name: "prompt_a" }));
  expect(within(await card("prompt_a")).getByRole("alert").textContent).toContain("It is down.");
});

test("what fails stays on its card with what to do, as a toast, and blocks no other card", async () => {
  const user = userEvent.setup();
  server.jobs = [job()];
  await show();
  const a = await card("prompt_a");
  await within(a).findByText("Loading...");
  server.jobs = [job({ status: "failed", error: { code: "unavailable", message: "The provider is down.", retryable: true } })];
  server.event("operation-finished", { metadata_id: "gm_1" });
  const alert = await within(a).findByRole("alert");
  expect(alert.textContent).toContain("The provider is down.Retry it; if it fails again, change the prompt.");
  await screen.findByText("prompt_a: The provider is down.");
  await screen.findByText("Retry it; if it fails again, change the prompt. The other cards are not affected.");
  await user.click(within(alert).getByRole("button", { name: "Retry" }));
  await waitFor(() => expect(server.of("POST", "/sub-actions/gm_1/retry")).toMatchObject([{ body: {} }]));
  expect(within(await card("anime_xl")).getByRole("button", { name: "Generate Images" })).toHaveProperty("disabled", false);
});

test("what was moderated is not asked for again: the prompt is changed; other results are, each by itself", async () => {
  const slot = (position: number, code: string) => ({ position, code, message: `It is ${code}.`, retryable: code !== "moderated" });
  server.jobs = [
    job({ id: "gm_1", status: "moderated", error: { code: "moderated", message: "Refused.", retryable: false }, errors: [slot(1, "moderated")] }),
    job({ id: "gm_2", prompt_id: "prompt_b", status: "failed", error: { code: "unavailable", message: "Failed.", retryable: true }, errors: [slot(1, "moderated"), slot(2, "unavailable")] }),
  ];
  await show();
  const refused = await within(await card("prompt_a")).findByRole("alert");
  expect(refused.textContent).toBe("Picture 1: It is moderated.The provider refused this prompt: change it, then generate again.");
  expect(remedy(job({ id: "gm_3", status: "cancelled", errors: [{ ...slot(1, "cancelled"), retryable: false }] }))).toBe("Retry it if you want it after all.");
  const both = await within(await card("prompt_b")).findByRole("alert");
  expect(within(both).getAllByRole("button").map((b) => b.textContent)).toEqual(["Retry picture 2"]);
});

test("a click that the server refuses says why, and is tried again under its key", async () => {
  const user = userEvent.setup();
  server.answers["POST /workflow/wr_1/sub-action/stream"] = () => json({ code: "missing_key", detail: "Midjourney has no key.", hint: "Set it, or use the offline painter.", retryable: false }, 424);
  await show();
  const a = await card("prompt_a");
  await user.click(within(a).getByRole("button", { name: "Generate Images" }));
  const alert = await within(a).findByRole("alert");
  expect(alert.textContent).toContain("Midjourney has no key.");
  await user.click(within(alert).getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(server.of("POST", "sub-action/stream")).toHaveLength(2));
  const [one, two] = server.of("POST", "sub-action/stream").map((c) => c.headers.get("Idempotency-Key"));
  expect(two).toBe(one);
  await user.click(await within(await card("prompt_a")).findByRole("button", { name: "Use the offline painter" }));
  await waitFor(() => expect(server.of("POST", "sub-action/stream")[2]?.body).toMatchObject({ stand_in: "offline" }));
});

test("one result is chosen by mouse or keyboard, then Continue answers; running sub-actions are asked about", async () => {
  const user = userEvent.setup();
  await show(stand(6));
  const go = screen.getByRole("button", { name: "Continue" });
  expect(go).toHaveProperty("disabled", true);
  await user.click(screen.getByRole("button", { name: "Choose prompt_b, result 1" }));
  const tile = screen.getByRole("button", { name: "Choose prompt_a, result 1" });
  tile.focus();
  await user.keyboard("{ArrowRight}{Enter}");
  expect(screen.getAllByRole("button", { pressed: true }).map((b) => b.getAttribute("aria-label"))).toEqual(["Choose prompt_a, result 2"]);
  server.answers["POST /api/interactions/in_1/answer"] = () => json({ code: "sub_actions_running", detail: "2 sub-actions have not ended" }, 409);
  await user.click(go);
  const asked = await screen.findByRole("dialog");
  delete server.answers["POST /api/interactions/in_1/answer"];
  await user.click(within(asked).getByRole("button", { name: "Let it finish" }));
  await waitFor(() => expect(server.of("POST", "/answer").map((a) => a.body)).toEqual([{ selected_content_id: "gc_4" }, { selected_content_id: "gc_4", running: "keep" }]));
});

test("the chosen results are still chosen after a reload", async () => {
  await show(stand(6));
  fireEvent.click(screen.getByRole("button", { name: "Choose prompt_b, result 1" }));
  cleanup();
  await show(stand(6));
  expect(screen.getAllByRole("button", { pressed: true }).map((b) => b.getAttribute("aria-label"))).toEqual(["Choose prompt_b, result 1"]);
});

test("an unknown render_as is shown as it is, and hidden parts are not shown", async () => {
  const node = (key: string, render_as: string, more: Partial<Node> = {}): Node => ({ pointer: `/${key}`, key, label: key, render_as, type: "string", schema: `/properties/${key}`, ...more });
  const children = [node("odd", "carousel"), node("secret", "text", { display: "hidden" }), node("note", "markdown"), node("rows", "table", { type: "array", children: [node("rows/0", "key-value", { key: "0", type: "object", children: [node("rows/0/name", "text", { key: "name", label: "Name" })] })] })];
  await show({ ...before, display_data: { odd: "as it is", secret: "not shown", note: "**bold**", rows: [{ name: "First" }] }, view: { pointer: "", key: "", label: "", render_as: "key-value", type: "object", schema: "", children } });
  await screen.findByText(/does not draw “carousel”/);
  expect(screen.getByText("as it is")).toBeTruthy();
  expect(screen.queryByText("not shown")).toBeNull();
  expect((await screen.findByText("bold")).tagName).toBe("STRONG");
  expect(within(screen.getByRole("table")).getByRole("cell", { name: "First" })).toBeTruthy();
});
