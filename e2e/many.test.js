// Very many pictures: content far outside the viewport is not drawn.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { serve } from "../web/test/server.mjs";
import { browser, check, until, variants } from "./browser.js";

const b = browser();
let s;
let url;
before(async () => {
  s = await serve({ pace: 50 });
  const id = s.talk("Five hundred pictures");
  for (let i = 0; i < 100; i++) exchange(id, `Draw four harbours, ${i}`, 4);
  exchange(id, "And a hundred at once", 100);
  url = `${s.url}/c/${id}`;
});
after(() => s?.stop());

function exchange(conversation, message, n) {
  const run = s.begin("sage", message, conversation);
  const made = Array.from({ length: n }, (_, i) => s.picture(`${message}: ${i}`, 96, 96));
  run.media.push(...made);
  s.end(run, "succeeded", made.map((m) => `\${media:${m.ref}}`).join(" "));
}

const nodes = (page) => page.evaluate(() => document.querySelectorAll("*").length);
const pictures = (page) => page.evaluate(() => document.querySelectorAll(".picture").length);
const scrollTo = (page, part) => page.evaluate((p) => window.scrollTo({ top: p * document.documentElement.scrollHeight }), part);
/** Waits until an element of the selector is in the viewport. */
const waitUntilDrawn = (page, selector) => page.waitForFunction((sel) => [...document.querySelectorAll(sel)].some((e) => {
  const r = e.getBoundingClientRect();
  return r.bottom > 0 && r.top < window.innerHeight;
}), selector);

describe("five hundred pictures", () => {
  for (const variant of variants.slice(0, 2)) {
    test(`of a conversation scroll with a bounded page, ${variant.name}`, () => b.page(url, variant, async (page) => {
      await waitUntilDrawn(page, ".picture");
      for (const part of [1, 0.75, 0.5, 0.25, 0, 0.6]) {
        await scrollTo(page, part);
        await waitUntilDrawn(page, ".exchange");
        const [all, shown] = [await nodes(page), await pictures(page)];
        assert.ok(all < 3000 && shown < 100, `at ${part}: ${all} nodes, ${shown} pictures`);
      }
      await scrollTo(page, 0);
      await page.getByText("Draw four harbours, 0", { exact: true }).waitFor();
    }));

    test(`of the server scroll with a bounded page, are searched and opened, ${variant.name}`, () => b.page(`${s.url}/gallery`, variant, async (page) => {
      await page.locator(".picture[data-loaded]").first().waitFor();
      await check(page, `gallery ${variant.name}`);
      await until(async () => {
        await scrollTo(page, 1);
        await waitUntilDrawn(page, ".picture");
        assert.ok(await pictures(page) < 220, `${await pictures(page)} pictures are drawn`);
        return await page.getByRole("button", { name: "Draw four harbours, 0: 0" }).count() > 0;
      });
      assert.ok(await nodes(page) < 3000);
      await page.getByRole("searchbox", { name: "Search media" }).fill("lighthouse in autumn");
      await page.waitForURL(/q=lighthouse/);
      await page.getByRole("button", { name: "a lighthouse in autumn" }).click();
      await page.waitForURL(/q=lighthouse.*media=|media=.*q=lighthouse/);
      await page.getByRole("button", { name: "Edit" }).click();
      await page.getByRole("list", { name: "Attached files" }).getByText("a lighthouse in autumn").waitFor();
      assert.match(await page.getByRole("textbox", { name: "Message" }).inputValue(), /^Edit this picture: a lighthouse in autumn/);
    }));
  }
});
