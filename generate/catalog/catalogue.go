// Package catalog holds what models can do and cost, as data: their names, methods, sizes, settings,
// prices and life cycles, one YAML file for each provider. It loads and checks the rows, finds
// models by their names, and fits sizes and ratios to what a row takes. It makes no call.
//
// Errors are media.Error values, media.CodeInvalid for rows that make no sense. It may import
// media, generate and generate/money.
package catalog

import (
	"slices"
	"strings"
	"time"

	"atelier/generate"
	"atelier/media"
)

// Model is one catalogue row: what a model is called, what it takes, what it
// costs and how long it lives. Rows are data (one YAML file per provider).
type Model struct {
	// Name is the display name, as people say it: "Nano Banana Pro".
	Name string `json:"name" yaml:"name"`
	// Provider is the driver's key.
	Provider string `json:"provider" yaml:"-"`
	// APIModel is the provider's id.
	APIModel string `json:"api_model" yaml:"api_model"`
	// Aliases are other names that people and seeds use.
	Aliases []string `json:"aliases,omitempty" yaml:"aliases"`
	// Like names the row of which a row of the user's files is a copy but for the fields
	// that it names, as provider/id: what a proxy makes of a shipped model.
	Like string `json:"like,omitempty" yaml:"like"`
	// InsteadOf lists the shipped models, as provider/id, of which names mean this row of
	// the user's files. They are found as provider/id, provider/name or provider/alias.
	InsteadOf []string       `json:"instead_of,omitempty" yaml:"-"`
	Modality  media.Modality `json:"modality" yaml:"modality"`
	// Via names which of the provider's endpoints takes the model, where it has several: images
	// at OpenRouter, whose usual one is that of chats.
	Via     string            `json:"via,omitempty" yaml:"via"`
	Methods []generate.Method `json:"methods" yaml:"methods"`
	// Emulates lists methods that the Gateway makes out of an edit, with a disposition:
	// variation, where the provider has no endpoint for it.
	Emulates []generate.Method `json:"emulates,omitempty" yaml:"emulates"`
	Size     SizeRule          `json:"size" yaml:"size"`
	// MaxN is how many results one call gives; more are split into several calls.
	MaxN int `json:"max_n" yaml:"max_n"`
	// Grid is how many results every call gives, however many are asked of it, and at
	// least MaxN; 0 means as many as asked.
	Grid int `json:"grid,omitempty" yaml:"grid"`
	// MaxInputs is how many input pictures one call takes; 0 means none.
	MaxInputs int `json:"max_inputs" yaml:"max_inputs"`
	// InputTypes are the MIME types of input pictures; others are converted to the first
	// one that fits. Empty means every type that imaging decodes.
	InputTypes []string `json:"input_types,omitempty" yaml:"input_types"`
	// MaxInputBytes bounds one input picture, MaxMaskBytes the mask; 0 means unknown.
	MaxInputBytes int64 `json:"max_input_bytes,omitempty" yaml:"max_input_bytes"`
	// MaxInputPixels bounds width times height of one input picture; 0 means unknown.
	MaxInputPixels int   `json:"max_input_pixels,omitempty" yaml:"max_input_pixels"`
	MaxMaskBytes   int64 `json:"max_mask_bytes,omitempty" yaml:"max_mask_bytes"`
	// Mask is the polarity: none, alpha0 (transparent = repaint), white, black.
	Mask string `json:"mask" yaml:"mask"`
	// EditLacks lists what of Supports and Options an edit does not take, GenerateLacks what a generation does not.
	EditLacks     []string `json:"edit_lacks,omitempty" yaml:"edit_lacks"`
	GenerateLacks []string `json:"generate_lacks,omitempty" yaml:"generate_lacks"`
	// MaxPrompt is the prompt's limit in characters; 0 means unknown.
	MaxPrompt int `json:"max_prompt" yaml:"max_prompt"`
	// Supports lists what the model takes besides: seed, negative_prompt, style,
	// stream, background, compression, moderation, speed.
	Supports []string `json:"supports" yaml:"supports"`
	// Styles are the model's own style words, in lower case; empty, where it supports styles, means any word.
	Styles []string `json:"styles,omitempty" yaml:"styles"`
	// Qualities are the model's own quality words; Formats its output formats.
	Qualities []string `json:"qualities,omitempty" yaml:"qualities"`
	Formats   []string `json:"formats,omitempty" yaml:"formats"`
	// Voices are the names of the voices of a model that speaks, its usual one first.
	Voices []string `json:"voices,omitempty" yaml:"voices"`
	// Options are the provider options that it takes.
	Options []string `json:"options,omitempty" yaml:"options"`
	// OptionRules say which values they take, by their names; the provider judges the others.
	OptionRules map[string]OptionRule `json:"option_rules,omitempty" yaml:"option_rules"`
	// Acts are what it can be asked to do, where that is more than its methods say.
	Acts []Act `json:"acts,omitempty" yaml:"acts"`
	// Flags are the settings that stand at the end of the prompt, in their order.
	Flags []Flag `json:"flags,omitempty" yaml:"flags"`
	// MaxSeed is the largest seed; 0 means that any 64-bit number will do.
	MaxSeed int64 `json:"max_seed,omitempty" yaml:"max_seed"`
	// TimeoutSeconds bounds one call; 0 means the Gateway's default of 300.
	TimeoutSeconds int `json:"timeout_seconds,omitempty" yaml:"timeout_seconds"`
	// PollSeconds is the pause between polls of an asynchronous task, WaitSeconds how
	// long it is polled before the operation is left running; 0 means 2 and 120.
	PollSeconds int `json:"poll_seconds,omitempty" yaml:"poll_seconds"`
	WaitSeconds int `json:"wait_seconds,omitempty" yaml:"wait_seconds"`
	// LinkSeconds is how long the link to a result lives; 0 means unknown. One that is refused within that
	// time, or within a day where it is unknown, is asked for again.
	LinkSeconds int `json:"link_seconds,omitempty" yaml:"link_seconds"`
	// Concurrency is how many calls of the model run at once; 0 means no limit of its own. The
	// highest of a provider's rows holds for all its models together, or the Gateway's default of 4.
	Concurrency int `json:"concurrency,omitempty" yaml:"concurrency"`
	// PerMinute is how many calls of the model one gateway makes a minute. They are spread evenly: a call waits for its
	// turn. 0 means no limit of its own. The highest of a provider's rows holds for all its models together. No shipped
	// row has one, because where providers tell limits they are those of an account's tier.
	PerMinute int       `json:"per_minute,omitempty" yaml:"per_minute"`
	Prices    []Price   `json:"prices" yaml:"prices"`
	Life      LifeCycle `json:"life" yaml:"life"`
	// Source says where the facts come from, and when they were read.
	Source string `json:"source" yaml:"source"`
	// Unconfirmed lists what the row says with one weak source or none, or where sources
	// disagree; empty where there is no such fact.
	Unconfirmed []string `json:"unconfirmed,omitempty" yaml:"unconfirmed"`
}

