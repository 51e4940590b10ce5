package driver

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"atelier/generate/catalog"
	"atelier/media"
)

// Option returns an option as text, normalized by its rule; "" if it is not set or is not a string, number or boolean.
func (t Task) Option(name string) string {
	if _, ok := catalog.OptionText(t.Options[name]); !ok {
		return ""
	}
	text, _ := t.Model.OptionRules[name].Read(t.Options[name])
	return text
}

// CheckOptions checks that the options are in the model's row, obey its rules, and can be written in the prompt if they
// are flags. The error has code media.CodeInvalid.
func (t Task) CheckOptions() error {
	for _, name := range slices.Sorted(maps.Keys(t.Options)) {
		if !slices.Contains(t.Model.Options, name) {
			return media.Errorf(media.CodeInvalid, "option %s.%s is unknown: leave it out", t.Model.Provider, name)
		}
		if rule, ok := t.Model.OptionRules[name]; ok {
			if _, err := rule.Accept(t.Model.Provider+"."+name, t.Options[name]); err != nil {
				return err
			}
		}
		if text := t.Option(name); slices.ContainsFunc(t.Model.Flags, func(f catalog.Flag) bool { return f.Setting == name }) &&
			(text == "" || strings.ContainsAny(text, "\r\n\t") || strings.Contains(text, "--")) {
			return media.Errorf(media.CodeInvalid, "option %s.%s must be one line without flags", t.Model.Provider, name)
		}
	}
	return nil
}

// Unset removes a setting, or an option of the model, by its name in catalogue rows. It modifies the task's Options
// map.
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

// Limits of offers that are kept; real ones are far smaller.
const (
	maxOffers = 40
	maxOffer  = 200
)

// offersKey is the key of offers in an output's metadata.
const offersKey = "offers"

// Offers returns the follow-ups that the provider of an output offers.
func Offers(o media.Output) (all []catalog.Offer) {
	raw, err := json.Marshal(o.Metadata[offersKey])
	if err != nil || json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

// onlyInput returns the only input; zero if there are none or several.
func (t Task) onlyInput() (o media.Output) {
	if len(t.Inputs) == 1 {
		o = t.Inputs[0]
	}
	return o
}

// Offers returns the offers of the only input.
func (t Task) Offers() []catalog.Offer { return Offers(t.onlyInput()) }

// Keep copies an item's metadata and offers into an output's metadata.
func (it Item) Keep(into map[string]any) {
	maps.Copy(into, it.Metadata)
	if len(it.Offers) > 0 {
		into[offersKey] = it.Offers
	}
}

// unknownWordsKey is the metadata key of the prompt's words that name what a result does not show, a list of strings.
const unknownWordsKey = "unknown_words"

// UnknownWords returns an item's unknown words as text; empty if there are none.
func (it Item) UnknownWords() string {
	var words []string
	raw, err := json.Marshal(it.Metadata[unknownWordsKey])
	if err != nil || json.Unmarshal(raw, &words) != nil {
		return ""
	}
	return strings.Join(words, ", ")
}

// Parent decodes the record of the call that made the only input, kept in the input's metadata under the provider's
// key; false if there is none.
func (t Task) Parent(into any) bool {
	kept, ok := t.onlyInput().Metadata[t.Model.Provider].(map[string]any)
	raw, err := json.Marshal(kept)
	return ok && err == nil && json.Unmarshal(raw, into) == nil
}

// Tile returns which result of a grid the only input is, from 1; 0 if it is not a tile.
func (t Task) Tile() int {
	if n := count(t.onlyInput().Metadata["tile"]); n >= 1 && n <= catalog.MaxTiles {
		return n
	}
	return 0
}

// Tiles returns the number of results in the only input if it is a grid; else 0.
func (t Task) Tiles() int { return count(t.onlyInput().Metadata["tiles"]) }

// count reads a number of an output's metadata; 0 if it is not a number.
func count(value any) int {
	switch value := value.(type) {
	case int:
		return value
	case float64: // it was decoded from a ledger
		return int(value)
	}
	return 0
}
