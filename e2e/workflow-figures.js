// Measures the pages of workflows in Chromium and prints the numbers of docs/performance.md: make figures.
// It asserts nothing about them.
import { test } from "node:test";
import { browser, until } from "./browser.js";
import { card, example, largeWorkflow, serverFixture, waitUntilSaved } from "./server-fixture.js";

const b = browser();
const s = serverFixture();
const percentile = (times, part) => times.sort((x, y) => x - y)[Math.min(times.length - 1, Math.floor(times.length * part))].toFixed(1);

/** Generates 40 pictures and returns their ids. */
async function pictures() {
  for (let i = 0; i < 10; i++) {
    const body = JSON.stringify({ model: "offline", prompt: `A lighthouse, ${i}`, n: 4, size: "512x512" });
    const answer = await fetch(`${s.url}/api/generations`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    if (!answer.ok) throw new Error(await answer.text());
  }
  await until(async () => (await s.get("/api/media?limit=40")).items.length === 40);
  return (await s.get("/api/media?limit=40")).items.map((m) => m.id);
}

test("200 prompts and 2,000 pictures", async () => {
  const ids = await pictures();
  const url = (key, i) => `/media/${ids[(Number(key.split("_")[1]) * 7 + i) % ids.length]}`;
  await b.page(await s.startRun(largeWorkflow(200, 2000, url)), {}, async (page, context) => {
    await card(page, "prompt_0").getByRole("textbox", { name: "Subject" }).waitFor();
    const inside = await context.newCDPSession(page);
    await inside.send("Performance.enable");
    for (let round = 1; round <= 4; round++) {
      const { frames, nodes, height } = await page.evaluate(scroll, round % 2 ? 120 : -120);
      await inside.send("HeapProfiler.collectGarbage");
      const { metrics } = await inside.send("Performance.getMetrics");
      const heap = metrics.find((m) => m.name === "JSHeapUsedSize").value / 2 ** 20;
      console.log(`once over ${height} px, round ${round}: frames p50 ${percentile(frames, 0.5)} ms, p95 ${percentile(frames, 0.95)} ms, of ${frames.length}; at most ${nodes} elements; heap ${heap.toFixed(1)} MiB`);
    }
  });
});

/** Scrolls from one end to the other, one step per frame. */
function scroll(by) {
  return new Promise((done) => {
    const frames = [];
    let nodes = 0;
    let last = performance.now();
    const step = (now) => {
      frames.push(now - last);
      last = now;
      if (frames.length % 20 === 0) nodes = Math.max(nodes, document.querySelectorAll("*").length);
      const before = window.scrollY;
      window.scrollBy({ top: by, behavior: "instant" });
      if (window.scrollY !== before || frames.length < 10) requestAnimationFrame(step);
      else done({ frames, nodes, height: document.documentElement.scrollHeight });
    };
    requestAnimationFrame(step);
  });
}

test("a patch in another tab", async () => {
  const address = await s.startRun(example());
  await b.page(address, {}, async (one, context) => {
    const two = await context.newPage();
    await two.goto(address);
    const [mine, theirs] = [one, two].map((p) => card(p, "prompt_a").getByRole("textbox", { name: "Subject" }));
    await theirs.waitFor();
    // Both tabs use the machine's clock. The time runs from one tab's request to the text in the other tab.
    let sent;
    one.on("request", (r) => { if (r.method() === "PATCH") sent = Date.now(); });
    await two.evaluate(() => {
      globalThis.shown = {};
      const look = () => {
        for (const i of document.querySelectorAll("input, textarea")) globalThis.shown[i.value] ??= Date.now();
        requestAnimationFrame(look);
      };
      look();
    });
    const times = [];
    for (let i = 0; i < 40; i++) {
      const words = `A lighthouse, ${i}`;
      await mine.fill(words);
      await until(() => two.evaluate((w) => globalThis.shown[w] !== undefined, words));
      times.push(await two.evaluate((w) => globalThis.shown[w], words) - sent);
      await waitUntilSaved(one);
    }
    console.log(`a patch in another tab: p50 ${percentile(times, 0.5)} ms, p95 ${percentile(times, 0.95)} ms, of ${times.length}`);
  });
});
