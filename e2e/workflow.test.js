// Workflows over the real server, without a key: start, edit in two tabs, approve, cancel, repeat.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { browser, check, until, variantSample } from "./browser.js";
import { card, example, largeWorkflow, serverFixture, waitForStatus, waitUntilSaved } from "./server-fixture.js";

const b = browser();
const s = serverFixture();

const review = {
  id: "two-looks", title: "Two looks",
  steps: ["first", "second"].map((id) => ({ id, module_id: "review.approve", inputs: { title: `The ${id} look`, data: { text: "Publish it?" } }, output: id })),
};

describe("the page of workflows", () => {
  for (const variant of variantSample) {
    test(`lists them, and shows a definition with a preview of its first interaction, ${variant.name}`, () => b.page(`${s.url}/workflows`, variant, async (page) => {
      await page.getByText("Product photo variants with approval").waitFor();
      await check(page, `workflows ${variant.name}`);
      await page.getByText("Product photo variants with approval").click();
      await page.getByRole("textbox", { name: "Product" }).first().fill("a kettle");
      await page.getByText("a kettle, on an oak kitchen table, morning sun light").waitFor();
      assert.equal(await page.locator(".preview input, .preview textarea").first().evaluate((e) => getComputedStyle(e).opacity), "1", "the preview is hard to read");
      await check(page, `workflow definition ${variant.name}`);
    }));
  }

  test("names what is wrong in a definition at its line, and starts what was written", () => b.page(`${s.url}/workflows/new`, {}, async (page) => {
    const text = page.getByRole("textbox", { name: "Definition" });
    await text.fill(JSON.stringify(review, null, 2).replace("review.approve", "review.aprove"));
    await page.getByRole("button", { name: "Line 7," }).waitFor();
    assert.ok(await page.getByRole("button", { name: "Start" }).isDisabled());
    await check(page, "workflow definition with a problem");
    await text.fill(JSON.stringify(review, null, 2));
    await page.getByRole("heading", { name: "The first look" }).waitFor();
    await text.fill(JSON.stringify(review, null, 2).replace("The first look", "The newest look"));
    await page.getByRole("button", { name: "Start" }).click(); // at once: it waits for the check of the newest text
    await page.waitForURL(/\/workflows\/runs\//);
    await page.getByRole("heading", { name: "The newest look" }).waitFor();
    await page.getByRole("button", { name: "Approve" }).waitFor();
  }));
});

test("a problem far down in a definition is one click away, at its number", () => b.page(`${s.url}/workflows/product-variants`, { viewport: { width: 1280, height: 600 } }, async (page) => {
  const text = page.getByRole("textbox", { name: "Definition" });
  const long = await text.inputValue();
  const line = long.slice(0, long.indexOf("module_id: review.approve")).split("\n").length;
  await text.fill(long.replace("module_id: review.approve", "module_id: review.aprove"));
  await page.getByRole("button", { name: `Line ${line},` }).click();
  const frame = await page.locator(".text-editor").boundingBox();
  const mark = await page.locator(".text-editor-lines [data-problem]").boundingBox();
  assert.ok(mark.y >= frame.y && mark.y + mark.height <= frame.y + frame.height, "the number of the line is out of sight");
  const [numbers, box] = await Promise.all([".text-editor-lines", ".text-editor textarea"].map((p) => page.locator(p).boundingBox()));
  assert.ok(Math.abs(numbers.y - box.y) < 1 && Math.abs(numbers.height - box.height) < 20, "the numbers are not beside their lines");
}));

for (const variant of variantSample) {
  test(`names without spaces stay within the page, ${variant.name}`, async () => {
    const name = "Donaudampfschifffahrtsgesellschaft".repeat(6);
    const steps = review.steps.map((step) => ({ ...step, title: name, inputs: { ...step.inputs, title: name } }));
    await b.page(await s.startRun({ ...review, title: name, steps }), variant, async (page) => {
      await page.getByRole("heading", { name }).first().waitFor();
      await check(page, `workflow run with long names ${variant.name}`);
      await page.goto(`${s.url}/workflows`);
      await page.locator(".run-item", { hasText: name }).first().waitFor();
      await check(page, `workflow runs with long names ${variant.name}`);
    });
  });
}

describe("an approval", () => {
  test("goes on to the next step and to the end, after kill -9 of the server, and is repeated from a step", async () => {
    await b.page(await s.startRun(review), {}, async (page) => {
      await page.getByRole("heading", { name: "The first look" }).waitFor();
      await page.getByRole("textbox", { name: "Comment" }).fill("Fine");
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByRole("heading", { name: "The second look" }).waitFor();
      await s.stop("SIGKILL");
      await s.start();
      await page.reload();
      await page.getByRole("heading", { name: "The second look" }).waitFor();
      await page.getByRole("button", { name: "Reject" }).click();
      await page.getByRole("heading", { name: "Result", exact: true }).waitFor();
      await waitForStatus(page, "Done");
      assert.match(await page.locator(".outcome pre").innerText(), /"first": \{\s*"approved": true,\s*"comment": "Fine"[^]*"approved": false/);
      await check(page, "workflow run done");
      await page.getByRole("button", { name: "Show the interaction" }).first().click();
      await page.getByRole("button", { name: "Hide the interaction" }).waitFor();
      await page.getByText("This interaction is answered").waitFor();
      const before = page.url();
      await page.getByRole("button", { name: "Run again from here" }).last().click();
      await page.waitForURL((u) => u.href !== before);
      await page.getByRole("heading", { name: "The second look" }).waitFor();
      await page.getByRole("link", { name: "forked from another run" }).waitFor();
    });
  });

  test("that nobody gives is cancelled with its run", async () => b.page(await s.startRun(review), {}, async (page) => {
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await waitForStatus(page, "Cancelled");
    assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
  }));
});

describe("the example's prompts", () => {
  for (const variant of variantSample) {
    test(`are forms and text areas; edits are saved, undone, and there after a reload, ${variant.name}`, async () => b.page(await s.startRun(example()), variant, async (page) => {
      const a = card(page, "prompt_a");
      await a.getByRole("textbox", { name: "Subject" }).fill("A lighthouse");
      await a.getByText("A lighthouse, ...").waitFor();
      await waitUntilSaved(page);
      await card(page, "anime_xl").getByRole("textbox", { name: "Prompt" }).fill("Primary subject: {{ key }} rain");
      await card(page, "anime_xl").locator(".wf-prompt").getByText("Primary subject: {{ key }} rain").waitFor();
      await check(page, `workflow example ${variant.name}`);
      await page.reload();
      await until(async () => (await a.getByRole("textbox", { name: "Subject" }).inputValue()) === "A lighthouse");
      await a.getByRole("textbox", { name: "Subject" }).fill("A harbour");
      await a.getByText("A harbour, ...").waitFor();
      await a.getByRole("textbox", { name: "Subject" }).press("Control+z");
      await a.getByText("A lighthouse, ...").waitFor();
      await waitUntilSaved(page);
    }));
  }

  test("merge between two tabs, and show a conflict where both wrote the same", async () => {
    const address = await s.startRun(example());
    await b.page(address, {}, async (one, context) => {
      const two = await context.newPage();
      await two.goto(address);
      const [mine, theirs] = [one, two].map((p) => card(p, "prompt_a"));
      await mine.getByRole("textbox", { name: "Subject" }).fill("A lighthouse");
      await until(async () => (await theirs.getByRole("textbox", { name: "Subject" }).inputValue()) === "A lighthouse");
      await theirs.getByRole("textbox", { name: "Environment" }).fill("at sea");
      await mine.getByText("A lighthouse, at sea").waitFor();
      await waitUntilSaved(two);
      // The second tab's edit is held back while the first tab edits the same field.
      const held = [];
      await two.route("**/api/interactions/**", async (r) => (r.request().method() === "PATCH" && held.length === 0 ? held.push(r) : r.continue()));
      await theirs.getByRole("textbox", { name: "Subject" }).fill("A harbour");
      await until(() => held.length === 1);
      await mine.getByRole("textbox", { name: "Subject" }).fill("A mountain");
      await waitUntilSaved(one);
      await mine.getByText("A mountain, at sea").waitFor();
      await held[0].continue();
      await theirs.getByText("Changed elsewhere").waitFor();
      await check(two, "workflow conflict");
      await theirs.getByRole("button", { name: "Keep mine" }).click();
      await waitUntilSaved(two);
      await mine.getByText("A harbour, at sea").waitFor();
    });
  });

  test("stay on the page while the server is down, and are saved when it is back", async () => b.page(await s.startRun(example()), {}, async (page) => {
    const subject = card(page, "prompt_a").getByRole("textbox", { name: "Subject" });
    await subject.waitFor();
    const failed = [];
    page.on("requestfailed", (r) => { if (r.method() === "GET") failed.push(new URL(r.url()).pathname.split("/")[2]); });
    await s.stop("SIGKILL");
    await subject.fill("A lighthouse");
    await page.getByText("Not saved: The server cannot be reached.").waitFor();
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange"))); // the page reads everything again
    for (const path of ["workflow-runs", "interactions"]) await until(() => failed.filter((f) => f === path).length >= 3);
    assert.equal(await subject.inputValue(), "A lighthouse");
    await s.start();
    await waitUntilSaved(page);
    await card(page, "prompt_a").getByText("A lighthouse, ...").waitFor();
  }));

  test("that the server refuses because the token has expired are there after the login, and are saved", async () => b.page(await s.startRun(example()), {}, async (page) => {
    const address = page.url();
    const subject = card(page, "prompt_a").getByRole("textbox", { name: "Subject" });
    await page.route("**/api/interactions/*", (r) => (r.request().method() === "PATCH" ? r.fulfill({ status: 401, contentType: "application/problem+json", body: '{"status":401,"code":"unauthorized","detail":"the access token has expired"}' }) : r.continue()));
    await subject.fill("A thought that must not be lost");
    await page.waitForURL(/\/login\?next=%2Fworkflows%2Fruns%2F/);
    await page.unroute("**/api/interactions/*");
    await page.goto(address);
    await waitUntilSaved(page);
    await card(page, "prompt_a").getByText("A thought that must not be lost, ...").waitFor();
    assert.equal(await subject.inputValue(), "A thought that must not be lost");
  }));

  test("cannot be continued from before anything is chosen", async () => b.page(await s.startRun(example()), {}, async (page) => {
    await page.getByText("Choose one result to continue.").waitFor();
    assert.ok(await page.getByRole("button", { name: "Continue" }).isDisabled());
  }));
});

test("two hundred prompts and two thousand results scroll with a bounded page", async () => b.page(await s.startRun(largeWorkflow(200, 2000)), {}, async (page) => {
  await card(page, "prompt_0").getByRole("textbox", { name: "Subject" }).waitFor();
  const to = (part) => page.evaluate((p) => window.scrollTo({ top: p * document.documentElement.scrollHeight }), part);
  for (const part of [0.2, 0.5, 0.8, 1, 0.6, 0.1]) {
    await to(part);
    await page.waitForFunction(() => [...document.querySelectorAll(".wf-card, .tile")].some((e) => { const r = e.getBoundingClientRect(); return r.bottom > 0 && r.top < window.innerHeight; }));
    await until(() => page.evaluate(() => document.querySelectorAll("*").length < 4000));
  }
}));
