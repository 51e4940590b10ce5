// The pages of the web UI over a server of fixtures: every state in every variant, and what a
// person does with them. The same pages over the real server are in serve.test.js.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { serve } from "../web/test/server.mjs";
import { browser, check, isUncovered, until, variants } from "./browser.js";

const b = browser();
let s;
before(async () => { s = await serve({ pace: 400 }); });
after(() => s?.stop());

const titled = async (title) => {
  const { items } = await (await fetch(`${s.url}/api/conversations`)).json();
  return `${s.url}/c/${items.find((c) => c.title.startsWith(title)).id}`;
};
const message = (page) => page.getByRole("textbox", { name: "Message" });
const send = async (page, text) => { await message(page).fill(text); await page.keyboard.press("Enter"); };
const csv = { name: "sales.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") };

/** Scrolls to an element, and tries again if the page has replaced the element meanwhile. */
async function scrollTo(element, tries = 5) {
  try {
    await element.scrollIntoViewIfNeeded();
  } catch (e) {
    if (tries === 0 || !String(e).includes("not attached")) throw e;
    await scrollTo(element, tries - 1);
  }
}

describe("every state", () => {
  for (const variant of variants) {
    test(variant.name, () => b.page(s.url, variant, async (page) => {
      const at = async (title) => { await page.goto(await titled(title)); await page.locator(".answer").first().waitFor(); };
      await page.getByText("Working offline").waitFor();
      await page.getByText("Charts of a year's sales; the table is attached").waitFor();
      await check(page, `start ${variant.name}`);
      await page.getByRole("button", { name: /Ask a table/ }).click();
      await page.getByRole("list", { name: "Attached files" }).getByText("kB").waitFor();
      await check(page, `attached ${variant.name}`);
      await page.getByRole("button", { name: /^Agent:/ }).click();
      await page.getByText("Answers a question with an illustrated, sourced report.").waitFor();
      await check(page, `agents ${variant.name}`);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^Chat model:/ }).click();
      const reason = page.getByText("OpenRouter requires a key: set OPENROUTER_API_KEY");
      assert.equal(await reason.evaluate((e) => getComputedStyle(e.closest("[role=menuitem]")).opacity), "1", "the reason is hard to read");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("Generate Image").waitFor();
      await check(page, `running ${variant.name}`);
      await page.getByRole("button", { name: "Copy the text" }).waitFor();
      await check(page, `answered ${variant.name}`);
      await at("A lighthouse");
      await scrollTo(page.locator(".pictures .picture").last());
      await page.locator(".pictures .picture[data-loaded]").last().waitFor();
      await check(page, `pictures ${variant.name}`);
      await page.locator(".pictures .picture").first().click();
      await page.getByRole("link", { name: "Download" }).waitFor();
      await check(page, `lightbox ${variant.name}`);
      await page.keyboard.press("i");
      await page.getByText("Prompt as sent").waitFor();
      await check(page, `made of ${variant.name}`);
      await at("How electricity");
      await page.getByRole("button", { name: /^Worked/ }).click();
      await page.getByText("File Research Agent").waitFor();
      await scrollTo(page.locator(".report-frame"));
      await check(page, `report ${variant.name}`);
      await page.evaluate(() => localStorage.setItem("atelier-settings", '{"developer":true}'));
      await page.reload();
      await page.getByText(/^\d+ events of run/).waitFor();
      await page.getByText("Prompts, parameters and results").click();
      await page.getByText("Turn 1: prompt as sent").click();
      await page.getByRole("region", { name: "Prompt" }).getByText("img-given").waitFor();
      await page.getByText("Turn 1: Generate Image").click();
      await page.getByRole("region", { name: "Parameters" }).getByText("1024x1024").waitFor();
      await page.getByText("Omitted, with a note (lenient)").waitFor();
      await scrollTo(page.locator(".trace"));
      await check(page, `trace ${variant.name}`);
      await page.evaluate(() => localStorage.clear());
      for (const title of ["Things that did", "A question is open", "An approval is open"]) {
        await at(title);
        await check(page, `${title} ${variant.name}`);
      }
      await page.locator("main").focus();
      await page.keyboard.press("?");
      await page.getByText("Keyboard shortcuts").last().waitFor();
      await check(page, `keys ${variant.name}`);
      if (variant.viewport.width < 800) {
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "hidden" });
        await page.getByRole("button", { name: "Conversations" }).click();
        await page.getByRole("dialog").getByText("A question is open").waitFor();
        await check(page, `drawer ${variant.name}`);
      }
    }));
  }
});

