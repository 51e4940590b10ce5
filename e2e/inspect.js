// Checks for every report, in any theme and width: pictures and drawings are visible,
// alternative texts are present, nothing is loaded from outside, the layout does not overflow,
// and axe-core finds no violation. Screenshots are written to e2e/out.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, "..");
const atelier = join(root, "bin", "atelier");
const run = promisify(execFile);
const out = join(here, "out");
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const flags = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const views = [
  { name: "wide", width: 1280, height: 900 },
  { name: "narrow", width: 360, height: 780 },
];

/** A folder, a browser and the binary without any key, for one test file. */
export function reportFixture() {
  const b = { browser: undefined, folder: undefined };
  before(async () => {
    mkdirSync(out, { recursive: true });
    b.folder = mkdtempSync(join(tmpdir(), "atelier-e2e-"));
    b.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
  });
  after(async () => {
    await b.browser?.close();
    rmSync(b.folder, { recursive: true, force: true });
  });
  const environment = () => ({ PATH: process.env.PATH, HOME: b.folder, ATELIER_DATA: join(b.folder, "data") });
  b.atelier = (...args) => JSON.parse(execFileSync(atelier, [...args, "--json"], { env: environment(), encoding: "utf8" }));
  /** The same with more environment variables, and asynchronous: this process can answer as a provider meanwhile. */
  b.atelierWith = async (env, ...args) => JSON.parse((await run(atelier, [...args, "--json"], { env: { ...environment(), ...env } })).stdout);
  /** Opens a report in every theme and width, or in each of them once. minimum is that of the number of figures. */
  b.inspect = async (file, name, minimum, { each = false } = {}) => {
    for (const colorScheme of ["light", "dark"]) {
      for (const view of each ? [views[colorScheme === "light" ? 0 : 1]] : views) {
        await test(`${name}, ${colorScheme}, ${view.name}`, () => checkReport(b.browser, { file, name, minimum, colorScheme, view }));
      }
    }
  };
  return b;
}

async function checkReport(browser, { file, name, minimum, colorScheme, view }) {
  const context = await browser.newContext({ viewport: view, colorScheme, bypassCSP: true });
  const page = await context.newPage();
  const outside = [];
  const errors = [];
  page.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url())) outside.push(r.url()); });
  page.on("pageerror", (e) => errors.push(String(e)));
  await page.goto(pathToFileURL(file).href);
  await checkFigures(page, minimum, view.width);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} px too wide`);
  assert.ok(!(await page.content()).includes("${media:"), "a raw placeholder reached the reader");
  assert.equal(await page.$$eval("script", (s) => s.length), 0);
  assert.deepEqual(outside, []);
  assert.deepEqual(errors, []);
  await page.screenshot({ path: join(out, `${name}-${colorScheme}-${view.name}.png`), fullPage: true });
  await page.addScriptTag({ path: axe });
  const found = await page.evaluate(() => globalThis.axe.run({ runOnly: ["wcag2a", "wcag2aa"] }));
  assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes[0].html}`), []);
  await context.close();
}

async function checkFigures(page, minimum, width) {
  const figures = await page.$$eval("figure", (all) => all.map((f) => {
    const i = f.querySelector("img");
    return {
      alt: i.alt, title: i.title, drawn: i.complete && i.naturalWidth > 1, width: i.getBoundingClientRect().width,
      frame: f.getBoundingClientRect().width, isDrawing: i.closest(".drawing") !== null, caption: f.querySelector("figcaption")?.textContent ?? "",
    };
  }));
  assert.ok(figures.length >= minimum, `${figures.length} figures, want at least ${minimum}`);
  for (const f of figures) {
    assert.ok(f.drawn, `a picture is not visible: ${f.alt}`);
    assert.ok(f.alt.length > 3, "a picture has no alternative text");
    assert.equal(f.title, f.alt);
    assert.ok(f.caption.length > 3, "a figure has no caption");
    assert.ok(f.frame <= width, "a figure is wider than the page");
    // A drawing keeps its text readable: it scrolls inside its figure and does not shrink.
    assert.ok(f.isDrawing ? f.width >= Math.min(600, f.frame) : f.width <= f.frame, `a picture is ${f.width} px wide in ${f.frame}`);
  }
}
