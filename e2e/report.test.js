// Opens the report that the binary writes in Chromium: pictures and charts visible,
// alternative texts present, nothing loaded from outside, no layout overflow, light
// and dark, wide and narrow. Screenshots land in e2e/out.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "..");
const out = join(here, "out");
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const flags = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const views = [
  { name: "wide", width: 1280, height: 900 },
  { name: "narrow", width: 390, height: 844 },
];

let browser;
let work;

/** Runs the binary with no key and a data folder of its own. */
function atelier(...args) {
  const env = { PATH: process.env.PATH, HOME: work, ATELIER_DATA: join(work, "data") };
  return JSON.parse(execFileSync(join(root, "bin", "atelier"), [...args, "--json"], { env, encoding: "utf8" }));
}

before(async () => {
  mkdirSync(out, { recursive: true });
  work = mkdtempSync(join(tmpdir(), "atelier-e2e-"));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
});

after(async () => {
  await browser?.close();
  rmSync(work, { recursive: true, force: true });
});

/** Opens a file and checks everything that must hold in any theme and width. */
async function inspect(file, name, least) {
  for (const colorScheme of ["light", "dark"]) {
    for (const view of views) {
      await test(`${name}, ${colorScheme}, ${view.name}`, async () => {
        const context = await browser.newContext({ viewport: view, colorScheme, bypassCSP: true });
        const page = await context.newPage();
        const outside = [];
        const errors = [];
        page.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url())) outside.push(r.url()); });
        page.on("pageerror", (e) => errors.push(String(e)));
        await page.goto(pathToFileURL(file).href);
        const pictures = await page.$$eval("figure img", (all) => all.map((i) => ({
          alt: i.alt, title: i.title, drawn: i.complete && i.naturalWidth > 1, width: i.getBoundingClientRect().width,
        })));
        assert.ok(pictures.length >= least, `${pictures.length} figures, want at least ${least}`);
        for (const p of pictures) {
          assert.ok(p.drawn, `a picture is not visible: ${p.alt}`);
          assert.ok(p.alt.length > 3, "a picture has no alternative text");
          assert.equal(p.title, p.alt);
          assert.ok(p.width <= view.width, "a picture is wider than the page");
        }
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
      });
    }
  }
}

describe("the report of the example", async () => {
  test("is written, self-contained and complete", async () => {
    const dir = join(work, "energy");
    const result = atelier("run", "research-agent",
      "How is electricity generation changing? Include charts and one illustration of wind turbines and solar panels.",
      "--files", join(root, "examples", "energy"), "--out", dir);
    assert.equal(result.status, "succeeded");
    assert.ok(result.outputs.some((o) => o.mime_type === "image/svg+xml"));
    assert.ok(result.outputs.some((o) => o.mime_type === "image/png"));
    for (const o of result.outputs) assert.ok(readFileSync(o.path).length === o.size_bytes);
    await inspect(result.report, "energy", 3);
  });
});

describe("the report of any other folder", async () => {
  test("is as good", async () => {
    const files = join(work, "shop");
    mkdirSync(files);
    writeFileSync(join(files, "orders.csv"), "month,region,revenue\n" + ["2026-01", "2026-02", "2026-03", "2026-04"]
      .flatMap((m, i) => ["North", "South", "<b>East & West</b>"].map((r, j) => `${m},${r},${1000 + 250 * i * (j + 1)}`)).join("\n") + "\n");
    writeFileSync(join(files, "customers.txt"), "The survey asked four hundred customers in spring. Most of them came back because delivery was quick. " +
      "A third complained about the packaging. Nobody asked for more emails. Prices were judged fair by most people.\n");
    const result = atelier("run", "research-agent", "Write a report on the shop's revenue by region, with two illustrations of a small book shop.",
      "--files", files, "--out", join(work, "shop-report"));
    assert.equal(result.status, "succeeded");
    await inspect(result.report, "shop", 3);
  });
});
