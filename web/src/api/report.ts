// A report outside its frame: printed, or saved as one file.
import { errorFromResponse } from "./client";

async function fetchReport(url: string): Promise<string> {
  const r = await fetch(url);
  const text = await r.text();
  if (!r.ok) throw errorFromResponse(r.status, text);
  return text;
}

/** Prints a report from a hidden frame whose sandbox allows no script. */
export async function printReport(url: string): Promise<void> {
  const html = await fetchReport(url);
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-same-origin allow-modals");
  frame.setAttribute("aria-hidden", "true");
  frame.className = "print-frame";
  const loaded = new Promise((done) => { frame.onload = done; });
  frame.srcdoc = html;
  document.body.append(frame);
  await loaded;
  frame.contentWindow?.print();
  setTimeout(() => frame.remove(), 60_000); // the dialog may still read it
}

/** Saves a report with its pictures inside. */
export async function saveReport(url: string, title: string): Promise<void> {
  const html = await inlineMedia(await fetchReport(url), async (address) => dataURL(await (await fetch(address)).blob()));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  link.download = `${title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "report"}.html`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Replaces each address under /media/ with the result of load. Each address is loaded once. */
export async function inlineMedia(html: string, load: (address: string) => Promise<string>): Promise<string> {
  const found = new Set([...html.matchAll(/["'(](\/media\/[A-Za-z0-9-]+(?:\?[^"')\s]*)?)/g)].map((m) => m[1] ?? ""));
  const data = new Map<string, string>();
  for (const address of found) data.set(address, await load(address.replaceAll("&amp;", "&")));
  return html.replace(/(["'(])(\/media\/[A-Za-z0-9-]+(?:\?[^"')\s]*)?)/g, (_, before: string, address: string) => before + (data.get(address) ?? address));
}

function dataURL(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error("not read"));
    reader.readAsDataURL(blob);
  });
}
