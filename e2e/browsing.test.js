// What a person does with the browser itself: going back, many tabs, links that leave the page, the keyboard.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { serve } from "../web/test/server.mjs";
import { browser, check, isUncovered, until } from "./browser.js";

const b = browser();
let s;
before(async () => { s = await serve({ pace: 50 }); });
after(() => s?.stop());

const talk = (title) => `${s.url}/c/${[...s.conversations.values()].find((c) => c.title.startsWith(title)).id}`;
const scrolled = (page) => page.evaluate(() => Math.round(window.scrollY));
/** Makes the page believe that its tab is hidden, or visible. */
const setVisibility = (page, state) => page.evaluate((v) => {
  Object.defineProperty(document, "visibilityState", { value: v, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}, state);

describe("going back", () => {
  test("closes the open picture, however many were viewed, and leaves the page after it was closed", () => b.page(`${s.url}/workflows`, {}, async (page) => {
    await page.getByRole("link", { name: "Media", exact: true }).click();
    await page.locator(".picture").first().click();
    for (let i = 0; i < 3; i++) {
      const before = page.url();
      await page.getByRole("link", { name: "Download" }).waitFor();
      await until(() => page.evaluate(() => Boolean(document.activeElement?.closest(".yarl__portal")))); // it hears the keys
      await page.keyboard.press("ArrowRight");
      await page.waitForURL((u) => u.href !== before);
    }
    await page.goBack();
    await page.getByRole("link", { name: "Download" }).waitFor({ state: "detached" });
    assert.equal(page.url(), `${s.url}/gallery`);
    await page.goBack();
    await page.waitForURL(/workflows/);
  }));

  test("returns to where a conversation was read; opening it shows its end", () => b.page(talk("How electricity"), { viewport: { width: 1280, height: 500 } }, async (page) => {
    await page.locator(".answer-footer").first().waitFor();
    await page.evaluate(() => window.scrollTo(0, 120));
    await page.getByRole("link", { name: "Media", exact: true }).click();
    await page.locator(".picture").first().waitFor();
    await page.goBack();
    await until(async () => await scrolled(page) === 120);
    await page.getByRole("link", { name: "Media", exact: true }).click();
    await page.locator(".picture").first().waitFor();
    await page.getByRole("link", { name: /How electricity/ }).click();
    await until(() => page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight - window.scrollY < 2));
  }));
});

test("hidden tabs leave the browser its connections: an eighth tab loads", () => b.page(s.url, {}, async (first, context) => {
  for (let i = 0; i < 7; i++) {
    const page = i === 0 ? first : await context.newPage();
    await page.goto(`${s.url}/gallery`);
    await page.locator(".picture").first().waitFor();
    const streams = s.streams.size;
    await setVisibility(page, "hidden");
    await until(() => s.streams.size < streams);
  }
  await setVisibility(first, "visible");
  await until(() => s.streams.size === 1);
}));

test("a link of a report opens a tab and leaves the report", () => b.page(talk("How electricity"), {}, async (page, context) => {
  await context.route("https://example.org/**", (r) => r.fulfill({ body: "elsewhere" }));
  const opened = context.waitForEvent("page");
  await page.frameLocator(".report-frame").getByRole("link", { name: "source" }).click();
  assert.equal((await opened).url(), "https://example.org/x");
  await page.frameLocator(".report-frame").getByRole("link", { name: "source" }).waitFor();
}));

test("the focus returns to the menu after a conversation was renamed by the keyboard", () => b.page(talk("A lighthouse"), {}, async (page) => {
  const menu = page.getByRole("navigation", { name: "Conversations" }).getByRole("button", { name: "Actions of A lighthouse" });
  await menu.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("textbox", { name: "New title" }).press("Escape");
  await until(() => menu.evaluate((e) => e === document.activeElement));
}));

test("a list of documents has gaps, names are cut at their end in both directions, and the menu marks the page", () => b.page(s.url, { viewport: { width: 360, height: 800 } }, async (page) => {
  const names = ["\u0645\u0644\u0627\u062d\u0638\u0627\u062a \u0627\u0644\u0639\u0645\u0644\u0627\u0621 ".repeat(6), "notes ".repeat(12)];
  for (const name of names) s.picture(name, 1, 1, { modality: "document", mime_type: "text/plain", file_name: name });
  await page.goto(`${s.url}/gallery?kind=document`);
  const [arabic, english] = names.map((name) => page.locator(".attachment", { hasText: name.trim() }));
  const [a, b] = [await arabic.boundingBox(), await english.boundingBox()];
  assert.ok(Math.abs(a.y - b.y) > a.height + 4, "the documents touch each other");
  assert.deepEqual(await page.locator(".attachment-name").evaluateAll((all) => all.map((e) => getComputedStyle(e).direction)), ["ltr", "rtl"]);
  await page.getByRole("button", { name: "Conversations" }).click();
  const background = (name) => page.getByRole("dialog").getByRole("link", { name, exact: true }).evaluate((e) => getComputedStyle(e).backgroundColor);
  assert.notEqual(await background("Media"), await background("Workflows"));
}));

describe("the focus", () => {
  const focusedIn = (page, selector) => until(() => page.evaluate((sel) => document.activeElement?.matches(sel), selector));
  test("stays near an element that disappears", () => b.page(s.url, {}, async (page) => {
    await page.getByRole("button", { name: /Ask a table/ }).click();
    await page.getByRole("button", { name: "Remove sales-2025.csv" }).focus();
    await page.keyboard.press("Enter");
    await focusedIn(page, ".composer");
    await page.keyboard.press("Tab");
    await focusedIn(page, "#message");
    await page.getByRole("button", { name: "Actions of A name" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Delete" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await focusedIn(page, ".conversation-list, .conversation-list *");
    await page.getByRole("button", { name: "Undo" }).click();
  }));

  test("returns to the picture after it was compared", () => b.page(`${s.url}/gallery`, {}, async (page) => {
    await page.locator(".picture").nth(1).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Download" }).waitFor();
    await page.keyboard.press("c");
    await page.getByText("Side by side").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Download" }).waitFor();
    await page.keyboard.press("Escape");
    await focusedIn(page, ".picture");
  }));
});

test("a conversation is printed dark on white below its title, also from the dark theme", () => b.page(talk("Things that did"), { colorScheme: "dark", viewport: { width: 720, height: 900 } }, async (page) => {
  await page.getByText("I began to draw.").waitFor();
  await page.emulateMedia({ media: "print" });
  const style = (selector, name) => page.locator(selector).first().evaluate((e, n) => getComputedStyle(e)[n], name);
  assert.deepEqual([await style(".prose", "color"), await style("body", "backgroundColor"), await style(".conversation-header", "position")], ["rgb(33, 31, 27)", "rgb(255, 255, 255)", "static"]);
}));

test("the commands of a failed answer fit a small phone", () => b.page(talk("Things that did"), { viewport: { width: 360, height: 700 } }, async (page) => {
  await page.getByText("Stopped.").waitFor();
  await check(page, "failed answer on a small phone");
}));

for (const width of [1280, 360]) {
  test(`a lost connection covers neither title nor menu, ${width} px`, () => b.page(talk("How electricity"), { viewport: { width, height: 700 } }, async (page) => {
    await page.locator(".answer-footer").first().waitFor();
    await page.route("**/api/events**", (r) => r.abort());
    for (const stream of s.streams) stream.response.destroy();
    await page.getByText("Reconnecting").waitFor();
    assert.ok(await isUncovered(page.getByRole("heading", { level: 1 })));
    if (width < 800) assert.ok(await isUncovered(page.getByRole("button", { name: "Conversations" })));
  }));
}

test("a page whose token has expired leads to the login", () => b.page(`${s.url}/gallery?q=lighthouse`, {}, async (page) => {
  await page.locator(".picture").first().waitFor();
  await page.route("**/api/**", (r) => r.fulfill({ status: 401, contentType: "application/problem+json", body: '{"status":401,"code":"unauthorized","detail":"an access token is needed"}' }));
  for (const stream of s.streams) stream.response.destroy();
  await page.waitForURL(`${s.url}/login?next=%2Fgallery%3Fq%3Dlighthouse`);
}));

test("a page is loaded again when another token has been signed in, in another tab", () => b.page(s.url, {}, async (page) => {
  let token = "phone";
  await page.route("**/api/health", (r) => r.fulfill({ json: { status: "ok", version: "test", offline: false, notes: [], token } }));
  await page.reload();
  await page.getByRole("link", { name: "Signed in with phone: sign out" }).waitFor();
  token = "laptop";
  await page.evaluate(() => { globalThis.former = true; document.dispatchEvent(new Event("visibilitychange", { bubbles: true })); });
  await page.getByRole("link", { name: "Signed in with laptop: sign out" }).waitFor();
  await page.waitForFunction(() => !globalThis.former);
}));

test("a page that cannot be loaded without the server is loaded when the server is back", () => b.page(s.url, {}, async (page) => {
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await page.route("**/{api/events,assets/workflows-}*", (r) => r.abort());
  for (const stream of s.streams) stream.response.destroy();
  await page.getByText("Reconnecting").waitFor();
  await page.getByRole("link", { name: "Workflows" }).click();
  await page.getByRole("heading", { name: "The page could not be shown" }).waitFor();
  await page.getByRole("link", { name: "New conversation" }).waitFor(); // the rest of the page stays
  await page.unroute("**/{api/events,assets/workflows-}*");
  await page.getByRole("heading", { name: "Workflows", level: 1 }).waitFor();
}));

test("a message that is sent after the token has expired leads to the login, and is kept", () => b.page(s.url, {}, async (page) => {
  const message = page.getByRole("textbox", { name: "Message" });
  await message.fill("Draw a lighthouse");
  await page.route("**/api/runs", (r) => r.fulfill({ status: 401, contentType: "application/problem+json", body: '{"status":401,"code":"unauthorized","detail":"the access token was revoked"}' }));
  await message.press("Enter");
  await page.waitForURL(`${s.url}/login?next=%2F`);
  await page.goto(s.url);
  assert.equal(await message.inputValue(), "Draw a lighthouse");
}));

test("a file that is dropped where nothing accepts it does not replace the page; many files leave the message in view", () => b.page(`${s.url}/gallery`, { viewport: { width: 360, height: 640 } }, async (page) => {
  await page.locator(".picture").first().waitFor();
  const drop = (count) => page.evaluate((n) => {
    const dataTransfer = new DataTransfer();
    for (let i = 0; i < n; i++) dataTransfer.items.add(new File(["a,b"], `table ${i}.csv`, { type: "text/csv" }));
    return ["dragover", "drop"].map((name) => !document.getElementById("main").dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true })));
  }, count);
  assert.deepEqual(await drop(1), [true, true]);
  await page.goto(talk("A lighthouse"));
  await page.locator(".answer-footer").first().waitFor();
  await drop(30);
  await page.getByRole("button", { name: "Remove table 29.csv" }).waitFor();
  assert.ok(await isUncovered(page.getByRole("textbox", { name: "Message" })));
  const dock = await page.locator(".composer-dock").boundingBox();
  assert.ok(dock.height < 400, `the composer is ${dock.height} px high`);
}));

test("a question that is edited is added to the message that is being written", () => b.page(talk("A lighthouse"), {}, async (page) => {
  await page.getByRole("textbox", { name: "Message" }).fill("Half a thought");
  await page.getByRole("button", { name: "Edit the question" }).first().click();
  assert.equal(await page.getByRole("textbox", { name: "Message" }).inputValue(), `Half a thought\n\n${await page.locator(".user-message-text").first().innerText()}`);
}));
