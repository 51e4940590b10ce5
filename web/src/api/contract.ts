// The types of the API, generated from docs/openapi.json, under the names that pages use.
import type { components } from "./types.gen";

type Schemas = components["schemas"];

export type Agent = Schemas["Agent"];
export type ActionCall = Schemas["Act"];
export type Conversation = Omit<Schemas["Conversation"], "messages"> & { messages: Message[] };
export type ConversationSummary = Schemas["ConversationHead"];
/** Partial, because events carry fewer fields. */
export type Cost = Partial<Schemas["Cost"]>;
export type Deleted = Schemas["Deleted"];
export type Failure = Partial<Schemas["Failure"]>;
export type FieldError = Schemas["Flaw"];
export type Generation = Schemas["Generation"];
export type Health = Schemas["Health"];
/** Partial, because events carry fewer fields. */
export type Media = Pick<Schemas["Media"], "id" | "ref" | "modality" | "mime_type"> & Partial<Schemas["Media"]>;
export type MediaDetails = Schemas["MediaDetails"];
export type Message = Omit<Schemas["Message"], "status"> & { status?: Status };
export type ModelCall = Schemas["ModelCall"];
export type NewGeneration = Schemas["NewGeneration"];
export type NewRun = Schemas["NewRun"];
export type Plan = Schemas["Plan"];
export type Problem = Schemas["Problem"];
export type Run = Schemas["Run"];
export type Setting = Schemas["Setting"];
export type ImageContext = Schemas["Sight"];
export type Started = Schemas["Started"];
export type Status = Run["status"];
export type Usage = Partial<Schemas["Usage"]>;

/** The fields of a chat or media model that a choice shows. */
export type Model = Pick<Schemas["ChatModel"], "id" | "provider" | "default" | "ready" | "reason"> & Partial<Pick<Schemas["ChatModel"], "name" | "vision">> & Partial<Pick<Schemas["Model"], "modality">>;

/** The details of an approval, which the API leaves untyped. */
interface ApprovalDetails { action?: string; params?: unknown; estimated_usd?: string | null; estimate?: string; reason?: string }

/** The question of a paused run, with typed details. */
export type Question = Partial<Omit<Schemas["Question"], "details">> & { details?: ApprovalDetails };

export interface List<T> {
  items: T[];
  next?: string;
}