// Voice is the model's usual voice; empty if its row names none.
func (m Model) Voice() string {
	if len(m.Voices) == 0 {
		return ""
	}
	return m.Voices[0]
}

// Streams reports whether the model gives preview frames.
func (m Model) Streams() bool { return slices.Contains(m.Supports, "stream") }

// SizeRule says how a model is sized.
type SizeRule struct {
	// Mode is enum (Values), free (Step and limits), tier (Ratios × Tiers), ratio (any ratio up to MaxRatio) or none.
	Mode   string   `json:"mode" yaml:"mode"`
	Values []string `json:"values,omitempty" yaml:"values"`
	Auto   bool     `json:"auto,omitempty" yaml:"auto"`
	// Step, MinSide, MaxSide are pixels; MinPixels, MaxPixels are products; MaxRatio is long side by short side.
	Step      int     `json:"step,omitempty" yaml:"step"`
	MinSide   int     `json:"min_side,omitempty" yaml:"min_side"`
	MaxSide   int     `json:"max_side,omitempty" yaml:"max_side"`
	MinPixels int     `json:"min_pixels,omitempty" yaml:"min_pixels"`
	MaxPixels int     `json:"max_pixels,omitempty" yaml:"max_pixels"`
	MaxRatio  float64 `json:"max_ratio,omitempty" yaml:"max_ratio"`
	// Ratios and Tiers; Table gives the pixels of each: table[tier][ratio] = WxH.
	Ratios []string                     `json:"ratios,omitempty" yaml:"ratios"`
	Tiers  []string                     `json:"tiers,omitempty" yaml:"tiers"`
	Table  map[string]map[string]string `json:"table,omitempty" yaml:"table"`
}

