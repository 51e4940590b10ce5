// The draft of a message: text and files, kept per conversation until it is sent.
import { useMemo } from "react";
import type { Media } from "./contract";
import { ApiError, upload } from "./client";
import { sharedState } from "./shared-state";
import { readStored, writeStored } from "./storage";

export interface Attachment {
  key: string;
  name: string;
  size: number;
  progress: number;
  preview?: string;
  media?: Media;
  error?: string;
}

export interface Draft {
  text: string;
  attachments: Attachment[];
  setText: (text: string) => void;
  /** Adds a text below what is already there. */
  addText: (text: string) => void;
  attach: (files: Iterable<File>) => void;
  /** Attaches a stored item. The text becomes that of an empty draft. */
  attachMedia: (media: Media, text?: string) => void;
  remove: (key: string) => void;
  replace: (draft: Pick<Draft, "text" | "attachments">) => void;
  /** Removes what was sent. What was added since stays. */
  clear: (sent: Pick<Draft, "text" | "attachments">) => void;
  uploading: boolean;
}

const allowedFiles = /\.(png|jpe?g|webp|gif|avif|heic|svg|bmp|tiff?|csv|tsv|xlsx?|json|jsonl|ndjson|pdf|docx|md|markdown|txt|log|html?|xml|ya?ml|mp3|wav|ogg|flac|m4a)$/i;

/** Returns the reason why a file cannot be attached; undefined if it can. */
export function rejectReason(file: File): string | undefined {
  if (file.size === 0) return "The file is empty.";
  if (!allowedFiles.test(file.name) && !/^(image|text|audio)\//.test(file.type)) return "Pictures, tables (CSV, XLSX, JSON) and documents (PDF, DOCX, Markdown, text) can be attached.";
  return undefined;
}

type DraftState = Pick<Draft, "text" | "attachments">;
interface StoredDraft { text: string; media: Media[] }

const storage = () => sessionStorage;
const storageKey = (conversation: string) => `atelier-draft ${conversation}`;
const drafts = sharedState<Partial<Record<string, DraftState>>>({}); // outside the page, which may be left during an upload
const abortControllers = new Map<string, AbortController>();

const toAttachment = (m: Media): Attachment => ({
  key: m.id, name: m.file_name || m.label || m.ref, size: m.size_bytes ?? 0, progress: 1, media: m,
});

function loadDraft(conversation: string): DraftState {
  const { text = "", media = [] } = readStored<StoredDraft>(storage, storageKey(conversation)) ?? {};
  return { text, attachments: media.map(toAttachment) };
}

/** Returns the draft of a conversation, kept in this tab. */
export function useDraft(conversation: string): Draft {
  const stored = useMemo(() => loadDraft(conversation), [conversation]);
  const draft = drafts.use((all) => all[conversation] ?? stored);
  const operations = useMemo(() => draftOperations(conversation), [conversation]);
  return { ...draft, ...operations, uploading: draft.attachments.some((a) => !a.media && !a.error) };
}

function draftOperations(conversation: string) {
  const change = (to: (now: DraftState) => Partial<DraftState>) => {
    const now = drafts.get()[conversation] ?? loadDraft(conversation);
    const next = { ...now, ...to(now) };
    drafts.set({ ...drafts.get(), [conversation]: next });
    writeStored(storage, storageKey(conversation), { text: next.text, media: next.attachments.flatMap((a) => a.media ?? []) });
  };
  const add = (a: Attachment) => change(({ attachments }) => ({ attachments: [...attachments, a] }));
  const update = (key: string, part: Partial<Attachment>) => change(({ attachments }) => ({ attachments: attachments.map((a) => (a.key === key ? { ...a, ...part } : a)) }));
  return {
    setText: (text: string) => change(() => ({ text })),
    addText: (more: string) => change(({ text }) => ({ text: text.trim() ? `${text.trimEnd()}\n\n${more}` : more })),
    attach: (files: Iterable<File>) => {
      for (const file of files) {
        const key = `${file.name} ${file.size} ${Math.random()}`;
        const error = rejectReason(file);
        add({ key, name: file.name || "pasted picture", size: file.size, progress: 0, ...(file.type.startsWith("image/") && { preview: URL.createObjectURL(file) }), ...(error && { error }) });
        if (error) continue;
        const abort = new AbortController();
        abortControllers.set(key, abort);
        upload(file, (progress) => update(key, { progress }), abort.signal).then(
          (media) => change(({ attachments }) => ({ // a file that is attached already has the same item
            attachments: attachments.some((a) => a.media?.id === media.id) ? attachments.filter((a) => a.key !== key) : attachments.map((a) => (a.key === key ? { ...a, media, progress: 1 } : a)),
          })),
          (e: unknown) => { if (!abort.signal.aborted) update(key, { error: e instanceof ApiError ? `${e.message} ${e.hint}`.trim() : "The upload failed." }); },
        ).finally(() => abortControllers.delete(key));
      }
    },
    attachMedia: (m: Media, initialText?: string) => change(({ text, attachments }) => ({
      attachments: attachments.some((a) => a.media?.id === m.id) ? attachments : [...attachments, toAttachment(m)], text: text.trim() ? text : (initialText ?? text),
    })),
    remove: (key: string) => {
      abortControllers.get(key)?.abort();
      change(({ attachments }) => ({ attachments: attachments.filter((a) => a.key !== key) }));
    },
    replace: (draft: DraftState) => change(() => draft),
    clear: (sent: DraftState) => change(({ text, attachments }) => ({
      text: text.startsWith(sent.text) ? text.slice(sent.text.length).trimStart() : text, attachments: attachments.filter((a) => !sent.attachments.some((s) => s.key === a.key)),
    })),
  };
}
