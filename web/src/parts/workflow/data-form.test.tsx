import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { fireEvent } from "@testing-library/dom";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, expect, test, vi } from "vitest";
import { queryClient } from "../../api/queries";
import { arrange } from "../../schema/layout";
import type { Block } from "../../schema/layout";
import type { JSONValue } from "../../schema/pointer";
import DataForm from "./data-form";

const media = { id: "m1", ref: "img-a", modality: "image", mime_type: "image/png", label: "a harbour", url: "/media/m1" };
beforeEach(() => vi.stubGlobal("fetch", vi.fn(async (path: string) => new Response(JSON.stringify(path.startsWith("/api/media?") ? { items: [media] } : { ...media, parents: [], children: [], sub_actions: [] })))));

const changed = vi.fn<(v: JSONValue | undefined) => void>();
beforeEach(() => changed.mockClear());

function Held({ schema, layout, first }: { schema: object; layout?: Block[]; first: JSONValue }) {
  const [value, setValue] = useState<JSONValue | undefined>(first);
  return <DataForm schema={schema} layout={layout} value={value} onChange={(v) => { changed(v); setValue(v); }} />;
}

const show = (schema: object, first: JSONValue, layout?: Block[]) => render(
  <MantineProvider><QueryClientProvider client={queryClient}><Held schema={schema} first={first} {...(layout && { layout })} /></QueryClientProvider></MantineProvider>,
);
const last = () => changed.mock.lastCall?.[0];

const schema = {
  type: "object",
  properties: {
    title: { type: "string" }, count: { type: "integer", minimum: 1 }, strength: { type: "number", minimum: 0, maximum: 1 }, speed: { enum: ["fast", "relax", "turbo"] },
    tags: { type: "array", uniqueItems: true, items: { enum: ["sea", "land"] } }, raw: { type: "boolean" }, tint: { type: "string", format: "color" },
    words: { type: "array", items: { type: "string" } }, light: { type: "object", properties: { from: { type: "string" } } },
    mode: { oneOf: [{ title: "Plain", type: "object", properties: { kind: { const: "plain", default: "plain" } } }, { title: "Styled", type: "object", properties: { kind: { const: "styled", default: "styled" }, style: { type: "string" } } }] },
    images: { type: "array", items: { type: "string", format: "media" }, maxItems: 2 }, other: { type: "object" },
  },
};
const value = { title: "Sea", count: 2, strength: 0.5, speed: "fast", tags: ["sea"], raw: false, tint: "#112233", words: ["one"], light: { from: "left" }, mode: { kind: "plain" }, images: [], other: { a: 1 } };

