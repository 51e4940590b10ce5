// Chromium with the web UI: pages that fail on any error of their own, and what must hold of
// every state. Screenshots land in e2e/out.
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
/** How long a state may take to come, in ms: only what never comes fails, however busy the machine. */
export const patience = Number(process.env.PATIENCE ?? 90_000);
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

export const looks = ["light", "dark"].flatMap((scheme) => [
  { name: `${scheme}, wide`, colorScheme: scheme, viewport: { width: 1280, height: 860 } },
  { name: `${scheme}, narrow`, colorScheme: scheme, viewport: { width: 390, height: 800 } },
]);
/** Two looks with each scheme and each width once, for what a person does. The states of conversations are checked in all four. */
export const corners = [looks[0], looks[3]];

/** A browser for one test file. */
export function browser() {
  const b = { chromium: undefined };
  before(async () => {
    mkdirSync(out, { recursive: true });
    b.chromium = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
  });
  after(() => b.chromium?.close());
  /** Opens a page, gives it to do, and fails on errors and on requests to other hosts. */
  b.page = async (url, options, act) => {
    const context = await b.chromium.newContext({ reducedMotion: "reduce", viewport: { width: 1280, height: 860 }, ...options });
    context.setDefaultTimeout(patience);
    const page = await context.newPage();
    const wrong = [];
    page.on("pageerror", (e) => wrong.push(String(e)));
    page.on("request", (r) => { if (!/^(data|blob|about):/.test(r.url()) && new URL(r.url()).origin !== new URL(url).origin) wrong.push(r.url()); });
    await page.goto(url);
    try {
      await act(page, context);
      assert.deepEqual(wrong, []);
    } finally {
      await context.close();
    }
  };
  return b;
}

/** Waits until something holds. */
export async function until(holds) {
  for (const end = Date.now() + patience; ;) {
    if (await holds()) return;
    if (Date.now() > end) throw new Error(`does not hold after ${patience} ms: ${holds}`);
    await new Promise((done) => { setTimeout(done, 50); });
  }
}

/** Waits until nothing fades or moves any more. */
export async function settled(page) {
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== "running" || a.effect?.getTiming().iterations === Infinity));
}

/** What must hold of every state: no layout wider than the window, no placeholder, no finding
 * of axe; and a screenshot to look at. */
export async function check(page, name) {
  await settled(page);
  await page.screenshot({ path: join(out, `${name.replace(/[^a-z0-9]+/gi, "-")}.png`) });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(overflow <= 0, `${name} is ${overflow} px too wide`);
  assert.ok(!(await page.locator("body").innerText()).includes("${media:"), `${name} shows a raw placeholder`);
  await page.evaluate(axe); // past the page's policy, which lets no script in
  const found = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly }), rules);
  assert.deepEqual(found.violations.map((v) => `${name}: ${v.id}: ${v.nodes[0].html}`), []);
}
