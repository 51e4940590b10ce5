// Requests to the server. Errors are converted to messages for people.
import type { ActionCall, Agent, Conversation, ConversationSummary, Deleted, FieldError, Generation, Health, ImageContext, List, Media, MediaDetails, Model, ModelCall, NewGeneration, NewRun, Plan, Problem, Run, Started } from "./contract";

/** A failed request: what happened, and what to do. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint = "",
    readonly retryable = false,
    /** The invalid fields, by pointer. */
    readonly fieldErrors: FieldError[] = [],
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** Reports whether the error is that something does not exist, or belongs to another owner. */
export const isNotFound = (e: unknown) => e instanceof ApiError && e.status === 404;

/** Converts a problem+json body to an error. For any other body, the message names the status. If the access token has
 * expired or was revoked, the page to sign in is opened. It leads back, and drafts are kept. */
export function errorFromResponse(status: number, body: string): ApiError {
  if (status === 401) window.location.assign(`/login?next=${encodeURIComponent(window.location.pathname + window.location.search)}`);
  try {
    const problem = JSON.parse(body) as Partial<Problem>;
    return new ApiError(status, problem.code ?? "internal", problem.detail || problem.title || `The server responded with status ${status}.`, problem.hint, problem.retryable, problem.errors ?? []);
  } catch {
    return new ApiError(status, "internal", status === 0 ? "The server cannot be reached." : `The server responded with status ${status}.`, status === 0 ? "Is atelier serve running?" : "", true);
  }
}

/** Sends a request and returns the decoded response. Throws an {@link ApiError} if it fails. */
export async function request<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  let status: number, text: string;
  try {
    const response = await fetch(path, {
      method,
      headers: { Accept: "application/json", ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    [status, text] = [response.status, await response.text()];
  } catch {
    throw errorFromResponse(0, "");
  }
  return decodeResponse(status, text);
}

/** Decodes the body of a response. Throws an {@link ApiError} if the request failed or the body is not JSON. */
function decodeResponse<T>(status: number, text: string): T {
  if (status >= 200 && status < 300) {
    try {
      return (text ? JSON.parse(text) : undefined) as T;
    } catch { /* a page of a proxy, for example to log in */ }
  }
  throw errorFromResponse(status, text);
}

const get = <T>(path: string) => request<T>("GET", path);
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
  rename: (c: string, title: string) => request<unknown>("PATCH", `/api/conversations/${id(c)}`, { title }),
  remove: (c: string) => request<Deleted>("DELETE", `/api/conversations/${id(c)}`),
  restore: (c: string) => request<unknown>("POST", `/api/conversations/${id(c)}/restore`),
  run: (r: string) => get<Run>(`/api/runs/${id(r)}`),
  runs: (status: string) => get<List<Run>>(`/api/runs?status=${id(status)}`),
  start: (r: NewRun, key: string) => request<Started>("POST", "/api/runs", r, { "Idempotency-Key": key }),
  cancel: (r: string) => request<unknown>("POST", `/api/runs/${id(r)}/cancel`),
  retry: (r: string) => request<Started>("POST", `/api/runs/${id(r)}/retry`),
  answer: (r: string, body: unknown) => request<unknown>("POST", `/api/runs/${id(r)}/answer`, body),
  fork: (c: string, after: string) => request<ConversationSummary>("POST", `/api/conversations/${id(c)}/fork`, { after }),
  imageContext: (r: string) => get<ImageContext>(`/api/runs/${id(r)}/sight`),
  modelCalls: (r: string, after: string) => get<List<ModelCall>>(`/api/runs/${id(r)}/model-calls?limit=50${after ? `&after=${id(after)}` : ""}`),
  actionCalls: (r: string, after: string) => get<List<ActionCall>>(`/api/runs/${id(r)}/acts?limit=50${after ? `&after=${id(after)}` : ""}`),
  plan: (g: NewGeneration) => request<Plan>("POST", "/api/generations/plan", g),
  generate: (g: NewGeneration, key: string) => request<Generation>("POST", "/api/generations", g, { "Idempotency-Key": key }),
  generation: (g: string) => get<Generation>(`/api/generations/${id(g)}`),
  cancelGeneration: (g: string) => request<Generation>("POST", `/api/generations/${id(g)}/cancel`),
  retryGeneration: (g: string, key: string) => request<Generation>("POST", `/api/generations/${id(g)}/retry`, undefined, { "Idempotency-Key": key }),
  mediaList: (q: string, kind: string, after: string) => get<List<Media>>(`/api/media?limit=48${q ? `&q=${id(q)}` : ""}${kind ? `&modality=${id(kind)}` : ""}${after ? `&after=${id(after)}` : ""}`),
  media: (m: string) => get<MediaDetails>(`/api/media/${id(m)}`),
};

/** Uploads a file as the field "file" and reports the progress from 0 to 1. */
export function upload(file: File, progress: (fraction: number) => void, signal: AbortSignal): Promise<Media> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    const form = new FormData();
    form.append("file", file, file.name);
    xhr.upload.onprogress = (e) => { if (e.lengthComputable) progress(e.loaded / e.total); };
    xhr.onload = () => {
      try {
        resolve(decodeResponse<Media>(xhr.status, xhr.responseText));
      } catch (e) {
        reject(e);
      }
    };
    xhr.onerror = () => reject(errorFromResponse(0, ""));
    xhr.onabort = () => reject(new DOMException("removed", "AbortError"));
    signal.addEventListener("abort", () => xhr.abort());
    xhr.open("POST", "/api/media");
    xhr.send(form);
  });
}
