package driver

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"atelier/generate/catalog"
	"atelier/media"
)

// Option is an option as text, in the one form that its rule gives it; "" if it is not set,
// or is no text, number or truth value.
func (t Task) Option(name string) string {
	if _, ok := catalog.OptionText(t.Options[name]); !ok {
		return ""
	}
	text, _ := t.Model.OptionRules[name].Read(t.Options[name])
	return text
}

// CheckOptions proves that the options are those of the model's row, keep its rules, and can
// stand in the prompt where they are flags of it. The error has code media.CodeInvalid.
func (t Task) CheckOptions() error {
	for _, name := range slices.Sorted(maps.Keys(t.Options)) {
		if !slices.Contains(t.Model.Options, name) {
			return media.Errorf(media.CodeInvalid, "option %s.%s is unknown: leave it out", t.Model.Provider, name)
		}
		if rule, ok := t.Model.OptionRules[name]; ok {
			if err := rule.Judge(t.Model.Provider+"."+name, t.Options[name]); err != nil {
				return err
			}
		}
		if err := t.checkFlag(name); err != nil {
			return err
		}
	}
	return nil
}

// Unset takes back a setting, or an option of the model, by the name that rows have for it.
// The options are the task's own.
func (t *Task) Unset(setting string) {
	switch setting {
	case "aspect_ratio":
		t.AspectRatio = ""
	case "quality":
		t.Quality = ""
	case "style":
		t.Style = ""
	case "seed":
		t.Seed = nil
	case "negative_prompt":
		t.NegativePrompt = ""
	default:
		delete(t.Options, setting)
	}
}

// checkFlag proves that the value of an option can stand in a prompt. The error has code media.CodeInvalid.
func (t Task) checkFlag(name string) error {
	if !slices.ContainsFunc(t.Model.Flags, func(f catalog.Flag) bool { return f.Setting == name }) {
		return nil
	}
	if text := t.Option(name); text == "" || strings.ContainsAny(text, "\r\n\t") || strings.Contains(text, "--") {
		return media.Errorf(media.CodeInvalid, "option %s.%s must be one line without flags", t.Model.Provider, name)
	}
	return nil
}

// The bounds of offers that are kept; real ones stay far below.
const (
	maxOffers = 40
	maxOffer  = 200
)

// offersKey is where an output's metadata has them.
const offersKey = "offers"

// Offers are what the provider of an output offers to do next with it.
func Offers(o media.Output) (all []catalog.Offer) {
	raw, err := json.Marshal(o.Metadata[offersKey])
	if err != nil || json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

// only is the only input; zero if there are none or several.
func (t Task) only() (o media.Output) {
	if len(t.Inputs) == 1 {
		o = t.Inputs[0]
	}
	return o
}

// Offers are those of the only input.
func (t Task) Offers() []catalog.Offer { return Offers(t.only()) }

// Keep puts what the provider said of an item into an output's metadata.
func (it Item) Keep(into map[string]any) {
	maps.Copy(into, it.Metadata)
	if len(it.Offers) > 0 {
		into[offersKey] = it.Offers
	}
}

// unknownWordsKey is where a driver puts the words of the prompt that name what its result does not show,
// a list of strings.
const unknownWordsKey = "unknown_words"

// UnknownWords lists those of an item for people; empty if there are none.
func (it Item) UnknownWords() string {
	var words []string
	raw, err := json.Marshal(it.Metadata[unknownWordsKey])
	if err != nil || json.Unmarshal(raw, &words) != nil {
		return ""
	}
	return strings.Join(words, ", ")
}

// Parent reads what the metadata of the only input keeps of the call that made it, under
// the provider's key, into a value; false where there is no such input.
func (t Task) Parent(into any) bool {
	kept, ok := t.only().Metadata[t.Model.Provider].(map[string]any)
	raw, err := json.Marshal(kept)
	return ok && err == nil && json.Unmarshal(raw, into) == nil
}

// Tile tells which result of a grid the only input is, from 1; 0 for one that is whole.
func (t Task) Tile() int {
	if n := count(t.only().Metadata["tile"]); n >= 1 && n <= catalog.MaxTiles {
		return n
	}
	return 0
}

// Tiles is how many results the only input holds if it is a grid; 0 if it is none.
func (t Task) Tiles() int { return count(t.only().Metadata["tiles"]) }

// count reads a number of an output's metadata; 0 if it is none.
func count(value any) int {
	switch value := value.(type) {
	case int:
		return value
	case float64: // it came through a ledger
		return int(value)
	}
	return 0
}
