// Generation in workflows over the real server, without a key: the offline painter substitutes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { browser, check, until, variantSample } from "./browser.js";
import { card, example, serverFixture, waitForStatus, waitUntilSaved } from "./server-fixture.js";

const b = browser();
const s = serverFixture();
const tiles = (page, name) => card(page, name).getByRole("button", { name: /^Choose / });
const loaded = (page) => until(() => page.locator(".tile img").evaluateAll((all) => all.every((i) => i.complete && i.naturalWidth > 0)));
const state = async (page) => (await s.get(`/api/workflow-runs/${page.url().split("/").pop().split("?")[0]}`)).state;

describe("the example", () => {
  for (const variant of variantSample) {
    test(`is edited, generated from several cards at once, chosen and continued, ${variant.name}`, async () => b.page(await s.startRun(example()), variant, async (page) => {
      await card(page, "prompt_a").getByRole("textbox", { name: "Subject" }).fill("A lighthouse");
      await card(page, "prompt_a").getByRole("textbox", { name: "Environment" }).fill("at dusk");
      await card(page, "anime_xl").getByRole("textbox", { name: "Prompt" }).fill("A harbour in summer");
      await card(page, "prompt_a").getByText(/^Parameters/).click();
      await card(page, "prompt_a").getByLabel("Aspect ratio").fill("1:1");
      for (const name of ["prompt_a", "anime_xl"]) await card(page, name).getByRole("button", { name: "Generate Images" }).click();
      await tiles(page, "prompt_a").nth(3).waitFor();
      await tiles(page, "anime_xl").first().waitFor();
      await loaded(page);
      await page.reload();
      await tiles(page, "prompt_a").nth(3).waitFor();
      await tiles(page, "prompt_a").nth(1).click();
      await page.locator(".card-slot").last().scrollIntoViewIfNeeded(); // content far outside the viewport is not drawn
      await tiles(page, "anime_xl").first().press("Enter");
      await card(page, "anime_xl").locator(".tile[data-chosen]").waitFor();
      await until(async () => await page.locator(".tile[data-chosen]").count() === 1);
      await loaded(page);
      await check(page, `workflow generated ${variant.name}`);
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("heading", { name: "Result", exact: true }).waitFor();
      await page.getByRole("button", { name: "Open Chosen picture" }).waitFor();
      assert.match((await state(page)).selected_image, /^gc_/);
      await check(page, `workflow chosen ${variant.name}`);
    }));
  }

  test("shows in a second tab what the first one generates, and opens it with what it is made of", async () => {
    const address = await s.startRun(example());
    await b.page(address, {}, async (one, context) => {
      const two = await context.newPage();
      await two.goto(address);
      await card(two, "prompt_b").waitFor();
      await card(one, "prompt_b").getByRole("textbox", { name: "Subject" }).fill("A boat");
      await card(one, "prompt_b").getByRole("button", { name: "Generate Images" }).click();
      await tiles(two, "prompt_b").nth(3).waitFor();
      await card(two, "prompt_b").getByRole("button", { name: /^Open / }).first().click();
      await two.getByRole("link", { name: "Download" }).waitFor();
      await two.keyboard.press("i");
      await two.getByText("Prompt as sent").last().waitFor();
    });
  });

  test("keeps what fails on its card, while the others go on", async () => b.page(await s.startRun(example()), {}, async (page) => {
    await card(page, "prompt_a").getByRole("textbox", { name: "Subject" }).fill("A boat");
    await card(page, "anime_xl").getByRole("textbox", { name: "Prompt" }).fill("");
    await waitUntilSaved(page);
    await card(page, "anime_xl").getByRole("button", { name: "Generate Images" }).click();
    await card(page, "anime_xl").getByRole("alert").waitFor();
    await card(page, "prompt_a").getByRole("button", { name: "Generate Images" }).click();
    await tiles(page, "prompt_a").first().waitFor();
    await check(page, "workflow failed card");
  }));
});

describe("the shipped workflows", () => {
  test("campaign images: one picture is chosen and exported", async () => b.page(await s.startRun("campaign-images", { brief: "A lighthouse in spring" }), {}, async (page) => {
    await card(page, "hero").getByRole("button", { name: "Generate" }).click();
    await tiles(page, "hero").first().click();
    await page.getByRole("button", { name: "Continue" }).click();
    await waitForStatus(page, "Done");
    assert.ok((await state(page)).campaign.files.length > 0);
  }));

  test("product variants: a call is confirmed, several are chosen and approved", async () => b.page(await s.startRun("product-variants", { product: "a lighthouse" }), {}, async (page) => {
    for (const name of [/^studio/, /^kitchen/]) {
      const c = page.getByRole("article", { name });
      await c.getByRole("button", { name: /^Photograph/ }).click();
      await page.getByRole("dialog").getByRole("button", { name: /^Photograph/ }).click();
      await c.getByRole("button", { name: /^Choose / }).first().click();
    }
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Approve" }).waitFor();
    assert.equal(await page.locator(".node-picture img").count(), 2);
    await page.getByRole("button", { name: "Approve" }).click();
    await waitForStatus(page, "Done");
    assert.equal((await state(page)).approval.approved, true);
  }));

  test("illustrated report: a title picture is chosen, the report written and reviewed", async () => b.page(await s.startRun("illustrated-report", { topic: "lighthouses" }), {}, async (page) => {
    const first = page.locator(".wf-card").first();
    await first.getByRole("button", { name: "Generate" }).click();
    await first.getByRole("button", { name: /^Choose / }).first().click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Approve" }).click();
    await waitForStatus(page, "Done");
  }));
});
