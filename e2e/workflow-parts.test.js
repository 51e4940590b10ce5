// The vocabulary of display schemas over the real server: what each input saves, what each
// render_as draws, and how results are chosen by mouse, keyboard and touch.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { browser, check, until, variantSample } from "./browser.js";
import { card, serverFixture, waitForStatus, waitUntilSaved } from "./server-fixture.js";

const b = browser();
const s = serverFixture();

const shown = (of, type, render_as, display_label) => ({ type, ...of, _ux: { render_as, ...(display_label && { display_label }) } });
const review = (title, schema, data) => ({ id: "parts", title: "Parts", steps: [{ id: "look", module_id: "review.approve", config: { schema: { type: "object", properties: { data: schema } } }, inputs: { title, data, display_schema: "{{ step.schema }}" } }] });
const interaction = async (page) => {
  const run = await s.get(`/api/workflow-runs/${page.url().split("/").pop()}`);
  return s.get(`/api/interactions/${run.interaction_id}`);
};
const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==", "base64");

/** A card with a field of every kind, arranged in rows, a section, a group and tabs. */
const fields = review("Every kind of field", {
  type: "object", _ux: { render_as: "card-stack", display_label: "Scenes" },
  additionalProperties: {
    type: "object",
    _ux: {
      render_as: "card", display_label: "{{ key }}: {{ $data.title }}",
      input_schema: {
        type: "object", required: ["title"],
        properties: {
          title: { type: "string", maxLength: 60, minLength: 1 },
          story: { type: "string" },
          count: { type: "integer", minimum: 1, maximum: 9 },
          strength: { type: "number", minimum: 0, maximum: 1 },
          mood: { type: "string", enum: ["calm", "stormy"] },
          lens: { type: "string", enum: ["24", "28", "35", "50", "85", "105", "135"] },
          tags: { type: "array", uniqueItems: true, items: { type: "string", enum: ["sea", "sky", "rock"] } },
          people: { type: "boolean" },
          tint: { type: "string", format: "color" },
          shots: { type: "array", items: { type: "string" } },
          camera: { type: "object", properties: { model: { type: "string", maxLength: 40 }, iso: { type: "integer" } } },
          light: { oneOf: [
            { title: "Sun", type: "object", properties: { kind: { const: "sun", default: "sun" }, hour: { type: "integer" } } },
            { title: "Lamp", type: "object", properties: { kind: { const: "lamp", default: "lamp" }, watt: { type: "integer" } } },
          ] },
          reference: { type: "string", format: "media" },
          extra: {},
          storm: { type: "string", maxLength: 40 },
        },
      },
      layout: {
        rows: [[{ field: "title", span: 8 }, { field: "count", widget: "number" }], [{ field: "story", widget: "textarea", help: "What happens in the picture." }]],
        sections: [{ title: "Weather", rows: [["mood"], [{ field: "storm", visible_when: { field: "mood", equals: "stormy" } }]] }],
        groups: [{ title: "Lens and strength", rows: [["lens", { field: "strength", widget: "slider" }]] }],
        tabs: [{ title: "Look", rows: [["tint", "people"], ["tags"]] }, { title: "Gear", rows: [["camera"]] }],
      },
    },
  },
}, { harbour: { title: "Morning", mood: "calm", strength: 0.5, light: { kind: "sun", hour: 6 }, shots: ["wide"], extra: { note: 1 } } });

