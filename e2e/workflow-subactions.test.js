// Sub-actions over the real server: progress, cancellation, retry of one result, failures, parameters,
// a closed tab, a lost connection, a provider without its key, prices.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { browser, check, until } from "./browser.js";
import { card, example, serverFixture, waitUntilSaved } from "./server-fixture.js";

const b = browser();
const s = serverFixture({ LEONARDO_API_KEY: "a-key" }); // one provider has a key, so the painter substitutes only where that is allowed

const generate = (page, name) => card(page, name).getByRole("button", { name: "Generate", exact: true });
const tiles = (page, name) => card(page, name).getByRole("button", { name: /^Choose / });
const runOf = (page) => page.url().split("/").pop().split("?")[0];
const rows = async (page) => (await s.get(`/api/workflow-runs/${runOf(page)}/sub-actions`)).items;

/** Cards of the offline painter. Their data controls its behavior. */
const cards = (offline, more = {}) => ({
  id: "cards", title: "Cards",
  steps: [{
    id: "pick", module_id: "media.generation",
    inputs: {
      title: "Pick one", data: { offline },
      param_schemas: { offline: { type: "object", properties: {
        n: { type: "integer", minimum: 1, maximum: 4, title: "Pictures" }, delay_ms: { type: "integer" }, fail: { type: "string" },
        fail_slots: { type: "array", items: { type: "integer" } }, moderate_slots: { type: "array", items: { type: "integer" } },
      } } },
      ...more,
    },
  }],
});
const good = { subject: "A lighthouse", delay_ms: 0, fail: "", fail_slots: [], moderate_slots: [] };
const never = 600_000; // ms: only a cancel ends it

describe("a sub-action", () => {
  test("says how long it continues, leaves the form open, queues another, and is cancelled by itself", async () => b.page(await s.startRun(cards({ slow: { ...good, delay_ms: never }, quick: good })), {}, async (page) => {
    const slow = card(page, "slow");
    await generate(page, "slow").click();
    await slow.getByRole("button", { name: "Cancel" }).waitFor();
    await slow.getByText(/^[1-9][\d.]* (s|min)/).waitFor();
    await slow.getByRole("textbox", { name: "Subject" }).fill("A lighthouse at night");
    await slow.getByText("A lighthouse at night").last().waitFor();
    await generate(page, "quick").click();
    await tiles(page, "quick").first().waitFor();
    await generate(page, "slow").click();
    await until(async () => await slow.getByRole("button", { name: "Cancel" }).count() === 2);
    await check(page, "workflow two under way");
    await slow.getByRole("button", { name: "Cancel" }).first().click();
    await until(async () => await slow.getByRole("button", { name: "Cancel" }).count() === 1);
    assert.deepEqual((await rows(page)).map((r) => r.prompt_as_sent), ["A lighthouse", "A lighthouse", "A lighthouse at night"]);
    await slow.getByRole("button", { name: "Cancel" }).click();
    await until(async () => (await rows(page)).map((r) => r.status).join() === "cancelled,succeeded,cancelled");
    await until(async () => await slow.locator(".spinner").count() === 0);
  }));

  test("keeps what came, and repeats one result by itself, but for what was moderated", async () => b.page(await s.startRun(cards({ partly: { ...good, n: 3, fail_slots: [2], moderate_slots: [3] } })), {}, async (page) => {
    const partly = card(page, "partly");
    await generate(page, "partly").click();
    await tiles(page, "partly").first().waitFor();
    await partly.getByText(/^Picture 2: /).waitFor();
    await partly.getByText(/^Picture 3: /).waitFor();
    assert.equal(await partly.getByRole("button", { name: "Retry picture 3" }).count(), 0);
    await check(page, "workflow partly failed");
    const [asked] = await Promise.all([page.waitForResponse(/\/retry$/), partly.getByRole("button", { name: "Retry picture 2" }).click()]);
    assert.equal(asked.status(), 202);
    assert.deepEqual(asked.request().postDataJSON(), { positions: [2] });
    await until(async () => (await rows(page))[0].finished_at);
    assert.equal((await rows(page)).length, 1); // the retry belongs to the same sub-action
    await page.reload();
    await tiles(page, "partly").first().waitFor();
    await partly.getByText(/^Picture 3: /).waitFor();
  }));

  test("that fails says why and what to do, on its card and as a toast, and stops no other card", async () => b.page(await s.startRun(cards({ broken: { ...good, fail: "unavailable" }, quick: good })), {}, async (page) => {
    const alert = card(page, "broken").getByRole("alert");
    const toast = page.getByText("Retry it; if it fails again, change the prompt. The other cards are not affected.");
    await Promise.all([toast.waitFor(), generate(page, "broken").click()]); // the toast is shown for ten seconds
    await alert.getByText("Retry it; if it fails again, change the prompt.").waitFor();
    await check(page, "workflow failed with toast");
    await generate(page, "quick").click();
    await tiles(page, "quick").first().waitFor();
    await page.reload();
    await alert.getByRole("button", { name: "Retry picture 1" }).click();
    await until(async () => { const all = await rows(page); return all.length === 2 && all[0].finished_at && all[0].status === "failed"; });
  }));

  test("remembers the parameters of its provider over tabs and runs, until they are reset", async () => b.page(await s.startRun(cards({ one: good, two: good })), {}, async (page, context) => {
    await card(page, "one").getByText(/^Parameters/).click();
    await card(page, "one").getByLabel("Pictures").fill("2");
    await generate(page, "one").click();
    await tiles(page, "one").nth(1).waitFor();
    const other = await context.newPage();
    await other.goto(await s.startRun(cards({ fresh: good })));
    await card(other, "fresh").getByText("n 2").waitFor();
    await generate(other, "fresh").click();
    await tiles(other, "fresh").nth(1).waitFor();
    await card(other, "fresh").getByText(/^Parameters/).click();
    await card(other, "fresh").getByRole("button", { name: "Reset to defaults" }).click();
    await generate(other, "fresh").click();
    await until(async () => (await rows(other)).map((r) => r.contents.length).join() === "2,1");
    await other.goto(await s.startRun(cards({ last: good })));
    await card(other, "last").getByText(/^Parameters/).waitFor();
    assert.equal(await card(other, "last").getByText("n 2").count(), 0);
  }));

  test("goes on when its tab is closed and when the connection is lost, and is made once", async () => {
    const address = await s.startRun(cards({ a: { ...good, delay_ms: 1500 }, b: { ...good, delay_ms: 1500 } }));
    await b.page(address, {}, async (page, context) => {
      const other = await context.newPage();
      await other.goto(address);
      await generate(other, "a").click();
      await until(async () => (await rows(page)).length === 1);
      await other.close();
      await generate(page, "b").click();
      await until(async () => (await rows(page)).length === 2);
      await context.setOffline(true);
      await until(async () => (await rows(page)).every((r) => r.finished_at));
      await context.setOffline(false);
      for (const name of ["a", "b"]) await tiles(page, name).first().waitFor();
      assert.deepEqual((await rows(page)).map((r) => r.contents.length), [1, 1]);
    });
  });

  test("of a provider without its key says so, and the offline painter stands in when it is asked to", async () => {
    const { stand_in: _, ...alone } = example();
    await b.page(await s.startRun(alone), {}, async (page) => {
      const a = card(page, "prompt_a");
      await a.getByRole("textbox", { name: "Subject" }).fill("A boat");
      await waitUntilSaved(page);
      await a.getByRole("button", { name: "Generate Images" }).click();
      await a.getByRole("alert").getByText(/midjourney/i).first().waitFor();
      await check(page, "workflow without a key");
      await a.getByRole("button", { name: "Use the offline painter" }).click();
      await tiles(page, "prompt_a").nth(3).waitFor();
      await a.getByText("The offline painter substitutes for midjourney.").waitFor();
    });
  });
});

