// Package catalog describes the abilities and costs of models as data: names, methods, sizes, settings, prices and life
// cycles, in one YAML file per provider. It loads and checks the rows, looks up models by name, and fits sizes and
// ratios to a row. It makes no calls.
//
// Errors are media.Error values; invalid rows have code media.CodeInvalid. The package may import media, generate and
// generate/money.
package catalog

import (
	"slices"
	"strings"
	"time"

	"atelier/generate"
	"atelier/media"
)

// Model is one catalogue row: a model's names, abilities, prices and life cycle. Rows are data (one YAML file per
// provider).
type Model struct {
	// Name is the display name that people use: "Nano Banana Pro".
	Name string `json:"name" yaml:"name"`
	// Provider is the driver's key.
	Provider string `json:"provider" yaml:"-"`
	// APIModel is the provider's id of the model.
	APIModel string `json:"api_model" yaml:"api_model"`
	// Aliases are other names that people and seeds use.
	Aliases  []string       `json:"aliases,omitempty" yaml:"aliases"`
	Modality media.Modality `json:"modality" yaml:"modality"`
	// Via selects one of the provider's endpoints where it has several: images at OpenRouter, whose default is the chat
	// endpoint.
	Via     string            `json:"via,omitempty" yaml:"via"`
	Methods []generate.Method `json:"methods" yaml:"methods"`
	// Emulates lists methods that the Gateway performs through an edit, with a disposition: variation, where the
	// provider has no endpoint for it.
	Emulates     []generate.Method `json:"emulates,omitempty" yaml:"emulates"`
	Size         SizeRule          `json:"size" yaml:"size"`
	InputRules   `yaml:",inline"`
	SettingRules `yaml:",inline"`
	CallLimits   `yaml:",inline"`
	Prices       []Price   `json:"prices" yaml:"prices"`
	Life         LifeCycle `json:"life" yaml:"life"`
	RowSource    `yaml:",inline"`
}

// InputRules say which pictures a model accepts.
type InputRules struct {
	// MaxInputs is the maximum number of input pictures per call; 0 means none.
	MaxInputs int `json:"max_inputs" yaml:"max_inputs"`
	// InputTypes are the accepted MIME types of input pictures; others are converted to the first one that fits. Empty
	// means every type that imaging decodes.
	InputTypes []string `json:"input_types,omitempty" yaml:"input_types"`
	// MaxInputBytes limits one input picture, MaxMaskBytes the mask; 0 means unknown.
	MaxInputBytes int64 `json:"max_input_bytes,omitempty" yaml:"max_input_bytes"`
	// MaxInputPixels limits width times height of one input picture; 0 means unknown.
	MaxInputPixels int   `json:"max_input_pixels,omitempty" yaml:"max_input_pixels"`
	MaxMaskBytes   int64 `json:"max_mask_bytes,omitempty" yaml:"max_mask_bytes"`
	// Mask is the mask polarity: none, alpha0 (transparent = repaint), white, black.
	Mask string `json:"mask" yaml:"mask"`
}

// SettingRules say which settings and options a model accepts.
type SettingRules struct {
	// MaxN is the maximum number of results per call; larger requests are split into several calls.
	MaxN int `json:"max_n" yaml:"max_n"`
	// Grid is the fixed number of results of every call, whatever number is requested, and at least MaxN; 0 means as
	// many as requested.
	Grid int `json:"grid,omitempty" yaml:"grid"`
	// MaxPrompt is the prompt's limit in characters; 0 means unknown.
	MaxPrompt int `json:"max_prompt" yaml:"max_prompt"`
	// Supports lists further abilities of the model: seed, negative_prompt, style, stream, background, compression,
	// moderation, speed.
	Supports []string `json:"supports" yaml:"supports"`
	// EditLacks lists the Supports and Options that an edit does not accept, GenerateLacks those of a generation.
	EditLacks     []string `json:"edit_lacks,omitempty" yaml:"edit_lacks"`
	GenerateLacks []string `json:"generate_lacks,omitempty" yaml:"generate_lacks"`
	// Styles are the model's style words. If empty, a model that supports styles accepts any word.
	Styles []string `json:"styles,omitempty" yaml:"styles"`
	// Qualities are the model's own quality words; Formats its output formats.
	Qualities []string `json:"qualities,omitempty" yaml:"qualities"`
	Formats   []string `json:"formats,omitempty" yaml:"formats"`
	// Voices are the voice names of a speech model, the default voice first.
	Voices []string `json:"voices,omitempty" yaml:"voices"`
	// MaxSeed is the largest seed; 0 means that any 64-bit number is accepted.
	MaxSeed int64 `json:"max_seed,omitempty" yaml:"max_seed"`
	// Options are the provider options that the model accepts.
	Options []string `json:"options,omitempty" yaml:"options"`
	// OptionRules define the accepted values by option name; the provider validates options without a rule.
	OptionRules map[string]OptionRule `json:"option_rules,omitempty" yaml:"option_rules"`
	// Acts are the model's actions where its methods do not describe them all.
	Acts []Act `json:"acts,omitempty" yaml:"acts"`
	// Flags are the settings that are appended to the prompt, in this order.
	Flags []Flag `json:"flags,omitempty" yaml:"flags"`
}

