package act

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
)

// value is the value of a flag; empty if the task has no such setting.
func value(t driver.Task, f catalog.Flag) string {
	said := ""
	switch f.Setting {
	case "aspect_ratio":
		said = t.AspectRatio
	case "quality":
		said = t.Quality
	case "style":
		said = t.Style
	case "model":
		said = t.Model.APIModel
	case "seed":
		if t.Seed != nil {
			said = strconv.FormatInt(*t.Seed, 10)
		}
	case "negative_prompt":
		said = strings.Join(strings.Fields(strings.ReplaceAll(t.NegativePrompt, "--", " ")), " ")
	default:
		said = t.Option(f.Setting)
	}
	if len(f.Words) > 0 {
		return f.Words[said]
	}
	return said
}

// Flags are the settings of a task as they stand behind its prompt, in the order of the
// row; a flag that the prompt has itself, or an earlier one, wins. Lost are the settings
// that lose.
func Flags(t driver.Task) (flags string, lost []generate.Disposition) {
	prompt := strings.Fields(t.Prompt)
	var all []string
	for _, f := range t.Model.Flags {
		said := value(t, f)
		if said == "" || said == "false" {
			continue
		}
		own, other := f.Clash(prompt), f.Clash(all)
		switch {
		case own != "":
			lost = append(lost, lose(t, f, "the prompt says "+own+" itself"))
		case other != "":
			lost = append(lost, lose(t, f, f.Flag+" does not go with "+other))
		case said == "true":
			all = append(all, f.Flag)
		default:
			all = append(all, f.Flag, said)
		}
	}
	return strings.Join(all, " "), lost
}

// Written gives the task as it is asked for in the prompt: its flags stand behind the words,
// and the settings that have flags nowhere else. An act without words keeps its settings.
func Written(t driver.Task) driver.Task {
	act, err := Of(t)
	if len(t.Model.Flags) == 0 || err != nil || !act.Flagged() {
		return t
	}
	flags, _ := Flags(t) // the Gateway tells what is lost
	t.Prompt = strings.TrimSpace(t.Prompt + " " + flags)
	t.Options = maps.Clone(t.Options)
	for _, f := range t.Model.Flags {
		t.Unset(f.Setting)
	}
	return t
}

// lose is the disposition of a setting whose flag is left out. Which version draws is
// told by the flag that stays.
func lose(t driver.Task, f catalog.Flag, why string) generate.Disposition {
	d := generate.Disposition{Setting: f.Setting, Outcome: generate.OutcomeDropped, Reason: why}
	if f.Setting == "model" {
		d.Outcome, d.Applied = generate.OutcomeAdapted, "another version"
	}
	if slices.Contains(t.Model.Options, f.Setting) {
		d.Setting = "options." + t.Model.Provider + "." + f.Setting
	}
	return d
}
