// Follows docs/tutorial.md literally: its files and its messages, in order. With SCREENSHOTS=1, it
// writes the screenshots of the docs.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { animationsFinished, browser, until } from "./browser.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const tutorial = readFileSync(join(root, "docs", "tutorial.md"), "utf8");
const messages = [...tutorial.matchAll(/^> (.+)$/gm)].map((m) => m[1]);
const files = /```sh\n(cat > [\s\S]+?)```/.exec(tutorial)[1];
const b = browser();
let home;
let server;
let url;

before(async () => {
  home = mkdtempSync(join(tmpdir(), "atelier-tutorial-"));
  server = spawn(join(root, "bin", "atelier"), ["serve", "--listen", "127.0.0.1:0", "--json"], { env: { PATH: process.env.PATH, HOME: home, ATELIER_DATA: join(home, "data") }, stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface(server.stdout)) {
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url) break;
  }
  await until(() => fetch(`${url}/readyz`).then((r) => r.ok, () => false));
});
after(() => {
  server?.kill();
  rmSync(home, { recursive: true, force: true });
});

async function screenshot(page, name) {
  await animationsFinished(page);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(root, "docs", name) });
}

async function ask(page, text, exchange) {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
  await page.locator(".exchange").nth(exchange).locator(".answer-footer").waitFor();
}

test("the tutorial leads where it says", () => b.page(url, { colorScheme: "light", viewport: { width: 1280, height: 900 } }, async (page) => {
  assert.equal(messages.length, 4);
  const [draw, change, question, further] = messages;
  const picture = (n) => page.locator(".exchange").nth(n).locator(".picture[data-loaded]").first();
  await ask(page, draw, 0);
  await picture(0).waitFor();
  await ask(page, change, 1);
  await picture(1).waitFor();
  await page.locator(".exchange").nth(1).scrollIntoViewIfNeeded();
  await screenshot(page, "conversation.png");

  await picture(1).click();
  await page.getByRole("link", { name: "Download" }).waitFor();
  await page.keyboard.press("i");
  await page.getByRole("heading", { name: "Made from" }).waitFor();
  await until(() => page.locator(".yarl__slide_current img").evaluate((i) => i.complete && i.naturalWidth > 0));
  await screenshot(page, "picture.png");
  await page.keyboard.press("v");
  const panel = page.getByRole("complementary", { name: "Vary" });
  await panel.getByText("· free").waitFor();
  await panel.getByRole("button", { name: "Vary" }).click();
  await panel.locator(".thumbnails img").first().waitFor();
  await page.keyboard.press("c");
  await page.getByRole("heading", { name: "Compare" }).waitFor();
  await page.getByRole("button", { name: "Close the comparison" }).click();
  await page.getByRole("link", { name: "Download" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Download" }).waitFor({ state: "detached" });

  execFileSync("sh", ["-c", files], { cwd: home });
  await page.getByRole("link", { name: "New conversation" }).first().click();
  await page.getByRole("button", { name: /^Agent:/ }).click();
  await page.getByRole("menuitem", { name: /^Research Agent/ }).click();
  await page.locator("input[type=file]").setInputFiles(readdirSync(home).filter((f) => /\.(csv|md)$/.test(f)).map((f) => join(home, f)));
  await until(async () => await page.getByRole("list", { name: "Attached files" }).getByText(/ k?B$/).count() === 2);
  await ask(page, question, 0);
  const report = page.frameLocator(".report-frame");
  await page.locator(".report").scrollIntoViewIfNeeded();
  await report.getByText("41,500").first().waitFor();
  await until(() => report.locator("img").evaluateAll((all) => all.length > 1 && all.every((i) => i.naturalWidth > 0)));
  await report.getByText(/long queues/).first().waitFor();
  await page.locator(".report-frame").evaluate((f) => window.scrollTo({ top: f.getBoundingClientRect().top + window.scrollY - 110 }));
  await screenshot(page, "tutorial-report.png");
  await ask(page, further, 1);
  await page.locator(".exchange").nth(1).locator(".answer > .prose").getByText(/23,900/).waitFor();

  await page.locator(".exchange").nth(0).getByRole("button", { name: "Fork from this answer" }).click();
  await until(async () => await page.locator(".exchange").count() === 1);
  await page.getByRole("switch", { name: "Developer" }).check();
  await page.getByText("Prompts, parameters and results").first().click();
  await page.getByText("Turn 1: prompt as sent").first().waitFor();
}));
