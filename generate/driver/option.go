package driver

import (
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

// checkFlag proves that the value of an option can stand in a prompt. The error has code
// media.CodeInvalid.
func (t Task) checkFlag(name string) error {
	if !slices.ContainsFunc(t.Model.Flags, func(f catalog.Flag) bool { return f.Setting == name }) {
		return nil
	}
	if text := t.Option(name); text == "" || strings.ContainsAny(text, "\r\n\t") || strings.Contains(text, "--") {
		return media.Errorf(media.CodeInvalid, "option %s.%s must be one line without flags", t.Model.Provider, name)
	}
	return nil
}