test("a price is shown before a call that is confirmed, and nothing is begun without a yes", async () => b.page(await s.startRun("product-variants", { product: "a lamp" }), {}, async (page) => {
  const c = page.getByRole("article", { name: /^studio/ });
  await c.getByRole("button", { name: /^Photograph/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/Estimated cost: (free|\$\d)/).waitFor();
  await check(page, "workflow price");
  await dialog.getByRole("button", { name: "Not now" }).click();
  await dialog.waitFor({ state: "hidden" });
  assert.deepEqual(await rows(page), []);
}));

test("a picture leads to the run that it was made in, and says when it was chosen", async () => b.page(await s.startRun(cards({ a: good })), {}, async (page) => {
  await generate(page, "a").click();
  await tiles(page, "a").first().click();
  const run = page.url();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Result", exact: true }).waitFor();
  const [row] = await rows(page);
  await page.goto(`${s.url}/gallery?media=${row.contents[0].media_id}`);
  await page.getByRole("link", { name: "Download" }).waitFor();
  await page.keyboard.press("i");
  await page.getByText(/, chosen /).waitFor();
  await page.getByRole("link", { name: "Made in a workflow, for a" }).click();
  await page.waitForURL(run);
}));

test("a run that waits is repeated from a step that is done, in a run of its own", async () => {
  const steps = ["first", "second"].map((id) => ({ id, module_id: "review.approve", inputs: { title: `The ${id} look`, data: { text: "?" } }, output: id }));
  await b.page(await s.startRun({ id: "looks", title: "Looks", steps }), {}, async (page) => {
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "The second look" }).waitFor();
    const before = page.url();
    await page.getByRole("button", { name: "Run again from here" }).click();
    await page.waitForURL((u) => u.href !== before);
    await page.getByRole("heading", { name: "The first look" }).waitFor();
    assert.equal((await s.get(`/api/workflow-runs/${before.split("/").pop()}`)).status, "paused");
  });
});
