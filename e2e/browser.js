// Chromium with the web UI: pages that fail on any page error, and checks for every state.
// Screenshots are written to e2e/out.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "out");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
/** The timeout for a state, in ms. It is so long that only a missing state fails, even on a busy machine. */
export const stateTimeout = Number(process.env.PATIENCE ?? 90_000);
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

export const variants = ["light", "dark"].flatMap((scheme) => [
  { name: `${scheme}, wide`, colorScheme: scheme, viewport: { width: 1280, height: 860 } },
  { name: `${scheme}, narrow`, colorScheme: scheme, viewport: { width: 390, height: 800 } },
]);
/** Two variants that cover each scheme and each width once. The states of conversations are checked in all four. */
export const variantSample = [variants[0], variants[3]];

/** A browser for one test file. */
export function browser() {
  const b = { chromium: undefined };
  before(async () => {
    mkdirSync(out, { recursive: true });
    b.chromium = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
  });
  after(() => b.chromium?.close());
  /** Opens a page, passes it to run, and fails on page errors and on requests to other origins. */
  b.page = async (url, options, run) => {
    const context = await b.chromium.newContext({ reducedMotion: "reduce", viewport: { width: 1280, height: 860 }, ...options });
    context.setDefaultTimeout(stateTimeout);
    const page = await context.newPage();
    const errors = [];
    page.on("pageerror", (e) => errors.push(String(e)));
    page.on("request", (r) => { if (!/^(data|blob|about):/.test(r.url()) && new URL(r.url()).origin !== new URL(url).origin) errors.push(r.url()); });
    await page.goto(url);
    try {
      await run(page, context);
      assert.deepEqual(errors, []);
    } finally {
      await page.unrouteAll({ behavior: "ignoreErrors" }); // a handler may still wait for a response
      await context.close();
    }
  };
  return b;
}

/** Waits until a condition holds. */
export async function until(condition) {
  for (const end = Date.now() + stateTimeout; ;) {
    if (await condition()) return;
    if (Date.now() > end) throw new Error(`does not hold after ${stateTimeout} ms: ${condition}`);
    await new Promise((done) => { setTimeout(done, 50); });
  }
}

/** Waits until no finite animation is running. */
export async function animationsFinished(page) {
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== "running" || a.effect?.getTiming().iterations === Infinity));
}

/** Reports whether an element is visible at its center, not covered by another one. */
export const isUncovered = (locator) => locator.evaluate((e) => {
  const r = e.getBoundingClientRect();
  const top = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
  return e.contains(top);
});

/** Checks a state and takes a screenshot: the layout must not be wider than the window, and there must be
 * no button with clipped text, no placeholder and no violation that axe-core finds. */
export async function check(page, name) {
  await animationsFinished(page);
  await page.screenshot({ path: join(out, `${name.replace(/[^a-z0-9]+/gi, "-")}.png`) });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(overflow <= 0, `${name} is ${overflow} px too wide`);
  assert.deepEqual(await page.locator("button .mantine-Button-label").evaluateAll((all) => all.filter((l) => l.scrollWidth > l.clientWidth + 1).map((l) => l.textContent)), [], `${name} has buttons with clipped text`);
  assert.ok(!(await page.locator("body").innerText()).includes("${media:"), `${name} shows a raw placeholder`);
  await page.evaluate(axe); // bypasses the page's policy, which allows no injected scripts
  const found = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly }), rules);
  assert.deepEqual(found.violations.map((v) => `${name}: ${v.id}: ${v.nodes[0].html}`), []);
}