describe("a message", () => {
  test("is one line more with Shift and sent without", () => b.page(s.url, {}, async (page) => {
    await message(page).focus();
    await page.keyboard.type("Draw");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("a harbour");
    assert.equal(await message(page).inputValue(), "Draw\na harbour");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/c\//);
    assert.equal(await message(page).inputValue(), "");
    assert.match(await page.locator(".user-message-text").innerText(), /Draw\na harbour/);
  }));

  test("takes files by button, drop and paste, shows and removes them, and goes with them alone", () => b.page(s.url, {}, async (page) => {
    const files = page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
    await page.locator("input[type=file]").setInputFiles([csv, { name: "no.exe", mimeType: "application/x-msdownload", buffer: Buffer.from("x") }]);
    await page.getByText("can be attached").waitFor();
    await page.getByRole("button", { name: "Remove no.exe" }).click();
    const transfer = await page.evaluateHandle(() => { const t = new DataTransfer(); t.items.add(new File(["x"], "dropped.png", { type: "image/png" })); return t; });
    await page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
    await page.getByText("Drop pictures").waitFor();
    await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
    await message(page).evaluate((box) => {
      const t = new DataTransfer();
      t.items.add(new File(["# notes"], "pasted.md", { type: "text/markdown" }));
      box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: t, bubbles: true, cancelable: true }));
    });
    assert.equal(await files.count(), 3);
    await page.getByRole("button", { name: "Remove dropped.png" }).click();
    await page.reload(); // uploaded files are still attached
    await page.getByRole("button", { name: "Remove pasted.md" }).waitFor();
    assert.equal(await files.count(), 2);
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForURL(/\/c\//);
    await page.locator(".user-message").getByText("sales.csv").waitFor();
  }));

  test("that is refused stays, with the reason and what to do", async () => b.page(await titled("A lighthouse"), { viewport: { width: 360, height: 700 } }, async (page) => {
    await send(page, "Please refuse this");
    await page.getByText("The budget of the day is used up.").waitFor();
    await page.getByText("Raise ATELIER_BUDGET_DAY_USD").waitFor();
    assert.ok(await isUncovered(page.getByRole("button", { name: "Send" })));
    assert.equal(await message(page).inputValue(), "Please refuse this");
  }));
});

