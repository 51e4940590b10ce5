// Requests to the server. Errors are converted to messages for people.
import type { Act, Agent, Conversation, ConversationSummary, Deleted, Flaw, Generation, Health, List, Media, MediaDetails, Model, ModelCall, NewGeneration, NewRun, Plan, Problem, Run, Sight, Started } from "./contract";

/** A failed request: what happened, and what to do. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint = "",
    readonly retryable = false,
    /** The invalid fields, by pointer. */
    readonly flaws: Flaw[] = [],
  ) {
    super(message);
    this.name = "Refusal";
  }
}

/** Converts a problem+json body. Any other body becomes a sentence about the status. */
export function refusal(status: number, body: string): Refusal {
  try {
    const p = JSON.parse(body) as Partial<Problem>;
    return new Refusal(status, p.code ?? "internal", p.detail || p.title || `The server responded with status ${status}.`, p.hint, p.retryable, p.errors ?? []);
  } catch {
    return new Refusal(status, "internal", status === 0 ? "The server cannot be reached." : `The server responded with status ${status}.`, status === 0 ? "Is atelier serve running?" : "", true);
  }
}

/** Sends a request and returns the decoded response. Throws a {@link Refusal} if it fails. */
export async function ask<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: { Accept: "application/json", ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch {
    throw refusal(0, "");
  }
  const text = await response.text();
  if (!response.ok) throw refusal(response.status, text);
  return (text ? JSON.parse(text) : undefined) as T;
}

const get = <T>(path: string) => ask<T>("GET", path);
const id = encodeURIComponent;

/** Returns a new key under which the server executes a request once, however often it is sent. */
export function idempotencyKey(): string {
  return typeof crypto.randomUUID === "function" ? crypto.randomUUID() : `${Date.now()}-${Math.random().toString(36).slice(2)}`;
}

export const api = {
  health: () => get<Health>("/api/health"),
  agents: () => get<List<Agent>>("/api/agents"),
  chatModels: () => get<List<Model>>("/api/chat-models"),
  imageModels: () => get<List<Model>>("/api/models"),
  conversations: (q: string, after = "") => get<List<ConversationSummary>>(`/api/conversations?limit=50${q ? `&q=${id(q)}` : ""}${after ? `&after=${id(after)}` : ""}`),
  conversation: (c: string) => get<Conversation>(`/api/conversations/${id(c)}`),
  rename: (c: string, title: string) => ask<unknown>("PATCH", `/api/conversations/${id(c)}`, { title }),
  remove: (c: string) => ask<Deleted>("DELETE", `/api/conversations/${id(c)}`),
  restore: (c: string) => ask<unknown>("POST", `/api/conversations/${id(c)}/restore`),
  run: (r: string) => get<Run>(`/api/runs/${id(r)}`),
  runs: (status: string) => get<List<Run>>(`/api/runs?status=${id(status)}`),
  start: (r: NewRun, key: string) => ask<Started>("POST", "/api/runs", r, { "Idempotency-Key": key }),
  cancel: (r: string) => ask<unknown>("POST", `/api/runs/${id(r)}/cancel`),
  retry: (r: string) => ask<Started>("POST", `/api/runs/${id(r)}/retry`),
  answer: (r: string, body: unknown) => ask<unknown>("POST", `/api/runs/${id(r)}/answer`, body),
  fork: (c: string, after: string) => ask<ConversationSummary>("POST", `/api/conversations/${id(c)}/fork`, { after }),
  sight: (r: string) => get<Sight>(`/api/runs/${id(r)}/sight`),
  modelCalls: (r: string, after: string) => get<List<ModelCall>>(`/api/runs/${id(r)}/model-calls?limit=50${after ? `&after=${id(after)}` : ""}`),
  acts: (r: string, after: string) => get<List<Act>>(`/api/runs/${id(r)}/acts?limit=50${after ? `&after=${id(after)}` : ""}`),
  plan: (g: NewGeneration) => ask<Plan>("POST", "/api/generations/plan", g),
  generate: (g: NewGeneration, key: string) => ask<Generation>("POST", "/api/generations", g, { "Idempotency-Key": key }),
  generation: (g: string) => get<Generation>(`/api/generations/${id(g)}`),
  cancelGeneration: (g: string) => ask<Generation>("POST", `/api/generations/${id(g)}/cancel`),
  retryGeneration: (g: string, key: string) => ask<Generation>("POST", `/api/generations/${id(g)}/retry`, undefined, { "Idempotency-Key": key }),
  mediaList: (q: string, kind: string, after: string) => get<List<Media>>(`/api/media?limit=48${q ? `&q=${id(q)}` : ""}${kind ? `&modality=${id(kind)}` : ""}${after ? `&after=${id(after)}` : ""}`),
  removeMedia: (m: string) => ask<Deleted>("DELETE", `/api/media/${id(m)}`),
  restoreMedia: (m: string) => ask<Media>("POST", `/api/media/${id(m)}/restore`),
  media: (m: string) => get<MediaDetails>(`/api/media/${id(m)}`),
};

/** Uploads a file as the field "file" and reports the progress from 0 to 1. */
export function upload(file: File, progress: (part: number) => void, signal: AbortSignal): Promise<Media> {
  return new Promise((done, fail) => {
    const x = new XMLHttpRequest();
    const form = new FormData();
    form.append("file", file, file.name);
    x.upload.onprogress = (e) => { if (e.lengthComputable) progress(e.loaded / e.total); };
    x.onload = () => (x.status < 300 ? done(JSON.parse(x.responseText) as Media) : fail(refusal(x.status, x.responseText)));
    x.onerror = () => fail(refusal(0, ""));
    x.onabort = () => fail(new DOMException("removed", "AbortError"));
    signal.addEventListener("abort", () => x.abort());
    x.open("POST", "/api/media");
    x.send(form);
  });
}