describe("a form", () => {
  for (const variant of variantSample) {
    test(`has an input for every kind of field, and saves what each gives, ${variant.name}`, async () => b.page(await s.startRun(fields), variant, async (page) => {
      const box = (name) => page.getByRole("textbox", { name, exact: true });
      await box("Title").fill("Evening");
      await page.getByRole("heading", { name: "harbour: Evening" }).waitFor();
      await box("Story").fill("A ship comes home.\nSlowly.");
      await box("Count").fill("3");
      await page.getByRole("textbox", { name: "Strength, exact value" }).fill("0.75");
      assert.equal(await box("Storm").count(), 0);
      await page.getByRole("radio", { name: "stormy" }).check();
      await box("Storm").fill("gale");
      await box("Lens").click();
      await page.getByRole("option", { name: "85" }).click();
      await box("Tint").fill("#336699");
      await box("Tint").press("Tab");
      await page.locator(".mantine-ColorInput-dropdown").waitFor({ state: "hidden" }); // it covers the checkbox on a narrow page
      await page.getByRole("checkbox", { name: "People" }).check();
      await box("Tags").focus();
      await page.keyboard.press("ArrowDown");
      await page.getByRole("option", { name: "sky" }).click();
      await page.getByRole("option", { name: "rock" }).click();
      await page.keyboard.press("Escape");
      await page.getByRole("tab", { name: "Gear" }).click();
      await box("Model").fill("M6");
      await page.locator("input[type=file]").setInputFiles({ name: "reference.png", mimeType: "image/png", buffer: png });
      await page.getByRole("button", { name: "Remove reference.png" }).waitFor();
      await box("Extra").fill("[1, 2]");
      await waitUntilSaved(page);
      await check(page, `workflow fields ${variant.name}`);
      const got = (await interaction(page)).display_data.data.harbour;
      assert.match(got.reference, /^[0-9a-f-]{36}$/);
      delete got.reference;
      assert.deepEqual(got, {
        title: "Evening", story: "A ship comes home.\nSlowly.", count: 3, strength: 0.75, mood: "stormy", storm: "gale", lens: "85", tint: "#336699", people: true,
        tags: ["sky", "rock"], camera: { model: "M6" }, light: { kind: "sun", hour: 6 }, shots: ["wide"], extra: [1, 2],
      });
    }));
  }
});

test("a field that gets the focus by Tab is not below the bar of answers", async () => b.page(await s.startRun(fields), { viewport: { width: 1280, height: 560 } }, async (page) => {
  await page.getByRole("textbox", { name: "Title", exact: true }).focus();
  for (let i = 0; i < 24; i++) {
    await page.keyboard.press("Tab");
    const [field, bar] = await Promise.all([".data-form :focus", ".answer-bar"].map((sel) => page.evaluate((s) => document.querySelector(s)?.getBoundingClientRect(), sel)));
    assert.ok(!field || field.bottom <= bar.top, `field ${i} is below the bar`);
  }
}));

