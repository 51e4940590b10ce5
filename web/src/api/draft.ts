// The draft of a message: text and files, kept per conversation until it is sent.
import { useCallback, useEffect, useRef, useState } from "react";
import type { Media } from "./contract";
import { ApiError, upload } from "./client";
import { readStored, writeStored } from "./storage";

export interface Attachment {
  key: string;
  name: string;
  size: number;
  isImage: boolean;
  progress: number;
  preview?: string;
  media?: Media;
  error?: string;
}

export interface Draft {
  text: string;
  attachments: Attachment[];
  setText: (text: string) => void;
  attach: (files: Iterable<File>) => void;
  /** Attaches a stored item. The text becomes that of an empty draft. */
  attachMedia: (media: Media, text?: string) => void;
  remove: (key: string) => void;
  clear: () => void;
  uploading: boolean;
}

const allowedFiles = /\.(png|jpe?g|webp|gif|avif|heic|svg|bmp|tiff?|csv|tsv|xlsx?|json|jsonl|ndjson|pdf|docx|md|markdown|txt|log|html?|xml|ya?ml|mp3|wav|ogg|flac|m4a)$/i;

/** Returns the reason why a file cannot be attached; undefined if it can. */
export function rejectReason(file: File): string | undefined {
  if (file.size === 0) return "The file is empty.";
  if (!allowedFiles.test(file.name) && !/^(image|text|audio)\//.test(file.type)) return "Pictures, tables (CSV, XLSX, JSON) and documents (PDF, DOCX, Markdown, text) can be attached.";
  return undefined;
}

interface StoredDraft { text: string; media: Media[] }

const storage = () => sessionStorage;
const storageKey = (conversation: string) => `atelier-draft ${conversation}`;

function loadDraft(conversation: string): StoredDraft {
  return { text: "", media: [], ...readStored<StoredDraft>(storage, storageKey(conversation)) };
}

const toAttachment = (m: Media): Attachment => ({
  key: m.id, name: m.file_name || m.label || m.ref, size: m.size_bytes ?? 0, isImage: m.modality === "image", progress: 1, media: m,
});

export function useDraft(conversation: string): Draft {
  const [text, setText] = useState(() => loadDraft(conversation).text);
  const [attachments, setAttachments] = useState<Attachment[]>(() => loadDraft(conversation).media.map(toAttachment));
  const abortControllers = useRef(new Map<string, AbortController>());

  useEffect(() => {
    writeStored(storage, storageKey(conversation), { text, media: attachments.flatMap((a) => a.media ?? []) });
  }, [conversation, text, attachments]);

  const update = useCallback((key: string, change: Partial<Attachment>) => {
    setAttachments((all) => all.map((a) => (a.key === key ? { ...a, ...change } : a)));
  }, []);

  const attach = useCallback((files: Iterable<File>) => {
    for (const file of files) {
      const key = `${file.name} ${file.size} ${Math.random()}`;
      const isImage = file.type.startsWith("image/");
      const error = rejectReason(file);
      setAttachments((all) => [...all, {
        key, name: file.name || "pasted picture", size: file.size, isImage, progress: 0,
        ...(isImage && { preview: URL.createObjectURL(file) }), ...(error && { error }),
      }]);
      if (error) continue;
      const abort = new AbortController();
      abortControllers.current.set(key, abort);
      upload(file, (progress) => update(key, { progress }), abort.signal).then(
        (media) => update(key, { media, progress: 1 }),
        (e: unknown) => { if (!abort.signal.aborted) update(key, { error: e instanceof ApiError ? `${e.message} ${e.hint}`.trim() : "The upload failed." }); },
      );
    }
  }, [update]);

  const attachMedia = useCallback((m: Media, initialText?: string) => {
    setAttachments((all) => (all.some((a) => a.media?.id === m.id) ? all : [...all, toAttachment(m)]));
    if (initialText) setText((now) => now.trim() ? now : initialText);
  }, []);
  const remove = useCallback((key: string) => {
    abortControllers.current.get(key)?.abort();
    setAttachments((all) => all.filter((a) => a.key !== key));
  }, []);
  const clear = useCallback(() => {
    setText("");
    setAttachments([]);
    sessionStorage.removeItem(storageKey(conversation)); // even if the page is left before the effect runs
  }, [conversation]);
  return { text, attachments, setText, attach, attachMedia, remove, clear, uploading: attachments.some((a) => !a.media && !a.error) };
}
