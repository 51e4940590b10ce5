// Media placeholders in text, and the formatting of costs, tokens, durations and sizes.
import type { Cost, Media, Usage } from "../api/contract";

const placeholder = /\$\{media:([A-Za-z0-9_-]+)\}/g;

export function mediaURL(m: Media, width?: 16 | 160 | 320 | 640 | 1280 | 2048): string {
  const url = m.url ?? `/media/${m.id}`;
  return width && m.modality === "image" && m.mime_type !== "image/svg+xml" ? `${url}?w=${width}` : url;
}

/** Returns the Markdown of a message. Media become images with the scheme "media:", in a separate
 * paragraph if the line is prose. An incomplete placeholder at the end is left out, and the beginning of one while
 * more text is pending. */
export function toMarkdown(text: string, pending: boolean): string {
  let fenced = false;
  return text.replace(pending ? /\$(\{[^}]*)?$/ : /\$\{media:[^}]*$/, "").split("\n").map((line) => {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    if (fenced) return line;
    if (/^\s*([-*+>|#]|\d+[.)]\s)/.test(line)) return line.replace(placeholder, "![$1](media:$1)");
    return line.replace(/(\s*\$\{media:[A-Za-z0-9_-]+\}\s*)+/g, (all) => `\n\n${mediaRefs(all).map((r) => `![${r}](media:${r})`).join(" ")}\n\n`);
  }).join("\n").trim();
}

export function mediaRefs(text: string): string[] {
  return [...text.matchAll(placeholder)].map((m) => m[1] ?? "");
}

/** The text for the clipboard, a title or a screen reader, with media replaced by their names. */
export function plainText(text: string, known: Record<string, Media> = {}): string {
  return text.replace(placeholder, (_, ref: string) => `[${(known[ref] && mediaName(known[ref])) || "picture"}]`).trim();
}

/** The display name of an item. */
export function mediaName(m: Media): string {
  return m.label || m.file_name || m.description || (m.modality === "image" ? "Picture" : "File");
}

/** The alternative text of a picture. */
export function altText(m: Media): string {
  return m.label || m.description || m.file_name || "Picture";
}

/** A cost in words; undefined if it is unknown. */
export function formatCost(c: Cost | undefined): string | undefined {
  if (!c) return undefined;
  const values = [c.reported_usd, c.estimated_usd].map((v) => (v === null || v === undefined || v === "" ? NaN : Number(v))).filter((v) => !Number.isNaN(v));
  if (values.length === 0) return undefined;
  const usd = Math.max(...values);
  const least = c.complete === false ? "at least " : "";
  if (usd === 0) return c.complete === false ? undefined : "free";
  if (usd < 0.001) return `${least}< $0.001`;
  return `${least}$${usd < 1 ? usd.toFixed(3) : usd.toFixed(2)}`;
}

export function formatTokens(u: Usage | undefined): string | undefined {
  const n = (u?.input_tokens ?? 0) + (u?.output_tokens ?? 0);
  if (n === 0) return undefined;
  return n < 1000 ? `${n} tokens` : `${(n / 1000).toFixed(n < 10_000 ? 1 : 0)}k tokens`;
}

export function formatDuration(ms: number): string {
  if (ms < 50) return "< 0.1 s";
  if (ms < 950) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  return s < 3600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

export function formatBytes(n: number | undefined): string {
  if (n === undefined) return "";
  if (n < 1000) return `${n} B`;
  return n < 1_000_000 ? `${Math.round(n / 1000)} kB` : `${(n / 1_000_000).toFixed(1)} MB`;
}