// CallLimits are the times and rates of the calls of a model.
type CallLimits struct {
	// TimeoutSeconds limits one call; 0 means the Gateway's default of 300.
	TimeoutSeconds int `json:"timeout_seconds,omitempty" yaml:"timeout_seconds"`
	// PollSeconds is the pause between polls of an asynchronous task; WaitSeconds is how long the task is polled before
	// the operation is left running. 0 means 2 and 120.
	PollSeconds int `json:"poll_seconds,omitempty" yaml:"poll_seconds"`
	WaitSeconds int `json:"wait_seconds,omitempty" yaml:"wait_seconds"`
	// LinkSeconds is the lifetime of a result's link; 0 means unknown. If the link is refused within that time, or
	// within a day if it is unknown, a new link is requested.
	LinkSeconds int `json:"link_seconds,omitempty" yaml:"link_seconds"`
	// Concurrency is the maximum number of concurrent calls of the model; 0 means no limit of its own. The highest
	// value of a provider's rows, or the Gateway's default of 4, applies to all its models together.
	Concurrency int `json:"concurrency,omitempty" yaml:"concurrency"`
	// PerMinute is the maximum number of calls of the model per minute and gateway. Calls are spread evenly: each waits
	// for its turn. 0 means no limit of its own. The highest value of a provider's rows applies to all its models
	// together. No shipped row sets it, because providers publish limits per account tier.
	PerMinute int `json:"per_minute,omitempty" yaml:"per_minute"`
}

// RowSource says where a row comes from.
type RowSource struct {
	// Like makes a row of a user's file a copy of the row with this provider/id, except for the fields that it sets. A
	// proxy that serves a shipped model uses it.
	Like string `json:"like,omitempty" yaml:"like"`
	// InsteadOf lists the shipped models, as provider/id, whose names this row of a user's file has taken. They are
	// found as provider/id, provider/name or provider/alias.
	InsteadOf []string `json:"instead_of,omitempty" yaml:"-"`
	// Source says where the facts come from and when they were read.
	Source string `json:"source" yaml:"source"`
	// Unconfirmed lists the facts of the row that have one weak source or none, or whose sources disagree.
	Unconfirmed []string `json:"unconfirmed,omitempty" yaml:"unconfirmed"`
}

// Voice returns the model's default voice; empty if its row names none.
func (m Model) Voice() string {
	if len(m.Voices) == 0 {
		return ""
	}
	return m.Voices[0]
}

// Streams reports whether the model sends preview frames.
func (m Model) Streams() bool { return slices.Contains(m.Supports, "stream") }

// SizeRule defines the sizes that a model accepts.
type SizeRule struct {
	// Mode is enum (Values), free (Step and limits), tier (Ratios × Tiers), ratio (any ratio up to MaxRatio) or none.
	Mode   string   `json:"mode" yaml:"mode"`
	Values []string `json:"values,omitempty" yaml:"values"`
	Auto   bool     `json:"auto,omitempty" yaml:"auto"`
	// Step, MinSide, MaxSide are in pixels; MinPixels, MaxPixels limit width × height; MaxRatio is long by short side.
	Step      int     `json:"step,omitempty" yaml:"step"`
	MinSide   int     `json:"min_side,omitempty" yaml:"min_side"`
	MaxSide   int     `json:"max_side,omitempty" yaml:"max_side"`
	MinPixels int     `json:"min_pixels,omitempty" yaml:"min_pixels"`
	MaxPixels int     `json:"max_pixels,omitempty" yaml:"max_pixels"`
	MaxRatio  float64 `json:"max_ratio,omitempty" yaml:"max_ratio"`
	// Ratios and Tiers are the accepted words; Table holds the pixels of each pair: table[tier][ratio] = WxH.
	Ratios []string                     `json:"ratios,omitempty" yaml:"ratios"`
	Tiers  []string                     `json:"tiers,omitempty" yaml:"tiers"`
	Table  map[string]map[string]string `json:"table,omitempty" yaml:"table"`
}