describe("a run", () => {
  test("is all there after a reload in its middle, and goes on", () => b.page(s.url, {}, async (page) => {
    s.gate.hold(); // the steps fold when the run has ended
    await send(page, "Draw a bridge");
    await page.getByText("Generate Image").waitFor();
    await page.reload();
    await page.getByText("Generate Image").waitFor();
    s.gate.release();
    await page.locator(".prose .picture").waitFor();
    await page.getByText("Tell me what to change.").waitFor();
  }));

  test("streams its text", () => b.page(s.url, {}, async (page) => {
    await send(page, "Draw a long bridge");
    await page.waitForURL(/\/c\//);
    const lengths = await page.evaluate(() => new Promise((done) => {
      const seen = new Set();
      const timer = setInterval(() => {
        const text = document.querySelector(".answer > .prose")?.textContent ?? "";
        seen.add(text.length);
        if (!text.endsWith("change.")) return;
        clearInterval(timer);
        done([...seen]);
      }, 10);
    }));
    // A slow machine draws few of its parts: nothing, a part and all of it are enough.
    assert.ok(lengths.length > 2, `the text came in ${lengths}`);
  }));

  test("comes back after a lost connection, once", () => b.page(s.url, {}, async (page) => {
    await send(page, "Draw a ferry");
    await page.getByText("Generate Image").waitFor();
    for (const stream of s.streams) stream.response.destroy();
    await page.getByText("Tell me what to change.").waitFor();
    assert.equal(await page.locator(".exchange").count(), 1);
    assert.equal(await page.locator(".prose .picture").count(), 1);
  }));

  test("is in step in a second tab", () => b.page(s.url, {}, async (page, context) => {
    await send(page, "Draw a tower");
    await page.waitForURL(/\/c\//);
    const second = await context.newPage();
    await second.goto(page.url());
    await send(second, "Draw a second tower");
    await page.locator(".exchange").nth(1).getByText("Tell me what to change.").waitFor();
  }));

  test("stops by Escape and says so, and can be tried again", () => b.page(s.url, {}, async (page) => {
    await send(page, "Draw a castle");
    await page.getByText("Generate Image").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Stopped.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Stop" }).count(), 0);
    assert.equal(await page.locator(".spinner").count(), 0);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Tell me what to change.").waitFor();
  }));

  test("is forked from its answer into a conversation of its own", () => b.page(s.url, {}, async (page) => {
    const answered = (n) => page.locator(".exchange").nth(n).getByRole("button", { name: "Fork from this answer" });
    await send(page, "Draw a pier");
    await answered(0).waitFor();
    await send(page, "Draw a second pier");
    await answered(1).waitFor();
    const before = page.url();
    await answered(0).click();
    await page.waitForURL((u) => u.href !== before && u.pathname.startsWith("/c/"));
    await page.locator(".exchange").first().locator(".picture[data-loaded]").waitFor();
    assert.equal(await page.locator(".exchange").count(), 1);
    await send(page, "Draw a boat beside it");
    await answered(1).waitFor();
    await page.goto(before);
    await page.getByText("Draw a second pier").first().waitFor();
    assert.equal(await page.getByText("Draw a boat beside it").count(), 0);
  }));

  test("goes on when its page is left", () => b.page(s.url, {}, async (page) => {
    await send(page, "Draw a mill");
    await page.waitForURL(/\/c\//);
    const at = page.url();
    await page.goto("about:blank");
    await until(async () => (await (await fetch(at.replace("/c/", "/api/conversations/"))).json()).messages.at(-1).status === "succeeded");
  }));

  test("asks by a form in its place", () => b.page(s.url, {}, async (page) => {
    await send(page, "Please ask me first");
    await page.getByRole("button", { name: "Answer" }).click();
    await page.getByText("This field is required.").waitFor();
    await check(page, "question refused");
    await page.getByRole("radio", { name: "Ink" }).check();
    await page.getByRole("button", { name: "Answer" }).click();
    await page.getByText("Tell me what to change.").waitFor();
    assert.deepEqual([...s.runs.values()].at(-1).answered, { answer: { style: "Ink", count: 1 }, question: "q1" });
  }));

  test("is said to screen readers by its beginning and end only", () => b.page(s.url, {}, async (page) => {
    await page.evaluate(() => {
      globalThis.announced = [];
      new MutationObserver(() => globalThis.announced.push(document.querySelector(".visually-hidden[role=status]").textContent)).observe(document.querySelector(".visually-hidden[role=status]"), { childList: true, characterData: true, subtree: true });
    });
    await send(page, "Draw a well");
    await page.getByText("Tell me what to change.").waitFor();
    await page.waitForFunction(() => globalThis.announced.at(-1) === "The answer is complete");
    assert.deepEqual(await page.evaluate(() => globalThis.announced), ["Sage is answering", "Generate Image finished", "The answer is complete"]);
  }));
});

describe("conversations", () => {
  test("are found, renamed, deleted and brought back", () => b.page(s.url, {}, async (page) => {
    const list = page.getByRole("navigation", { name: "Conversations" });
    await page.locator("main").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("lighthouse");
    await list.getByRole("link", { name: "How electricity" }).waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await list.getByRole("link", { name: "A name that is so long" }).hover();
    await list.getByRole("button", { name: /Actions of A name/ }).click();
    await check(page, "conversation menu");
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.keyboard.type("Short");
    await page.keyboard.press("Enter");
    await list.getByRole("link", { name: "Short" }).hover();
    await list.getByRole("button", { name: "Actions of Short" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await list.getByRole("link", { name: "Short" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await list.getByRole("link", { name: "Short" }).waitFor();
  }));
});

describe("pictures and reports", () => {
  test("a picture has its text on hover and its own address, with what it is made of", async () => {
    await b.page(await titled("A lighthouse"), {}, async (page) => {
      const first = page.locator(".pictures .picture").first();
      assert.equal(await first.locator("img").getAttribute("title"), "a lighthouse in spring");
      await first.click();
      await page.waitForURL(/\?media=/);
      const at = page.url();
      await page.getByRole("link", { name: "Download" }).waitFor();
      await page.keyboard.press("ArrowRight");
      await page.waitForURL((u) => u.href !== at && u.search !== "");
      await page.goto(at);
      await page.getByRole("link", { name: "Download" }).waitFor();
      await page.keyboard.press("i");
      await page.getByText("adapted, requested 1000x1000").waitFor();
      await page.getByRole("button", { name: "Use in a message" }).click();
      await page.getByRole("list", { name: "Attached files" }).getByText("a lighthouse in spring").waitFor();
      assert.equal(new URL(page.url()).search, "");
    });
  });

  test("nothing jumps when pictures come", async () => {
    await b.page(await titled("A lighthouse"), {}, async (page) => {
      await page.route("**/media/**", async (r) => { await new Promise((done) => { setTimeout(done, 600); }); await r.continue(); });
      await page.reload();
      await page.locator(".picture").first().waitFor();
      const height = () => page.evaluate(() => document.documentElement.scrollHeight);
      const before = await height();
      await page.locator(".picture[data-loaded]").last().waitFor();
      assert.equal(await height(), before);
    });
  });

  test("a message and a report run nothing", async () => {
    for (const title of ["A lighthouse", "How electricity"]) {
      await b.page(await titled(title), {}, async (page) => {
        await page.locator(".answer-footer").first().waitFor();
        for (const frame of page.frames()) await frame.waitForLoadState();
        assert.equal(await page.evaluate(() => globalThis.xss), undefined);
      });
    }
  });

  test("a report is shown full screen and saved as one file", async () => {
    await b.page(await titled("How electricity"), {}, async (page) => {
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save the report as one file" }).click();
      const stream = await (await saved).createReadStream();
      const parts = [];
      for await (const part of stream) parts.push(part);
      const html = Buffer.concat(parts).toString();
      assert.ok(html.includes("data:image/png;base64,") && !html.includes('"/media/'), "the saved report needs the server");
      await page.getByRole("button", { name: "Show the report full screen" }).click();
      await page.getByRole("dialog").locator("iframe[sandbox]").waitFor();
    });
  });
});
