// The web UI over the real server, without a key: what a person does in a browser, with a reload
// and a killed server in between.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { browser, check, until, variantSample } from "./browser.js";

const binary = join(resolve(dirname(fileURLToPath(import.meta.url)), ".."), "bin", "atelier");
const b = browser();
let home;
let port;
let url;
let server;

async function begin() {
  server = spawn(binary, ["serve", "--listen", `127.0.0.1:${port}`], { env: { PATH: process.env.PATH, HOME: home, ATELIER_DATA: join(home, "data") }, stdio: ["ignore", "ignore", "inherit"] });
  await until(() => fetch(`${url}/readyz`).then((r) => r.ok, () => false));
}

before(async () => {
  home = mkdtempSync(join(tmpdir(), "atelier-serve-"));
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  port = free.address().port;
  free.close();
  url = `http://127.0.0.1:${port}`;
  await begin();
});
after(async () => {
  if (server?.exitCode === null && server.signalCode === null) {
    server.kill();
    await once(server, "exit");
  }
  rmSync(home, { recursive: true, force: true });
});

const send = async (page, text) => {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
  await page.waitForURL(/\/c\//);
};
const picture = (page, exchange) => page.locator(".exchange").nth(exchange).locator(".prose .picture[data-loaded]").first();

describe("a conversation", () => {
  test("draws, edits what it drew, and says what it is made of", () => b.page(url, {}, async (page) => {
    await page.getByRole("button", { name: /Draw a lighthouse/ }).click();
    await page.getByRole("button", { name: "Send" }).click();
    await picture(page, 0).waitFor();
    await send(page, "Make it bluer");
    await picture(page, 1).waitFor();
    assert.equal(await page.getByText("Also made").count(), 0, "what was given is shown as made");
    await picture(page, 1).click();
    await page.waitForURL(/\?media=/);
    await page.getByRole("link", { name: "Download" }).waitFor();
    await page.keyboard.press("i");
    await page.getByText("Prompt as sent").waitFor();
    await page.getByRole("heading", { name: "Made from" }).waitFor();
    await check(page, "serve made of");
  }));

  test("is all there after a reload, and after kill -9 of the server in the middle of a run", () => b.page(url, {}, async (page) => {
    await send(page, "Draw three pictures of a harbour");
    server.kill("SIGKILL");
    await once(server, "exit");
    await page.getByText("Reconnecting").waitFor();
    await begin();
    await page.getByText("Reconnecting").waitFor({ state: "detached" });
    await page.reload();
    await page.locator(".answer-footer").waitFor();
    assert.equal(await page.locator(".exchange").count(), 1);
    await page.getByText("Draw three pictures of a harbour").last().waitFor();
  }));
});

describe("a question about a file", () => {
  for (const variant of variantSample) {
    test(`becomes an illustrated report, ${variant.name}`, () => b.page(url, variant, async (page) => {
      await page.getByRole("button", { name: /Ask a table/ }).click();
      await page.getByRole("list", { name: "Attached files" }).getByText("kB").waitFor();
      await page.getByRole("button", { name: "Send" }).click();
      await page.locator(".report-frame").waitFor();
      await page.locator(".report-frame").scrollIntoViewIfNeeded();
      const frame = page.frameLocator(".report-frame");
      await frame.locator("img").first().waitFor();
      await until(() => frame.locator("img").evaluateAll((all) => all.every((i) => i.naturalWidth > 0 && i.alt !== "")));
      await page.getByRole("button", { name: /^Worked/ }).click();
      await page.getByText("Query Tables").first().waitFor();
      await check(page, `serve report ${variant.name}`);
    }));
  }
});
