package midjourney

import (
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
)

// variationWords stand for the prompt of a variation of a picture that Midjourney did
// not make, because an image prompt needs words.
const variationWords = "a variation of this picture with the same subject, style and mood"

// versionFlag tells which version draws: the model's, or the option's.
func versionFlag(t generate.Task, o options) (f flag, niji bool) {
	switch {
	case o.niji != "":
		return flag{"options.midjourney.niji", "--niji", o.niji}, true
	case o.version != "":
		return flag{"options.midjourney.version", "--v", o.version}, false
	}
	if v, ok := strings.CutPrefix(t.Model.APIModel, "midjourney-niji-"); ok {
		return flag{"model", "--niji", v}, true
	}
	if v, ok := strings.CutPrefix(t.Model.APIModel, "midjourney-v"); ok {
		return flag{"model", "--v", v}, false
	}
	return flag{}, false
}

// qualityFlag is --q of a quality word; numbers are their own.
func qualityFlag(word string) string {
	switch word {
	case "low":
		return "0.5"
	case "medium":
		return "1"
	case "high":
		return "4"
	}
	return word
}

// geometry names the settings that a ratio may come from.
func geometry() []string { return []string{"size", "aspect_ratio"} }

// flags lists what a task's settings become, and notes what Midjourney has no flag for.
func (j *job) flags(t generate.Task) []flag {
	version, niji := versionFlag(t, j.options)
	var out []flag
	add := func(setting, name, value string) {
		if value != "" {
			out = append(out, flag{setting, name, value})
		}
	}
	add("aspect_ratio", "--ar", t.AspectRatio)
	if version.name != "" {
		out = append(out, version)
	}
	add("quality", "--q", qualityFlag(t.Quality))
	switch {
	case t.Style == "natural" && !niji, t.Style == "raw" && !niji:
		add("style", "--style", "raw")
	case niji && slices.Contains([]string{"cute", "scenic", "expressive", "original"}, t.Style):
		add("style", "--style", t.Style)
	case t.Style == "vivid":
		j.drop("its own look is vivid already; only natural is a setting, --style raw", "style")
	case t.Style != "":
		j.drop("this version has no such style", "style")
	}
	if t.Seed != nil {
		add("seed", "--seed", strconv.FormatInt(*t.Seed, 10))
	}
	out = append(out, j.options.flags...)
	add("negative_prompt", "--no", oneLine(strings.ReplaceAll(t.NegativePrompt, "--", " ")))
	return out
}

// prompt writes the words and the flags behind them. A flag that the prompt has
// itself wins over the setting.
func (j *job) prompt(t generate.Task) string {
	words := oneLine(t.Prompt)
	var b strings.Builder
	b.WriteString(words)
	for _, f := range j.flags(t) {
		if has(words, f.name) {
			j.overruled(f)
			continue
		}
		b.WriteString(" " + f.name)
		if f.value != "" {
			b.WriteString(" " + f.value)
		}
	}
	return strings.TrimSpace(b.String())
}

// overruled notes that the prompt says something itself.
func (j *job) overruled(f flag) {
	why := "the prompt says " + f.name + " itself"
	switch {
	case f.setting == "model":
		j.notes = append(j.notes, generate.Disposition{
			Setting: "model", Applied: "the version in the prompt", Outcome: generate.OutcomeAdapted, Reason: why,
		})
	case f.name == "--ar":
		j.drop(why, geometry()...)
	default:
		j.drop(why, f.setting)
	}
}

// oneLine folds blanks: a prompt is one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// has tells whether a prompt has a flag already, in either of its spellings; the two
// version flags exclude each other.
func has(prompt, name string) bool {
	alias := map[string][]string{
		"--ar": {"--aspect"}, "--v": {"--version", "--niji"}, "--niji": {"--v", "--version"}, "--q": {"--quality"},
		"--s": {"--stylize"}, "--c": {"--chaos"}, "--w": {"--weird"}, "--style": {"--raw"}, "--p": {"--profile"},
	}
	names := append([]string{name}, alias[name]...)
	return slices.ContainsFunc(strings.Fields(prompt), func(w string) bool { return slices.Contains(names, w) })
}
