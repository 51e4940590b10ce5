// Starts the workflows in docs that show the vocabulary, and draws them. With SCREENSHOTS=1, it
// writes the screenshots of the docs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { animationsFinished, browser, check, until } from "./browser.js";
import { serverFixture, waitUntilSaved } from "./server-fixture.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const [drawn, fields] = ["drawn", "fields"].map((name) => readFileSync(join(root, "docs", `workflow-${name}.yaml`), "utf8"));
const variants = [{ name: "wide", colorScheme: "light", viewport: { width: 1100, height: 1240 } }, { name: "narrow, dark", colorScheme: "dark", viewport: { width: 390, height: 800 } }];

const b = browser();
const s = serverFixture();
const post = async (path, body) => (await fetch(`${s.url}${path}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).json();

/** Starts a workflow of the docs with a generated picture. */
async function started(text) {
  await post("/api/generations", { model: "offline", prompt: "A brass lighthouse", size: "512x512" });
  let picture;
  await until(async () => (picture = (await s.get("/api/media")).items[0]?.id));
  const check = await post("/api/workflows/validate", { text });
  assert.deepEqual(check.problems, []);
  return s.startRun(check.workflow.definition, { picture });
}

async function screenshot(page, name) {
  await animationsFinished(page);
  if (!process.env.SCREENSHOTS) return;
  const [all, foot] = [await page.locator(".interaction").boundingBox(), await page.locator(".answer-bar").boundingBox()];
  await page.screenshot({ path: join(root, "docs", name), clip: { x: all.x - 16, y: all.y - 16, width: all.width + 32, height: Math.min(all.height, foot.y - all.y) + 16 } });
}

describe("the vocabulary as docs/workflows.md shows it", () => {
  for (const variant of variants) {
    test(`draws what data becomes, ${variant.name}`, async () => b.page(await started(drawn), variant, async (page) => {
      assert.equal((await page.getByText("Bold", { exact: true }).evaluate((e) => e.tagName)), "STRONG");
      await page.getByRole("tab", { name: "text" }).click();
      await page.getByText("**Not bold** here").waitFor();
      await page.getByRole("tab", { name: "markdown" }).click();
      await page.getByRole("cell", { name: "12.5" }).waitFor();
      await page.locator("dt", { hasText: "Material" }).waitFor();
      await page.locator("pre", { hasText: '"speed": "fast"' }).waitFor();
      await until(() => page.locator(".node-picture img").evaluateAll((all) => all.length === 1 && all.every((i) => i.naturalWidth > 0)));
      assert.equal(await page.getByText("not shown").count(), 0);
      await check(page, `vocabulary drawn ${variant.name}`);
      if (variant.name === "wide") await screenshot(page, "workflow-drawn.png");
    }));

    test(`draws forms by their layout, ${variant.name}`, async () => b.page(await started(fields), variant, async (page) => {
      const [name, amount] = [page.getByRole("textbox", { name: "Name" }), page.getByRole("textbox", { name: "Amount, exact value" })];
      await name.waitFor();
      const [one, two] = [await name.boundingBox(), await amount.boundingBox()];
      assert.equal(two.x > one.x + one.width, variant.name === "wide"); // side by side if there is room
      assert.equal(await page.getByRole("textbox", { name: "Words" }).evaluate((e) => e.tagName), "TEXTAREA");
      await page.getByText("A few words are enough.").waitFor();
      await page.getByRole("textbox", { name: "To whom" }).waitFor();
      await check(page, `vocabulary fields ${variant.name}`);
      if (variant.name === "wide") await screenshot(page, "workflow-fields.png");
      await page.getByRole("checkbox", { name: "As a gift" }).or(page.getByRole("switch", { name: "As a gift" })).click();
      await page.getByRole("textbox", { name: "To whom" }).waitFor({ state: "hidden" });
      await page.getByRole("tab", { name: "Lines" }).click();
      await until(async () => (await page.getByRole("tabpanel", { name: "Lines" }).getByRole("textbox").first().inputValue()) === "First line");
      await waitUntilSaved(page);
    }));
  }
});