// Price is one price line in US dollars as decimal text.
type Price struct {
	// Unit is image, megapixel, megapixel_first, megapixel_more, megapixel_in (whole megapixels: the first of a
	// picture, its further ones, those of its inputs), token_text_in, token_image_in, token_image_out, token_text_out,
	// second, character, credit. Prices of tokens and characters are per million. Output tokens of anything but
	// pictures, including sound, are token_text_out.
	Unit string `json:"unit" yaml:"unit"`
	// Quality, Size and Tier restrict the line; empty matches all. The size "auto" is one that the provider chooses.
	Quality string `json:"quality,omitempty" yaml:"quality"`
	Size    string `json:"size,omitempty" yaml:"size"`
	Tier    string `json:"tier,omitempty" yaml:"tier"`
	USD     string `json:"usd" yaml:"usd"`
	// AsOf is the day the price was read, YYYY-MM-DD.
	AsOf string `json:"as_of" yaml:"as_of"`
	// Until is the last day, in UTC, on which the price is valid, YYYY-MM-DD; empty if it has no end. Another line for
	// the same thing gives the next price; without one the price is unknown after that day.
	Until string `json:"until,omitempty" yaml:"until"`
}

// LifeCycle holds the dates of a model's life; zero times are unknown.
type LifeCycle struct {
	Released   time.Time `json:"released,omitzero" yaml:"released"`
	Deprecated time.Time `json:"deprecated,omitzero" yaml:"deprecated"`
	ShutDown   time.Time `json:"shut_down,omitzero" yaml:"shut_down"`
	// ReplacedBy is the API id of the one successor.
	ReplacedBy string `json:"replaced_by,omitempty" yaml:"replaced_by"`
}

// SupportsMethod reports whether a model has a method, natively or emulated.
func (m Model) SupportsMethod(x generate.Method) bool {
	return slices.Contains(m.Methods, x) || slices.Contains(m.Emulates, x)
}

// HasQuality reports whether a word is one of the model's qualities or tiers.
func (m Model) HasQuality(word string) bool {
	return slices.ContainsFunc(append(slices.Clone(m.Qualities), m.Size.Tiers...), func(q string) bool { return strings.EqualFold(q, word) })
}

// IsRaster reports whether files of a MIME type always hold the picture's size in their first bytes.
func IsRaster(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp":
		return true
	}
	return false
}

// TakesType reports whether the model accepts pictures of a MIME type.
func (m Model) TakesType(mime string) bool {
	return len(m.InputTypes) == 0 || slices.Contains(m.InputTypes, mime)
}

// FoldSeed maps a seed deterministically into the model's range.
func (m Model) FoldSeed(seed int64) int64 {
	if m.MaxSeed <= 0 || seed >= 0 && seed <= m.MaxSeed {
		return seed
	}
	span := m.MaxSeed + 1
	if span <= 0 { // the range is all non-negative numbers
		return seed & m.MaxSeed
	}
	return (seed%span + span) % span
}

// Accepts returns nil if the model accepts the request's number of input pictures, and its mask if there is one.
func (m Model) Accepts(r generate.Request) error {
	switch have := len(r.Inputs); {
	case have > m.MaxInputs:
		return media.Errorf(media.CodeUnsupported, "%d input pictures and %s takes %d: use fewer, or another model", have, m.Name, m.MaxInputs)
	case r.Mask != nil && (m.Mask == "" || m.Mask == "none"):
		return media.Errorf(media.CodeUnsupported, "%s takes no mask: say in the prompt what to change, or use another model", m.Name)
	}
	return nil
}
