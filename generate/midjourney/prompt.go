package midjourney

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// variationWords stand for the prompt of a variation of a picture that Midjourney did
// not make, because an image prompt needs words.
const variationWords = "a variation of this picture with the same subject, style and mood"

// flagOptions are Midjourney's own settings and the flags that they become; the catalogue
// has their ranges.
var flagOptions = map[string]string{
	"stylize": "--s", "chaos": "--c", "weird": "--w", "image_weight": "--iw", "stop": "--stop", "exp": "--exp", "style_weight": "--sw",
	"style_version": "--sv", "tile": "--tile", "draft": "--draft", "profile": "--p", "style_reference": "--sref",
}

// qualities are the values of --q of the words for it; numbers are their own.
var qualities = map[string]string{"low": "0.5", "medium": "1", "high": "4"}

// spellings are other names of flags; the two version flags exclude each other.
var spellings = map[string][]string{
	"--ar": {"--aspect"}, "--v": {"--version", "--niji"}, "--niji": {"--v", "--version"}, "--q": {"--quality"},
	"--s": {"--stylize"}, "--c": {"--chaos"}, "--w": {"--weird"}, "--style": {"--raw"}, "--p": {"--profile"},
}

// flag is one flag of a prompt and the setting that it comes from.
type flag struct{ setting, name, value string }

// versionFlag tells which version draws: the option's, or the model's.
func versionFlag(t generate.Task) flag {
	for _, f := range []struct{ option, name, model string }{{"niji", "--niji", "midjourney-niji-"}, {"version", "--v", "midjourney-v"}} {
		if v := t.Option(f.option); v != "" {
			return flag{"options.midjourney." + f.option, f.name, v}
		}
		if v, ok := strings.CutPrefix(t.Model.APIModel, f.model); ok && t.Option("version") == "" {
			return flag{"model", f.name, v}
		}
	}
	return flag{}
}

// flagsOf lists what a task's settings become, and notes what Midjourney has no flag for.
func (j *job) flagsOf(t generate.Task) ([]flag, error) {
	version := versionFlag(t)
	quality, ok := qualities[t.Quality]
	if !ok {
		quality = t.Quality
	}
	out := []flag{{"aspect_ratio", "--ar", t.AspectRatio}, version, {"quality", "--q", quality}, {"style", "--style", j.style(t, version.name == "--niji")}}
	if t.Seed != nil {
		out = append(out, flag{"seed", "--seed", strconv.FormatInt(*t.Seed, 10)})
	}
	for _, name := range slices.Sorted(maps.Keys(t.Options)) {
		value := t.Option(name)
		if flagOptions[name] == "" || value == "false" {
			continue
		}
		if value == "" || strings.ContainsAny(value, "\r\n\t") || strings.Contains(value, "--") {
			return nil, media.Errorf(media.CodeInvalid, "option midjourney.%s must be one line without flags", name)
		}
		out = append(out, flag{"options.midjourney." + name, flagOptions[name], value})
	}
	out = append(out, flag{"negative_prompt", "--no", oneLine(strings.ReplaceAll(t.NegativePrompt, "--", " "))})
	return slices.DeleteFunc(out, func(f flag) bool { return f.value == "" }), nil
}

// style is the value of --style; empty, with a note, where the version has no such style.
func (j *job) style(t generate.Task, niji bool) string {
	switch s := t.Style; {
	case s == "":
	case !niji && (s == "natural" || s == "raw"):
		return "raw"
	case niji && slices.Contains([]string{"cute", "scenic", "expressive", "original"}, s):
		return s
	case s == "vivid":
		j.drop("its own look is vivid already; only natural is a setting, --style raw", "style")
	default:
		j.drop("this version has no such style", "style")
	}
	return ""
}

// prompt writes the words and the flags behind them. A flag that the prompt has itself, in
// any spelling, wins over the setting.
func (j *job) prompt(t generate.Task, flags []flag) string {
	words := strings.Fields(t.Prompt)
	all := slices.Clone(words)
	for _, f := range flags {
		names := append([]string{f.name}, spellings[f.name]...)
		switch why := "the prompt says " + f.name + " itself"; {
		case !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(names, w) }):
			all = append(all, f.name)
			if f.value != "true" { // a switch
				all = append(all, f.value)
			}
		case f.setting == "model":
			j.adapt("model", "the version in the prompt", why)
		case f.name == "--ar":
			j.drop(why, geometry...)
		default:
			j.drop(why, f.setting)
		}
	}
	return strings.Join(all, " ")
}

// oneLine folds blanks: a prompt is one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
