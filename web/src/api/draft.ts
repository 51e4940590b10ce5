// The draft of a message: text and files, kept per conversation until it is sent.
import { useCallback, useEffect, useRef, useState } from "react";
import type { Media } from "./contract";
import { Refusal, upload } from "./client";

export interface Attached {
  key: string;
  name: string;
  size: number;
  picture: boolean;
  progress: number;
  preview?: string;
  media?: Media;
  problem?: string;
}

export interface Draft {
  text: string;
  attached: Attached[];
  setText: (text: string) => void;
  attach: (files: Iterable<File>) => void;
  /** Attaches a stored item. The words become the text of an empty draft. */
  give: (media: Media, words?: string) => void;
  remove: (key: string) => void;
  clear: () => void;
  uploading: boolean;
}

const kinds = /\.(png|jpe?g|webp|gif|avif|heic|svg|bmp|tiff?|csv|tsv|xlsx?|json|jsonl|ndjson|pdf|docx|md|markdown|txt|log|html?|xml|ya?ml|mp3|wav|ogg|flac|m4a)$/i;

/** Returns the reason why a file cannot be attached; undefined if it can. */
export function unfit(file: File): string | undefined {
  if (file.size === 0) return "The file is empty.";
  if (!kinds.test(file.name) && !/^(image|text|audio)\//.test(file.type)) return "Pictures, tables (CSV, XLSX, JSON) and documents (PDF, DOCX, Markdown, text) can be attached.";
  return undefined;
}

interface Kept { text: string; media: Media[] }

function kept(place: string): Kept {
  try {
    return { text: "", media: [], ...(JSON.parse(sessionStorage.getItem(`atelier-draft ${place}`) ?? "{}") as Partial<Kept>) };
  } catch {
    return { text: "", media: [] };
  }
}

const asAttached = (m: Media): Attached => ({
  key: m.id, name: m.file_name || m.label || m.ref, size: m.size_bytes ?? 0, picture: m.modality === "image", progress: 1, media: m,
});

export function useDraft(place: string): Draft {
  const [text, setText] = useState(() => kept(place).text);
  const [attached, setAttached] = useState<Attached[]>(() => kept(place).media.map(asAttached));
  const aborts = useRef(new Map<string, AbortController>());

  useEffect(() => {
    try {
      sessionStorage.setItem(`atelier-draft ${place}`, JSON.stringify({ text, media: attached.flatMap((a) => a.media ?? []) }));
    } catch { /* Without storage, the draft does not survive a reload. */ }
  }, [place, text, attached]);

  const change = useCallback((key: string, to: Partial<Attached>) => {
    setAttached((all) => all.map((a) => (a.key === key ? { ...a, ...to } : a)));
  }, []);

  const attach = useCallback((files: Iterable<File>) => {
    for (const file of files) {
      const key = `${file.name} ${file.size} ${Math.random()}`;
      const picture = file.type.startsWith("image/");
      const problem = unfit(file);
      setAttached((all) => [...all, {
        key, name: file.name || "pasted picture", size: file.size, picture, progress: 0,
        ...(picture && { preview: URL.createObjectURL(file) }), ...(problem && { problem }),
      }]);
      if (problem) continue;
      const abort = new AbortController();
      aborts.current.set(key, abort);
      upload(file, (progress) => change(key, { progress }), abort.signal).then(
        (media) => change(key, { media, progress: 1 }),
        (e: unknown) => { if (!abort.signal.aborted) change(key, { problem: e instanceof Refusal ? `${e.message} ${e.hint}`.trim() : "The upload failed." }); },
      );
    }
  }, [change]);

  const give = useCallback((m: Media, words?: string) => {
    setAttached((all) => (all.some((a) => a.media?.id === m.id) ? all : [...all, asAttached(m)]));
    if (words) setText((text) => text.trim() ? text : words);
  }, []);
  const remove = useCallback((key: string) => {
    aborts.current.get(key)?.abort();
    setAttached((all) => all.filter((a) => a.key !== key));
  }, []);
  const clear = useCallback(() => {
    setText("");
    setAttached([]);
    sessionStorage.removeItem(`atelier-draft ${place}`); // even if the page is left before the effect runs
  }, [place]);
  return { text, attached, setText, attach, give, remove, clear, uploading: attached.some((a) => !a.media && !a.problem) };
}
