// Package definitiontest documents the keys of a definition for the guide to agents and for the tests that compare them
// with the reader. It has no errors and imports nothing.
package definitiontest

// Key documents one key of a definition's YAML.
type Key struct {
	// Path is the path of the key: turns, actions[].name.
	Path string
	// Type is the accepted type: text, number, list, mapping or another.
	Type string
	// Default is the value used if the key is missing; "required" if it must be present.
	Default string
	// Description describes the effect, with units and limits.
	Description string
}

// Keys documents every key of a definition, in the usual order.
func Keys() []Key {
	return []Key{
		{"slug", "text", "required", "The agent's name for programs and other agents: lower-case words joined by dashes. A definition replaces an earlier one with the same slug."},
		{"name", "text", "required", "The display name, which is accepted in place of the slug."},
		{"description", "text", "required", "The purpose of the agent. Other agents choose sub-agents by it."},
		{"prompt", "file name", "SLUG.md", "The instruction, a Markdown file in the same folder."},
		{"chat_models", "text or list", "none", "Preferred chat models, best first: display name, or PROVIDER/ID. `ATELIER_CHAT_MODEL` and `--model` take precedence. A model without a key is skipped, with a disposition."},
		{"image_models", "text or list", "none", "Preferred image models, best first."},
		{"requires", "text or list", "none", "Sources that the agent needs; without them it is not offered: files, web, db, kb, or one of the program's own (`agent.Config.Sources`)."},
		{"turns", "number", "20", "The maximum number of turns of one run, 1 to 200. In the last turn the model is asked to finish. A run that does not finish fails with `over_budget` and keeps what it made."},
		{"tokens", "number", "no limit", "The maximum number of input and output tokens of the run's own model calls, 100 to 1,000,000,000. When they are used up, the model gets one last turn. A sub-agent has the budget of its own definition."},
		{"interception_threshold", "number", "10000", "The minimum length in characters at which base64 without a media signature is treated as media, 256 to 100,000,000."},
		{"vision", "none or granted", "none", "With granted, the agent sees the pictures that it is granted as a sub-agent, if its model accepts them. With none, it gets their refs, labels and descriptions, and can use View Agent Media."},
		{"vision_context", "mapping", "off", "Which pictures from its actions the agent is shown automatically. For a sub-agent, the stricter value of its own and its parent's applies, key by key."},
		{"vision_context.enabled", "true or false", "false", "Whether pictures are shown."},
		{"vision_context.max_images", "number", "4", "The maximum number of pictures at a time, 1 to 100; the newest are shown."},
		{"vision_context.max_total_bytes", "number", "8388608", "The maximum total size in bytes, after conversion for the model, 1 to 268,435,456."},
		{"vision_context.allowed_sources", "text or list", "none", "Names or tags of the actions whose pictures are shown. Without any, no picture is shown."},
		{"vision_context.allow_mime_types", "text or list", "image/png, image/jpeg, image/webp, image/gif", "The media types that are shown."},
		{"vision_context.turns_to_live", "number", "1", "The number of turns for which a picture is shown, 1 to 200."},
		{"payload_schema", "mapping", "any object", "A JSON Schema (2020-12) that the final payload must match, at most 32 KiB; references are not fetched. It is part of the prompt. A payload that does not match is returned to the model once; then the run fails and keeps what it made."},
		{"actions[]", "text or mapping", "none", "An action that the agent may use: its name, or a mapping of the keys below."},
		{"actions[].name", "text", "required", "The action's name, in any case."},
		{"actions[].result_expiration_turns", "number", "0", "The number of further turns after which a result expires; 0 means never."},
		{"actions[].result_expiration_mode", "None, Remove or Compact", "Remove", "What happens to an expired result. Its refs are always kept."},
		{"actions[].compact_mode", "Truncate or Summarize", "Truncate", "How Compact shortens a result: by truncation, or by a summary that the agent's own model writes once. If the summary fails, the result is truncated."},
		{"actions[].compact_length", "number", "2000", "The number of characters of a compacted result, 1 to 1,000,000."},
		{"actions[].approval", "always", "none", "A person must approve each use before it is executed; the run pauses until then. A denied use fails with the person's note, and the run continues."},
		{"actions[].approval_over", "decimal number", "none", "The same for uses that would cost more than this many US dollars or have no known price. `--approve-over` takes precedence. Only for actions that cost something, such as Generate Image."},
		{"agents[]", "text or mapping", "none", "A sub-agent that the agent may call: its slug, or a mapping of the keys below. Cycles are refused."},
		{"agents[].slug", "text", "required", "The sub-agent's slug."},
		{"agents[].payload_key", "text", "none", "Where the sub-agent's final payload is stored in this agent's payload: a key, a dotted path, or `.` to merge it at the top level. Without it, the payload is only shown to the model."},
		{"agents[].input", "text or list", "none", "Keys of this agent's payload that the sub-agent receives, with the media that they embed."},
	}
}