test("the Tab key goes from an open select to the next field", async () => b.page(await s.startRun(fields), {}, async (page) => {
  await page.getByRole("textbox", { name: "Lens", exact: true }).click();
  await page.getByRole("option", { name: "85" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Strength");
}));

test("an interaction is printed in the light theme, without its commands", async () => b.page(await s.startRun(fields), { colorScheme: "dark" }, async (page) => {
  const title = page.getByRole("textbox", { name: "Title", exact: true });
  const colors = (element) => element.evaluate((e) => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]);
  const onScreen = await colors(title);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.deepEqual(await colors(title), ["rgb(33, 31, 27)", "rgb(255, 255, 255)"]);
  assert.deepEqual(await colors(page.locator(".run-status").first()), ["rgb(107, 74, 6)", "rgb(253, 243, 220)"]);
  assert.ok(await page.getByRole("button", { name: "Approve" }).isHidden());
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  assert.deepEqual(await colors(title), onScreen);
}));

test("each text is shown in its own direction", async () => b.page(await s.startRun({ ...fields, title: "منارة عند الغروب" }), {}, async (page) => {
  const [text, whole] = await page.getByRole("heading", { level: 1 }).evaluate((h) => {
    const range = document.createRange();
    range.selectNodeContents(h);
    return [range.getBoundingClientRect().right, h.getBoundingClientRect().right];
  });
  assert.ok(whole - text < 2, `${whole - text} px`);
}));

/** Every render_as, a passthrough part, a hidden part, and a value whose schema is empty. */
const drawn = (url) => {
  const string = { type: "string" };
  const row = { type: "object", properties: { city: string, inhabitants: { type: "integer" } } };
  return review("Every way to draw", {
    type: "object", _ux: { render_as: "section-list", display_label: "All of {{ key }}" },
    properties: {
      words: { ...shown({}, "string", "text", "Words"), title: "not this" },
      prose: shown({}, "string", "markdown", "Prose"),
      program: shown({}, "string", "code", "Program"),
      picture: shown({}, "string", "image", "Picture"),
      sound: shown({}, "string", "audio", "Sound"),
      film: shown({}, "string", "video", "Film"),
      cities: shown({ items: row }, "array", "table", "Cities"),
      facts: shown({ properties: { height: { type: "number", title: "Height" }, lit: { type: "boolean", title: "Lit" } } }, "object", "key-value", "Facts"),
      leaves: shown({ properties: { first: shown({}, "string", "text", "First leaf"), second: shown({}, "string", "text", "Second leaf") } }, "object", "tabs", "Leaves"),
      deck: shown({ additionalProperties: shown({ properties: { note: shown({}, "string", "text", "Note") } }, "object", "card", "{{ $key }} of {{ $data.note }}") }, "object", "card-stack", "Deck"),
      plates: shown({ items: shown({ properties: { name: string } }, "object", "card") }, "array", "grid", "Plates"),
      shots: shown({ items: { type: "object", properties: { url: shown({}, "string", "image") } } }, "array", "media-grid", "Shots"),
      through: { type: "object", _ux: { display: "passthrough", display_label: "Never seen" }, properties: { inner: shown({}, "string", "text", "Inner") } },
      secret: { type: "string", _ux: { display: "hidden" } },
      unforeseen: {},
    },
  }, {
    words: "A long_name_without_any_space_" + "that_goes_on_".repeat(20), prose: "Some **bold** words", program: "a := 1", picture: url, sound: url, film: url,
    cities: [{ city: "Bergen", inhabitants: 291940 }, { city: "Oslo", inhabitants: 717710 }], facts: { height: 47.5, lit: true },
    leaves: { first: "Leaf one", second: "Leaf two" }, deck: { ace: { note: "hearts" } }, plates: [{ name: "Plate one" }], shots: [{ url }],
    through: { inner: "Inside" }, secret: "Nobody reads this", unforeseen: { depth: [1, { deeper: "very" }] },
  });
};

/** Uploads a picture and returns its address. */
async function uploaded() {
  const body = new FormData();
  body.append("file", new Blob([readFileSync(new URL("../docs/workflow-approval.png", import.meta.url))], { type: "image/png" }), "approval.png");
  const answer = await fetch(`${s.url}/api/media`, { method: "POST", body });
  assert.ok(answer.ok, await answer.clone().text());
  return `/media/${(await answer.json()).id}`;
}

describe("a display schema", () => {
  for (const variant of variantSample) {
    test(`has a renderer for every name of the vocabulary, ${variant.name}`, async () => b.page(await s.startRun(drawn(await uploaded())), variant, async (page) => {
      for (const name of ["All of data", "Words", "Prose", "Program", "Cities", "Facts", "Leaves", "Deck", "ace of hearts", "Plates", "Shots"]) await page.getByRole("heading", { name, exact: true }).waitFor();
      await page.getByRole("heading", { name: "Shots" }).scrollIntoViewIfNeeded(); // content far outside the viewport is not drawn
      assert.equal(await page.locator("strong").innerText(), "bold");
      assert.equal(await page.getByLabel("Program").innerText(), "a := 1");
      for (const name of ["Picture", "Shots, result 1"]) await page.getByRole("img", { name }).waitFor();
      for (const [tag, name] of [["audio", "Sound"], ["video", "Film"]]) await page.locator(`${tag}[aria-label=${name}]`).waitFor();
      assert.deepEqual(await page.getByRole("columnheader").allInnerTexts(), ["City", "Inhabitants"].map((t) => t.toLowerCase()));
      assert.deepEqual(await page.getByRole("cell").allInnerTexts(), ["Bergen", "291940", "Oslo", "717710"]);
      assert.deepEqual(await page.getByRole("term").allInnerTexts(), ["Height", "Lit"]);
      await page.getByText("Leaf one").waitFor();
      await page.getByRole("tab", { name: "Second leaf" }).click();
      await page.getByText("Leaf two").waitFor();
      await page.getByText("Inside").waitFor();
      await page.getByLabel("unforeseen").getByText('"deeper": "very"').waitFor();
      for (const text of ["Never seen", "Nobody reads this", "not this"]) assert.equal(await page.getByText(text).count(), 0, text);
      await check(page, `workflow drawn ${variant.name}`);
    }));
  }

  test("whose render_as a newer server knows is shown as it is, and says so", async () => {
    await b.page(await s.startRun(drawn(await uploaded())), {}, async (page) => {
      await page.route("**/api/interactions/*", async (r) => {
        const answer = await r.fetch();
        await r.fulfill({ response: answer, body: (await answer.text()).replace(/("render_as":\s*)"markdown"/g, '$1"hologram"') });
      });
      await page.reload();
      await page.getByText("This page does not draw “hologram”").waitFor();
      await page.getByText("Some **bold** words").waitFor();
    });
  });
});

/** Two groups: one hero, and two or three gallery pictures. */
function groups() {
  const list = (ux) => ({ type: "array", _ux: { render_as: "media-grid", selectable: true, ...ux }, items: { type: "object", properties: { url: { type: "string", _ux: { render_as: "image" } } } } });
  const schema = { type: "object", properties: {
    prompts: { type: "object", _ux: { display: "passthrough" }, additionalProperties: { type: "object", _ux: { render_as: "card-stack", display_label: "Pictures" }, additionalProperties: { type: "string", _ux: { render_as: "card", sub_action: {
      id: "make", label: "Make {{ key }}", action_type: "media.{{ $provider }}.txt2img", result_target: "generations.{{ $provider }}.{{ $key }}", param_defaults: { n: 4 },
    } } } } },
    generations: { type: "object", _ux: { display: "passthrough" }, additionalProperties: { type: "object", _ux: { display: "passthrough" }, properties: {
      hero: list({ selection_group: "hero" }), gallery: list({ selection_group: "gallery", selection_mode: "multiple", selection_min: 2, selection_max: 3 }),
    } } },
  } };
  return { id: "groups", title: "Groups", stand_in: "offline", steps: [{ id: "make", module_id: "media.generation", config: { schema }, inputs: { title: "A hero and a gallery", data: { leonardo: { hero: "A lighthouse", gallery: "The sea" } }, display_schema: "{{ step.schema }}" } }] };
}

describe("choosing", () => {
  const tile = (page, name, n) => page.getByRole("button", { name: `Choose ${name}, result ${n}` });
  const made = async (page) => {
    for (const name of ["hero", "gallery"]) await page.getByRole("button", { name: `Make ${name}` }).click();
    for (const name of ["hero", "gallery"]) await tile(page, name, 4).waitFor();
  };
  const chosen = async (page, ...want) => {
    const names = () => page.locator(".tile-choose[aria-pressed=true]").evaluateAll((all) => all.map((e) => e.getAttribute("aria-label").replace(/^Choose |, result/g, "")));
    await until(async () => JSON.stringify(await names()) === JSON.stringify(want));
  };
  const ways = { // forced, because the button of a result that cannot be chosen is aria-disabled
    mouse: { click: (t) => t.click({ force: true }) },
    touch: { click: (t) => t.tap({ force: true }), options: { hasTouch: true, viewport: { width: 390, height: 800 } } },
  };
  for (const [name, { click, options = {} }] of Object.entries(ways)) {
    test(`is single or of a number by group, with the ${name}`, async () => b.page(await s.startRun(groups()), options, async (page) => {
      await made(page);
      await click(tile(page, "hero", 1));
      await click(tile(page, "hero", 2)); // replaces the first
      await chosen(page, "hero 2");
      await click(tile(page, "gallery", 1));
      await page.getByText("Choose 1 more of gallery to continue.").waitFor();
      assert.ok(await page.getByRole("button", { name: "Continue" }).isDisabled());
      for (const n of [2, 3, 4]) await click(tile(page, "gallery", n)); // the maximum is three: the fourth is ignored
      await chosen(page, "hero 2", "gallery 1", "gallery 2", "gallery 3");
      await click(tile(page, "gallery", 1));
      await chosen(page, "hero 2", "gallery 2", "gallery 3");
      await check(page, `workflow groups ${name}`);
      await click(page.getByRole("button", { name: "Continue" }));
      await waitForStatus(page, "Done");
      const { selected } = (await s.get(`/api/workflow-runs/${page.url().split("/").pop()}`)).state;
      assert.match(selected.hero, /^gc_/);
      assert.equal(selected.gallery.length, 2);
    }));
  }

  test("goes with the keys alone", async () => b.page(await s.startRun(groups()), {}, async (page) => {
    await made(page);
    await tile(page, "hero", 1).focus();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "Space"]) await page.keyboard.press(key);
    await chosen(page, "hero 2");
    await tile(page, "gallery", 4).focus();
    for (const key of ["Enter", "ArrowRight", "Enter"]) await page.keyboard.press(key); // the first follows the last
    await chosen(page, "hero 2", "gallery 1", "gallery 4");
    await page.getByRole("button", { name: "Continue" }).focus();
    await page.keyboard.press("Enter");
    await waitForStatus(page, "Done");
  }));
});
