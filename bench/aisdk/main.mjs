// Makes the pictures by the AI SDK, hashes and stores them as load.Store does, and
// prints the same line of JSON as the other subjects.
import { createHash } from "node:crypto";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { createOpenAI } from "@ai-sdk/openai";
import { generateImage } from "ai";

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    dir: { type: "string" },
    images: { type: "string", default: "640" },
    "in-flight": { type: "string", default: "64" },
  },
});
const images = Number(values.images);
const inFlight = Number(values["in-flight"]);
if (!values.url || !values.dir || !(images > 0) || !(inFlight > 0)) {
  console.error("give --url and --dir, and positive --images and --in-flight");
  process.exit(1);
}

const openai = createOpenAI({ apiKey: "sk-simulated-openai", baseURL: `${values.url}/v1` });
const model = openai.image("gpt-image-2");
let files = 0;

async function make() {
  const { image } = await generateImage({ model, prompt: "a house", maxRetries: 0 });
  const bytes = image.uint8Array;
  if (bytes.length < 1 << 20) throw new Error(`the picture has only ${bytes.length} bytes`);
  const digest = createHash("sha256").update(bytes).digest("hex");
  const upload = join(values.dir, `upload-${++files}`);
  const file = await open(upload, "w", 0o600);
  await file.writeFile(bytes);
  await file.sync();
  await file.close();
  await rename(upload, join(values.dir, digest));
}

/** Makes n pictures and gives the milliseconds that each took. */
async function flood(n, atOnce) {
  let next = 0;
  const times = [];
  const worker = async () => {
    while (next++ < n) {
      const start = performance.now();
      await make();
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return times;
}

function median(times) {
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)];
}

await flood(64, inFlight);
const start = performance.now();
const times = await flood(images, inFlight);
const seconds = (performance.now() - start) / 1000;
const alone = median(await flood(Math.max(Math.floor(images / 10), 1), 1));
console.log(JSON.stringify({ images, seconds, p50_ms: median(times), alone_ms: alone }));
