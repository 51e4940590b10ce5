package definition

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
		{"slug", "text", "required", "The agent's name for programs and other agents: lower case words joined by dashes. A definition replaces the earlier one with its slug."},
		{"name", "text", "required", "The display name. Agents answer to either."},
		{"description", "text", "required", "What it is for. Other agents choose by it."},
		{"prompt", "file name", "SLUG.md", "The instruction, a Markdown file in the same folder."},
		{"chat_models", "text or list", "none", "Preferred chat models, best first: display name, or PROVIDER/ID. `ATELIER_CHAT_MODEL` and `--model` come before them; a model without a key is skipped, and the result says so."},
		{"image_models", "text or list", "none", "Preferred image models, best first."},
		{"requires", "text or list", "none", "Sources without which the agent is not offered: files, web, db, kb, or one of the program's own (`agent.Config.Sources`)."},
		{"turns", "number", "20", "How many turns one run may take, 1 to 200. In the last one the model is asked to finish with what it has; a run that does not is over budget and keeps what it made."},
		{"tokens", "number", "no limit", "How many input and output tokens the run's own model calls may use together, 100 to 1,000,000,000. When they are used up, the model gets one last turn. A sub-agent has the budget of its own definition."},
		{"interception_threshold", "number", "10000", "From how many characters on base64 without a media signature is taken for media, 256 to 100,000,000."},
		{"vision", "none or granted", "none", "Granted shows the agent, as a sub-agent, the pixels of the pictures that it is granted, as far as its model takes them. Otherwise it knows them by ref, label and description, and can look with View Agent Media."},
		{"vision_context", "mapping", "off", "Which pictures that its actions make the agent is shown without asking. A sub-agent has the narrower of this and its parent's, key by key."},
		{"vision_context.enabled", "true or false", "false", "Whether any are shown."},
		{"vision_context.max_images", "number", "4", "How many at a time, the newest, 1 to 100."},
		{"vision_context.max_total_bytes", "number", "8388608", "How many bytes together, after they were made smaller for the model, 1 to 268,435,456."},
		{"vision_context.allowed_sources", "text or list", "none", "Names or tags of the actions whose pictures are shown; none shows none."},
		{"vision_context.allow_mime_types", "text or list", "image/png, image/jpeg, image/webp, image/gif", "The types that are shown."},
		{"vision_context.turns_to_live", "number", "1", "For how many turns a picture stays in sight, 1 to 200."},
		{"payload_schema", "mapping", "any object", "A JSON Schema (2020-12) that the final payload must fit, at most 32 KiB, nothing is fetched. The model reads it in its prompt. A payload that does not fit goes back once; then the run fails, and what it made is kept."},
		{"actions[]", "text or mapping", "none", "An action that the agent may take: its name, or a mapping of the keys below."},
		{"actions[].name", "text", "required", "The action's name, in any case."},
		{"actions[].result_expiration_turns", "number", "0", "After how many further turns a result leaves the context; 0 is never."},
		{"actions[].result_expiration_mode", "None, Remove or Compact", "Remove", "What becomes of an old result. Its refs stay in every case."},
		{"actions[].compact_mode", "Truncate or Summarize", "Truncate", "How Compact makes a result shorter: by cutting it, or by a summary that the agent's own model writes once; where that fails, by cutting."},
		{"actions[].compact_length", "number", "2000", "How many characters a compacted result keeps, 1 to 1,000,000."},
		{"actions[].approval", "always", "none", "A person has to approve each use before it is run; the run pauses meanwhile. A refused use fails with the person's note, and the run continues."},
		{"actions[].approval_over", "decimal number", "none", "The same, for uses that would cost more than this many US dollars, or whose price is not known. `--approve-over` goes before it. Only for actions that cost something, such as Generate Image."},
		{"agents[]", "text or mapping", "none", "A sub-agent that the agent may ask: its slug, or a mapping of the keys below. Circles are refused."},
		{"agents[].slug", "text", "required", "The sub-agent's slug."},
		{"agents[].payload_key", "text", "none", "Where the sub-agent's final payload goes in this agent's: a key, a dotted path, or `.` to merge it at the top. Without it the payload is only shown."},
		{"agents[].input", "text or list", "none", "Keys of this agent's payload that are handed down, with the media they embed."},
	}
}
