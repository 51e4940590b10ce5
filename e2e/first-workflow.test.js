// Follows docs/first-workflow.md literally. With SCREENSHOTS=1, it writes the screenshots of the docs.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { animationsFinished, browser, check, until } from "./browser.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const guide = readFileSync(join(root, "docs", "first-workflow.md"), "utf8");
const [write, validate, run, serve] = [...guide.matchAll(/```sh\n([\s\S]+?)```/g)].map((m) => m[1]);
const b = browser();
let home;
let env;
let server;
let url;

before(async () => {
  home = mkdtempSync(join(tmpdir(), "atelier-first-"));
  symlinkSync(join(root, "bin"), join(home, "bin")); // as in a checkout
  env = { PATH: process.env.PATH, HOME: home, ATELIER_DATA: join(home, "data") };
  server = spawn("sh", ["-c", `exec ${serve.trim()} --listen 127.0.0.1:0 --json`], { cwd: home, env, stdio: ["ignore", "pipe", "inherit"] });
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

const variant = { colorScheme: "light", viewport: { width: 1280, height: 900 } };

test("the first workflow is written, run, and approved in the browser", async () => {
  execFileSync("sh", ["-c", write], { cwd: home, env });
  execFileSync("sh", ["-c", validate], { cwd: home, env });
  const ended = spawnSync("sh", ["-c", run], { cwd: home, env, encoding: "utf8" });
  assert.equal(ended.status, 4, ended.stderr);
  const [path] = /\/workflows\/runs\/[^ ]+/.exec(ended.stdout + ended.stderr);
  await b.page(`${url}${path}`, variant, async (page) => {
    await page.getByRole("heading", { name: "Send this postcard?" }).waitFor();
    await until(() => page.getByRole("img", { name: "Postcard" }).evaluateAll((all) => all.length > 0 && all.every((i) => i.naturalWidth > 0)));
    await page.getByRole("textbox", { name: "Comment" }).fill("With love");
    await screenshot(page, "workflow-approval.png");
    await check(page, "first workflow approval");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Result", exact: true }).waitFor();
    assert.match(await page.locator(".outcome pre").innerText(), /"comment": "With love"[^]*"files"/);
  });
});

test("the definition is checked and previewed in the browser, and the example is generated and chosen", () => b.page(`${url}/workflows`, variant, async (page) => {
  await page.getByRole("link", { name: "New workflow" }).click();
  const text = page.getByRole("textbox", { name: "Definition" });
  await text.fill(/<<'END'\n([\s\S]+?)END/.exec(write)[1].replace("render_as: grid", "render_as: carousel"));
  await page.getByText("/steps/1/config").or(page.getByText("render_as")).first().waitFor();
  await page.getByRole("button", { name: /^Line \d+/ }).first().waitFor();
  await page.goto(`${url}/workflows`);
  await page.getByText("Product photo variants with approval").click();
  await page.getByRole("textbox", { name: "Product" }).first().fill("a kettle");
  await page.getByText("a kettle, on an oak kitchen table, morning sun light").waitFor();
  await page.getByRole("heading", { name: "Preview of the first interaction" }).evaluate((h) => window.scrollTo({ top: h.getBoundingClientRect().top + window.scrollY - 420 }));
  await screenshot(page, "workflow-definition.png");
  await page.goto(`${url}/workflows`);
  await page.getByText("Campaign images from a brief").click();
  await page.getByRole("textbox", { name: "Brief" }).first().fill("A lighthouse cafe opens in spring");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("article", { name: "hero" }).getByRole("textbox").first().waitFor();
  await page.getByRole("article", { name: "hero" }).getByRole("textbox").first().fill("A lighthouse cafe at dawn, wide");
  await page.getByRole("article", { name: "hero" }).locator(".wf-prompt").getByText("A lighthouse cafe at dawn, wide").waitFor();
  await page.locator("[data-save-status=saved]").waitFor();
  const hero = page.getByRole("article", { name: "hero" });
  await hero.getByRole("button", { name: "Generate" }).click();
  await hero.getByText(/offline painter/).waitFor();
  await hero.getByRole("button", { name: /^Choose / }).nth(3).waitFor();
  await hero.getByRole("button", { name: /^Choose / }).nth(1).click();
  await until(() => page.locator(".tile img").evaluateAll((all) => all.every((i) => i.complete && i.naturalWidth > 0)));
  await page.getByRole("heading", { name: "Prompts", exact: true }).evaluate((h) => window.scrollTo({ top: h.getBoundingClientRect().top + window.scrollY - 60 }));
  await screenshot(page, "workflow-interaction.png");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.locator(".run-head").getByText("Done", { exact: true }).waitFor();
}));