// Price is one price line in US dollars as decimal text.
type Price struct {
	// Unit is image, megapixel, megapixel_first, megapixel_more, megapixel_in (whole ones: the first of a picture, its
	// further ones, those of its inputs), token_text_in, token_image_in, token_image_out, token_text_out, second,
	// character, credit. Prices of tokens and characters are per million. Tokens of output that are no picture's, those
	// of sound too, are token_text_out.
	Unit string `json:"unit" yaml:"unit"`
	// Quality, Size and Tier narrow the line; empty matches all. A size of "auto" is that
	// which the provider decides on.
	Quality string `json:"quality,omitempty" yaml:"quality"`
	Size    string `json:"size,omitempty" yaml:"size"`
	Tier    string `json:"tier,omitempty" yaml:"tier"`
	USD     string `json:"usd" yaml:"usd"`
	// AsOf is the day the price was read, YYYY-MM-DD.
	AsOf string `json:"as_of" yaml:"as_of"`
	// Until is the last day, in UTC, on which it holds, YYYY-MM-DD; empty if it has no end. What
	// follows is another line for the same thing; without one the price is unknown from then on.
	Until string `json:"until,omitempty" yaml:"until"`
}

// LifeCycle says when a model came and goes; zero times are unknown.
type LifeCycle struct {
	Released   time.Time `json:"released,omitzero" yaml:"released"`
	Deprecated time.Time `json:"deprecated,omitzero" yaml:"deprecated"`
	ShutDown   time.Time `json:"shut_down,omitzero" yaml:"shut_down"`
	// ReplacedBy is the API id of the one successor.
	ReplacedBy string `json:"replaced_by,omitempty" yaml:"replaced_by"`
}

// Does reports whether a model takes a method, of its own or emulated.
func (m Model) Does(x generate.Method) bool {
	return slices.Contains(m.Methods, x) || slices.Contains(m.Emulates, x)
}

// HasQuality reports whether a word is one of the model's qualities or tiers.
func (m Model) HasQuality(word string) bool {
	return slices.ContainsFunc(append(slices.Clone(m.Qualities), m.Size.Tiers...), func(q string) bool { return strings.EqualFold(q, word) })
}

// IsRaster tells the types whose size is always in their first bytes.
func IsRaster(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp":
		return true
	}
	return false
}

// TakesType reports whether the model takes pictures of a type.
func (m Model) TakesType(mime string) bool {
	return len(m.InputTypes) == 0 || slices.Contains(m.InputTypes, mime)
}

// FoldSeed brings a seed into the model's range, always the same way.
func (m Model) FoldSeed(seed int64) int64 {
	if m.MaxSeed <= 0 || seed >= 0 && seed <= m.MaxSeed {
		return seed
	}
	span := m.MaxSeed + 1
	if span <= 0 { // the range is all of the non-negative numbers
		return seed & m.MaxSeed
	}
	return (seed%span + span) % span
}

// Accepts is nil if the model takes as many pictures, and a mask if there is one.
func (m Model) Accepts(r generate.Request) error {
	switch have := len(r.Inputs); {
	case have > m.MaxInputs:
		return media.Errorf(media.CodeUnsupported, "%d input pictures and %s takes %d: use fewer, or another model", have, m.Name, m.MaxInputs)
	case r.Mask != nil && (m.Mask == "" || m.Mask == "none"):
		return media.Errorf(media.CodeUnsupported, "%s takes no mask: say in the prompt what to change, or use another model", m.Name)
	}
	return nil
}
