// Actions on one picture: zoom, copy, compare, edit, vary, generate again.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { serve } from "../web/test/server.mjs";
import { animationsFinished, browser, check, until, variantSample } from "./browser.js";

const b = browser();
let s;
let url;
before(async () => {
  s = await serve({ pace: 150 });
  url = `${s.url}/c/${[...s.conversations.values()].find((c) => c.title.startsWith("A lighthouse")).id}`;
});
after(() => s?.stop());

const summer = async (page) => {
  await page.getByRole("button", { name: "a lighthouse in summer" }).click();
  await page.getByRole("button", { name: "Compare" }).waitFor();
};
const scale = (page) => page.locator(".yarl__slide_current .yarl__slide_wrapper").evaluate((slide) => new DOMMatrix(getComputedStyle(slide).transform).a);
const zoomed = (page) => page.waitForFunction(() => {
  const slide = document.querySelector(".yarl__slide_current .yarl__slide_wrapper");
  return new DOMMatrix(getComputedStyle(slide).transform).a > 1.01;
});
const whole = (page) => page.waitForFunction(() => {
  const slide = document.querySelector(".yarl__slide_current .yarl__slide_wrapper");
  return new DOMMatrix(getComputedStyle(slide).transform).a < 1.01;
});

describe("a picture", () => {
  test("is zoomed by wheel and keys", () => b.page(url, { viewport: { width: 700, height: 500 } }, async (page) => {
    await summer(page);
    await page.keyboard.press("+");
    await zoomed(page);
    await page.keyboard.press("-");
    await whole(page);
    await page.mouse.move(350, 200);
    await page.mouse.wheel(0, -400);
    await zoomed(page);
  }));

  test("is zoomed by two fingers", () => b.page(url, { viewport: { width: 390, height: 800 }, hasTouch: true }, async (page, context) => {
    await summer(page);
    await page.waitForFunction(() => document.querySelector(".yarl__slide_current img")?.complete);
    await animationsFinished(page); // the lightbox fades in
    const screen = await context.newCDPSession(page);
    const touch = (type, ...x) => screen.send("Input.dispatchTouchEvent", { type, touchPoints: x.map((at, id) => ({ x: at, y: 300, id })) });
    const pinch = async (from, to) => {
      await touch("touchStart", 195 - from);
      await touch("touchStart", 195 - from, 195 + from);
      for (let step = 1; step <= 8; step++) {
        const half = from + (to - from) * step / 8;
        await touch("touchMove", 195 - half, 195 + half);
        await page.evaluate(() => new Promise(requestAnimationFrame)); // at most one move per frame
      }
      await touch("touchEnd");
    };
    await pinch(30, 150);
    await zoomed(page);
    await until(async () => { // a busy machine skips frames, so the pinch is repeated
      await pinch(150, 20);
      return await scale(page) < 1.01;
    });
  }));

  test("is copied as PNG", () => b.page(url, { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await summer(page);
    await page.getByRole("button", { name: "Copy the picture" }).click();
    await page.getByText("Picture copied").waitFor();
    await page.locator(".mantine-Notification-root").getByRole("button", { name: "Close" }).click({ trial: true });
    const layer = (selector) => page.locator(selector).first().evaluate((e) => Number(getComputedStyle(e).zIndex));
    assert.ok(await layer(".mantine-Notifications-root") > await layer(".yarl__portal"), "the message is below the lightbox");
    const [copied, shown] = await page.evaluate(async () => {
      const sight = async (blob) => {
        const picture = await createImageBitmap(blob);
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [picture.width, picture.height];
        const drawn = canvas.getContext("2d");
        drawn.drawImage(picture, 0, 0);
        return { type: blob.type, width: picture.width, height: picture.height, middle: [...drawn.getImageData(picture.width / 2, picture.height / 2, 1, 1).data] };
      };
      const [item] = await navigator.clipboard.read();
      const image = document.querySelector(".yarl__slide_current img");
      return [await sight(await item.getType("image/png")), await sight(await (await fetch(image.src)).blob())];
    });
    assert.deepEqual(copied, shown);
    assert.equal(copied.type, "image/png");
  }));

  for (const variant of variantSample) {
    test(`is compared with another one, behind a slider and side by side, ${variant.name}`, () => b.page(url, variant, async (page) => {
      await summer(page);
      await page.getByRole("button", { name: "Compare" }).click();
      await page.waitForURL(/media=.+&with=/);
      const slider = page.getByRole("slider", { name: "Visible part of a lighthouse in summer" });
      const shown = () => page.locator(".compare-overlay").evaluate((i) => getComputedStyle(i).clipPath);
      const half = await shown();
      await slider.focus();
      await page.keyboard.press("Home");
      assert.notEqual(await shown(), half);
      await page.keyboard.press("End");
      assert.match(await shown(), /inset\(0(px)? 0(px|%)? /);
      await slider.fill("50");
      await page.getByRole("button", { name: "Compare with a lighthouse in winter" }).click();
      await page.locator(".compare-slider img[alt='a lighthouse in winter']").waitFor();
      await check(page, `compare slider ${variant.name}`);
      await page.getByText("Side by side").click();
      await page.locator(".compare-side figure").nth(1).waitFor();
      await check(page, `compare side ${variant.name}`);
      await page.reload();
      await page.getByRole("heading", { name: "Compare" }).waitFor();
      await page.getByRole("button", { name: "Close the comparison" }).click();
      await page.getByRole("link", { name: "Download" }).waitFor();
    }));

    test(`is asked for again and varied in its place, ${variant.name}`, () => b.page(url, variant, async (page) => {
      await summer(page);
      await page.keyboard.press("v");
      const panel = page.getByRole("complementary", { name: "Vary" });
      await panel.getByText("Nano Banana Pro · 1 picture · $0.039").waitFor();
      await check(page, `vary ${variant.name}`);
      await panel.getByRole("textbox", { name: "Prompt" }).fill("a lighthouse in late summer");
      s.gate.hold();
      await panel.getByRole("button", { name: "Vary" }).click();
      await panel.getByText("Working, 90 %").waitFor();
      s.gate.release();
      await panel.getByRole("button", { name: "Open a lighthouse in late summer" }).waitFor();
      await check(page, `varied ${variant.name}`);
      const asked = [...s.generations.values()].at(-1).asked;
      assert.equal(asked.method, "variation");
      assert.equal(asked.inputs.length, 1);
      await page.reload();
      await page.getByRole("button", { name: "Again" }).click();
      const more = page.getByRole("complementary", { name: "Generate again" });
      await more.getByRole("button", { name: "Open a lighthouse in late summer" }).waitFor();
      await more.getByRole("button", { name: "Generate" }).click();
      await more.getByRole("button", { name: /^Open a lighthouse in summer/ }).click();
      await page.waitForURL((u) => !u.href.includes(asked.inputs[0].media_id));
      assert.equal([...s.generations.values()].at(-1).asked.seed, undefined);
    }));
  }

  test("has panels that are closed on a phone, and whose buttons keep their height", () => b.page(url, { viewport: { width: 360, height: 640 } }, async (page) => {
    await summer(page);
    await page.getByRole("button", { name: "How it was made" }).click();
    const use = page.getByRole("button", { name: "Use in a message" });
    await use.scrollIntoViewIfNeeded();
    assert.ok((await use.boundingBox()).height >= 24);
    await page.getByRole("button", { name: "Close the panel" }).click();
    await page.getByRole("button", { name: "Vary" }).click();
    await page.getByRole("complementary", { name: "Vary" }).getByRole("button", { name: "Vary" }).waitFor();
    await page.getByRole("button", { name: "Close the panel" }).click();
    await page.keyboard.press("ArrowLeft"); // the focus is in the lightbox again
    await page.locator(".lightbox-caption", { hasText: "a lighthouse in spring" }).waitFor();
    await page.getByRole("button", { name: "Compare" }).click();
  }));

  test("that cannot be varied says why before anything is spent", () => b.page(url, {}, async (page) => {
    await summer(page);
    await page.keyboard.press("v");
    await page.getByRole("textbox", { name: "Prompt" }).press("Escape"); // closes the panel, not the picture
    await page.getByRole("complementary").waitFor({ state: "detached" });
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "solid", "the focus is not visible");
    await page.keyboard.press("v");
    await page.getByRole("textbox", { name: "Prompt" }).fill("refuse this");
    await page.getByText("makes no variations. Choose another model.").waitFor();
    assert.ok(await page.getByRole("complementary").getByRole("button", { name: "Vary" }).isDisabled());
  }));

  test("is edited by a message that begins with its words", () => b.page(url, {}, async (page) => {
    await summer(page);
    await page.keyboard.press("e");
    await page.getByRole("list", { name: "Attached files" }).getByText("a lighthouse in summer").waitFor();
    assert.match(await page.getByRole("textbox", { name: "Message" }).inputValue(), /^Edit this picture: a lighthouse in summer, oil on canvas/);
    assert.equal(new URL(page.url()).search, "");
  }));
});
