// Previews that a provider streams, in a conversation: they are shown while a picture is generated, and the
// picture replaces them. A simulator speaks OpenAI's protocol.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { browser, check, variantSample } from "./browser.js";
import { serverFixture } from "./server-fixture.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const b = browser();
let simulators;
const s = serverFixture(async () => {
  simulators = spawn(join(root, "bin", "simtest"), { stdio: ["pipe", "pipe", "inherit"] });
  for await (const line of createInterface(simulators.stdout)) return { ...JSON.parse(line), ATELIER_CHAT_MODEL: "offline", ATELIER_IMAGE_MODEL: "gpt-image-2" };
}, ["--partials"]);
after(() => simulators.stdin.end());

for (const variant of variantSample) {
  test(`previews are seen while OpenAI paints, ${variant.name}`, () => b.page(s.url, variant, async (page) => {
    const previews = new Map();
    page.on("response", (r) => { if (r.url().includes("/media/sha256-")) previews.set(r.url(), r.status()); });
    await page.getByRole("textbox", { name: "Message" }).fill("Draw a lighthouse");
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForFunction(() => [...document.querySelectorAll("img[alt^=Preview]")].some((i) => i.complete && i.naturalWidth > 0));
    await check(page, `preview ${variant.name}`);
    await page.locator(".exchange .prose .picture[data-loaded]").first().waitFor();
    assert.equal(await page.getByAltText(/^Preview/).count(), 0, "a preview stays beside its picture");
    assert.ok(previews.size > 0 && [...previews.values()].every((status) => status === 200), JSON.stringify([...previews]));
    const { items } = await s.get("/api/media?limit=50");
    assert.ok(items.every((m) => !m.partial), "a preview is kept as a picture");
  }));
}