test("every kind of field has its input, and opening the form changes nothing", async () => {
  show(schema, value, arrange(Object.keys(schema.properties), { rows: [[{ field: "strength", widget: "slider" }, "title"]] }));
  expect((await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Title" })).value).toBe("Sea");
  for (const [role, name] of [["slider", "Strength"], ["textbox", "Strength, exact value"], ["textbox", "Count"], ["checkbox", "Raw"], ["textbox", "From"], ["button", "Pick Images"]] as const) expect(screen.getByRole(role, { name })).toBeTruthy();
  expect(screen.getAllByRole("radio").map((r) => (r as HTMLInputElement).checked)).toEqual([true, false, false]);
  expect(screen.getByDisplayValue("#112233")).toBeTruthy();
  expect(screen.getByDisplayValue('{"a":1}')).toBeTruthy();
  expect(changed).not.toHaveBeenCalled();
});

test("dates and times have the formats of JSON Schema", async () => {
  show({ type: "object", properties: { day: { type: "string", format: "date" }, at: { type: "string", format: "date-time" }, clock: { type: "string", format: "time" } } }, {});
  for (const [name, text] of [["Day", "2026-11-30"], ["At", "2026-11-30T12:30"], ["Clock", "13:45"]] as const) fireEvent.change(await screen.findByLabelText(name), { target: { value: text } });
  expect(last()).toEqual({ day: "2026-11-30", at: new Date("2026-11-30T12:30").toJSON(), clock: "13:45:00Z" });
  expect(screen.queryByText(/not a valid/)).toBeNull();
});

test("each input changes its own value only", async () => {
  const user = userEvent.setup();
  show(schema, value);
  fireEvent.change(await screen.findByRole("textbox", { name: "Title" }), { target: { value: "Lake" } });
  expect(last()).toEqual({ ...value, title: "Lake" });
  await user.click(screen.getByRole("radio", { name: "turbo" }));
  await user.click(screen.getByRole("checkbox", { name: "Raw" }));
  fireEvent.change(screen.getByRole("textbox", { name: "From" }), { target: { value: "" } });
  expect(last()).toEqual({ ...value, title: "Lake", speed: "turbo", raw: true, light: { from: "" } });
  fireEvent.change(screen.getByDisplayValue('{"a":1}'), { target: { value: '{"a":2}' } });
  expect((last() as typeof value).other).toEqual({ a: 2 });
});

test("a picture is picked of those that are there, and taken out again", async () => {
  const user = userEvent.setup();
  show(schema, value);
  await user.click(await screen.findByRole("button", { name: "Pick Images" }));
  await user.click(await screen.findByRole("button", { name: "Pick a harbour" }));
  expect((last() as { images: string[] }).images).toEqual(["m1"]);
  await user.click(await screen.findByRole("button", { name: "Remove a harbour" }));
  expect((last() as { images: string[] }).images).toEqual([]);
});

test("an uploaded file can be uploaded again after it was removed", async () => {
  const user = userEvent.setup();
  vi.stubGlobal("XMLHttpRequest", class { upload = {}; status = 201; responseText = JSON.stringify(media); onload = () => undefined; open() {} send() { this.onload(); } });
  show(schema, value);
  const input = await screen.findByLabelText<HTMLInputElement>("Upload Images");
  await user.upload(input, new File(["x"], "a.png", { type: "image/png" }));
  await waitFor(() => expect((last() as { images: string[] }).images).toEqual(["m1"]));
  expect(input.value).toBe(""); // otherwise the browser reports no change for the same file
});

test("rows, sections, groups and tabs are drawn in order, with spans; what the layout does not name follows", async () => {
  const layout = { rows: [[{ field: "title", span: 8 }, { field: "count", help: "How many" }]], sections: [{ title: "More", folded: true, rows: [["speed"]] }], groups: [{ title: "Looks", order: ["tint"] }], tabs: [{ title: "A", order: ["raw"] }, { title: "B", order: ["light"] }] };
  const { container } = show(schema, value, arrange(Object.keys(schema.properties), layout));
  await screen.findByRole("textbox", { name: "Title" });
  expect([...container.querySelectorAll<HTMLElement>(".form-cell")].slice(0, 2).map((c) => c.style.getPropertyValue("--span"))).toEqual(["8", "4"]);
  expect(screen.getByText("How many")).toBeTruthy();
  expect(screen.getByText("More").closest("details")?.open).toBe(false);
  expect(within(screen.getByRole("group", { name: "Looks" })).getByDisplayValue("#112233")).toBeTruthy();
  expect([screen.getAllByRole("tab").map((t) => t.textContent), screen.queryByRole("textbox", { name: "From" })]).toEqual([["A", "B"], null]);
  await userEvent.setup().click(screen.getByRole("tab", { name: "B" }));
  expect(await screen.findByRole("textbox", { name: "From" })).toBeTruthy();
});

test("a field is there while its condition holds, and keeps its value", async () => {
  show(schema, value, arrange(Object.keys(schema.properties), { rows: [["title"], [{ field: "light", visible_when: { field: "title", equals: "Sea" } }]] }));
  const title = await screen.findByRole("textbox", { name: "Title" });
  expect(screen.getByRole("textbox", { name: "From" })).toBeTruthy();
  fireEvent.change(title, { target: { value: "Land" } });
  await waitFor(() => expect(screen.queryByRole("textbox", { name: "From" })).toBeNull());
  expect(last()).toEqual({ ...value, title: "Land" });
});

test("when a part above appears, the focus stays; when the open tab disappears, another one opens", async () => {
  const user = userEvent.setup();
  const lake = { field: "title", equals: "Lake" };
  const sea = { field: "title", equals: "Sea" };
  show(schema, value, arrange(Object.keys(schema.properties), {
    sections: [{ rows: [["count"]], visible_when: lake }], rows: [["title"]], tabs: [{ title: "A", order: ["raw"], visible_when: sea }, { title: "B", order: ["light"] }, { title: "C", order: ["tint"] }],
  }));
  const title = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Title" });
  const open = () => screen.getByRole("tab", { selected: true }).textContent;
  expect(open()).toBe("A");
  title.focus();
  fireEvent.change(title, { target: { value: "Lake" } });
  await screen.findByRole("textbox", { name: "Count" });
  expect([document.activeElement, open()]).toEqual([title, "B"]);
  await user.click(screen.getByRole("tab", { name: "C" }));
  fireEvent.change(title, { target: { value: "Sea" } });
  await screen.findByRole("tab", { name: "A" });
  expect(open()).toBe("C");
});

test("what is wrong is said at its field as one types", async () => {
  show({ type: "object", required: ["scene"], properties: { scene: { type: "string", minLength: 3 } } }, { scene: "sea" });
  fireEvent.change(await screen.findByRole("textbox", { name: "Scene" }), { target: { value: "s" } });
  expect(await screen.findByText("Use at least 3 characters.")).toBeTruthy();
});

test("what the server says of a field is shown unless the form says it already", async () => {
  const fieldErrors = [{ pointer: "/scene", detail: "minLength: got 1, want 3" }, { pointer: "/mood", detail: "is used up" }];
  render(<MantineProvider><DataForm schema={{ type: "object", properties: { scene: { type: "string", minLength: 3 }, mood: { type: "string" } } }} value={{ scene: "s", mood: "calm" }} fieldErrors={fieldErrors} onChange={changed} /></MantineProvider>);
  await screen.findByText("is used up");
  expect(screen.getByText(/^Use at least 3 characters/).textContent).toBe("Use at least 3 characters.");
});

test("an alternative is chosen with its own fields", async () => {
  const user = userEvent.setup();
  show({ type: "object", properties: { mode: schema.properties.mode } }, { mode: { kind: "plain" } });
  await user.click((await screen.findAllByRole("textbox", { hidden: true })).find((i) => (i as HTMLInputElement).value === "Plain") as HTMLElement);
  await user.click(await screen.findByRole("option", { name: "Styled", hidden: true }));
  await waitFor(() => expect(last()).toMatchObject({ mode: { kind: "styled" } }));
  fireEvent.change(await screen.findByRole("textbox", { name: "Style" }), { target: { value: "oil" } });
  expect(last()).toEqual({ mode: { kind: "styled", style: "oil" } });
});

test("a cleared number with a default stays empty", async () => {
  const user = userEvent.setup();
  show({ type: "object", properties: { n: { type: "integer", default: 1 } } }, { n: 2 });
  const n = await screen.findByRole<HTMLInputElement>("textbox", { name: "N" });
  await user.clear(n);
  expect([n.value, last()]).toEqual(["", {}]);
  await user.type(n, "3");
  expect([n.value, last()]).toEqual(["3", { n: 3 }]);
});

test("a field of any value takes JSON, keeps what is typed, and follows a value from elsewhere", async () => {
  const draw = (extra: JSONValue) => <MantineProvider><DataForm schema={{ type: "object", properties: { extra: {} } }} value={{ extra }} onChange={changed} /></MantineProvider>;
  const { rerender } = render(draw({ note: 1 }));
  const box = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Extra" });
  expect(box.value).toBe('{"note":1}');
  fireEvent.change(box, { target: { value: "[1, 2]" } });
  expect(last()).toEqual({ extra: [1, 2] });
  rerender(draw([1, 2]));
  expect(box.value).toBe("[1, 2]"); // as typed, with its space
  rerender(draw({ note: 1 })); // undone
  await waitFor(() => expect(box.value).toBe('{"note":1}'));
});
