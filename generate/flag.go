package generate

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"atelier/media"
)

// Flag is how a setting stands at the end of the prompt, for models that are told so.
type Flag struct {
	// Setting is the request's field in snake_case, the name of an option, or model.
	Setting string `json:"setting" yaml:"setting"`
	// Flag comes before the value: --ar. A switch that is on has no value.
	Flag string `json:"flag" yaml:"flag"`
	// Same are its other spellings and the flags that it does not go with.
	Same []string `json:"same,omitempty" yaml:"same"`
	// Words are the values of the setting's words, all of them; none where every value is
	// its own. Those of model are by the provider's ids.
	Words map[string]string `json:"words,omitempty" yaml:"words"`
}

// value is what the flag says; empty if the task has no such setting.
func (f Flag) value(t Task) string {
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

// clash is the first of the words that the flag does not go with; empty if there is none.
func (f Flag) clash(words []string) string {
	i := slices.IndexFunc(words, func(w string) bool { return w == f.Flag || slices.Contains(f.Same, w) })
	if i < 0 {
		return ""
	}
	return words[i]
}

// Flags are the settings of a task as they stand behind its prompt, in the order of the
// row; a flag that the prompt has itself, or an earlier one, wins. Lost are the settings
// that lose.
func (t Task) Flags() (flags string, lost []Disposition) {
	prompt := strings.Fields(t.Prompt)
	var all []string
	for _, f := range t.Model.Flags {
		value := f.value(t)
		if value == "" || value == "false" {
			continue
		}
		own, other := f.clash(prompt), f.clash(all)
		switch {
		case own != "":
			lost = append(lost, f.lose(t, "the prompt says "+own+" itself"))
		case other != "":
			lost = append(lost, f.lose(t, f.Flag+" does not go with "+other))
		case value == "true":
			all = append(all, f.Flag)
		default:
			all = append(all, f.Flag, value)
		}
	}
	return strings.Join(all, " "), lost
}

// Written gives the task as it is asked for in the prompt: its flags stand behind the words,
// and the settings that have flags nowhere else. An act without words keeps its settings.
func (t Task) Written() Task {
	act, err := t.Act()
	if len(t.Model.Flags) == 0 || err != nil || !act.flagged() {
		return t
	}
	flags, _ := t.Flags() // the Gateway tells what is lost
	t.Prompt = strings.TrimSpace(t.Prompt + " " + flags)
	t.Options = maps.Clone(t.Options)
	for _, f := range t.Model.Flags {
		t.unset(f.Setting)
	}
	return t
}

// unset takes back a setting, or an option of the model, by the name that rows have for it.
// The options are the task's own.
func (t *Task) unset(setting string) {
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

// flagged reports whether flags stand behind the words of an act.
func (a Act) flagged() bool { return a.Words != wordsNone && !a.Follows }

// lose is the disposition of a setting whose flag is left out. Which version draws is
// told by the flag that stays.
func (f Flag) lose(t Task, why string) Disposition {
	d := Disposition{Setting: f.Setting, Outcome: OutcomeDropped, Reason: why}
	if f.Setting == "model" {
		d.Outcome, d.Applied = OutcomeAdapted, "another version"
	}
	if slices.Contains(t.Model.Options, f.Setting) {
		d.Setting = "options." + t.Model.Provider + "." + f.Setting
	}
	return d
}

// flags notes which settings lose against another flag.
func (n *negotiation) flags() {
	if len(n.model.Flags) == 0 || !n.act.flagged() {
		return
	}
	_, lost := n.task.Flags()
	for _, l := range lost {
		for i := range n.out {
			d := &n.out[i]
			same := strings.EqualFold(d.Setting, l.Setting) || d.Setting == "size" && l.Setting == "aspect_ratio"
			if same && d.Outcome != OutcomeDropped {
				d.Applied, d.Outcome, d.Reason = l.Applied, l.Outcome, l.Reason
			}
		}
	}
}

// checkFlag proves that the value of an option can stand in a prompt. The error has code
// media.CodeInvalid.
func (t Task) checkFlag(name string) error {
	if !slices.ContainsFunc(t.Model.Flags, func(f Flag) bool { return f.Setting == name }) {
		return nil
	}
	if text := t.Option(name); text == "" || strings.ContainsAny(text, "\r\n\t") || strings.Contains(text, "--") {
		return media.Errorf(media.CodeInvalid, "option %s.%s must be one line without flags", t.Model.Provider, name)
	}
	return nil
}

// checkFlags proves that flags have a setting and a name, and that no word of the row is lost
// for want of a flag.
func (m Model) checkFlags() error {
	for _, said := range []struct {
		setting string
		words   []string
	}{{"quality", m.Qualities}, {"style", m.Styles}} {
		of := slices.DeleteFunc(slices.Clone(m.Flags), func(f Flag) bool { return f.Setting != said.setting })
		for _, word := range said.words {
			if len(of) > 0 && !slices.ContainsFunc(of, func(f Flag) bool { return len(f.Words) == 0 || f.Words[word] != "" }) {
				return m.bad("flags", "no flag of %s has the word %q", said.setting, word)
			}
		}
	}
	settings := []string{"aspect_ratio", "quality", "style", "model", "seed", "negative_prompt"}
	for _, f := range m.Flags {
		if f.Flag == "" || !slices.Contains(settings, f.Setting) && !slices.Contains(m.Options, f.Setting) {
			return m.bad("flags", "%q for %q: name a flag, and a setting that can have one or an option of the model", f.Flag, f.Setting)
		}
	}
	return nil
}
