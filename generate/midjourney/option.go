package midjourney

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// The actions of the option action.
const (
	actImagine   = "imagine"
	actEdit      = "edit"
	actBlend     = "blend"
	actUpscale   = "upscale"
	actVariation = "variation"
	actReroll    = "reroll"
	actZoom      = "zoom"
	actPan       = "pan"
	actInpaint   = "inpaint"
	actButton    = "button"
	actDescribe  = "describe"
)

// followUps lists the actions that go on from a job.
func followUps() []string {
	return []string{actUpscale, actVariation, actReroll, actZoom, actPan, actInpaint, actButton}
}

// words are the options that take one of a few words.
func words() map[string][]string {
	return map[string][]string{
		"action":     append([]string{actImagine, actEdit, actBlend}, followUps()...),
		"strength":   {"subtle", "strong", "creative"},
		"direction":  {"left", "right", "up", "down"},
		"dimensions": {"portrait", "square", "landscape"},
		"speed":      {"fast", "relax", "turbo"},
		"niji":       {"4", "5", "6", "7"},
		"version":    {"1", "2", "3", "4", "5", "5.1", "5.2", "6", "6.1", "7", "8.1"},
	}
}

// flagOption is an option that becomes a flag of the prompt.
type flagOption struct {
	flag     string
	min, max float64
	kind     optionKind
}

type optionKind int

const (
	kindNumber optionKind = iota
	kindSwitch
	kindText
)

// flagOptions are Midjourney's own settings, by the names of the options. Ranges are
// those of the proxies' parsers.
func flagOptions() map[string]flagOption {
	return map[string]flagOption{
		"stylize":         {"--s", 0, 1000, kindNumber},
		"chaos":           {"--c", 0, 100, kindNumber},
		"weird":           {"--w", 0, 3000, kindNumber},
		"image_weight":    {"--iw", 0, 3, kindNumber},
		"stop":            {"--stop", 10, 100, kindNumber},
		"exp":             {"--exp", 0, 100, kindNumber},
		"style_weight":    {"--sw", 0, 1000, kindNumber},
		"style_version":   {"--sv", 1, 6, kindNumber},
		"tile":            {"--tile", 0, 0, kindSwitch},
		"draft":           {"--draft", 0, 0, kindSwitch},
		"profile":         {"--p", 0, 0, kindText},
		"style_reference": {"--sref", 0, 0, kindText},
	}
}

// options are the checked options of a task.
type options struct {
	action, strength, direction, dimensions, speed, niji, version, customID string
	// index is 1 to 4, 0 if not asked for.
	index int
	// factor is of zoom: a number or square; empty if not asked for.
	factor string
	// flags are ready to be appended, in the order of the options' names.
	flags []flag
}

// flag is one flag of a prompt and the setting that it comes from.
type flag struct{ setting, name, value string }

// readOptions checks the options of a task.
func readOptions(t generate.Task) (options, error) {
	o := options{}
	into := map[string]*string{
		"action": &o.action, "strength": &o.strength, "direction": &o.direction, "dimensions": &o.dimensions,
		"speed": &o.speed, "niji": &o.niji, "version": &o.version, "custom_id": &o.customID, "factor": &o.factor,
	}
	for _, name := range slices.Sorted(maps.Keys(t.Options)) {
		text, err := optionText(name, t.Options[name])
		if err != nil {
			return o, err
		}
		if allowed, ok := words()[name]; ok {
			text = strings.ToLower(text)
			if !slices.Contains(allowed, text) {
				return o, badOption(name, text, "use "+strings.Join(allowed, ", "))
			}
		}
		switch f, isFlag := flagOptions()[name]; {
		case into[name] != nil:
			*into[name] = text
		case name == "index":
			o.index, err = strconv.Atoi(text)
			if err != nil || o.index < 1 || o.index > gridTiles {
				return o, badOption(name, text, "use 1 (top left), 2 (top right), 3 (bottom left) or 4 (bottom right)")
			}
		case isFlag:
			if err := o.addFlag(name, f, text); err != nil {
				return o, err
			}
		default:
			return o, media.Errorf(media.CodeInvalid, "option midjourney.%s is unknown: leave it out", name)
		}
	}
	return o, o.checkFactor()
}

// optionText writes an option's value as text: a string, a number or a truth value.
func optionText(name string, v any) (string, error) {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case int, int64, json.Number:
		return fmt.Sprint(v), nil
	}
	return "", badOption(name, fmt.Sprintf("%T", v), "use a text or a number")
}

func badOption(name, value, advice string) *media.Error {
	const most = 60
	if len(value) > most {
		value = strings.ToValidUTF8(value[:most], "") + "…"
	}
	return media.Errorf(media.CodeInvalid, "option midjourney.%s is %q: %s", name, media.Scrub(value), advice)
}

// addFlag checks one of Midjourney's own settings.
func (o *options) addFlag(name string, f flagOption, text string) error {
	switch f.kind {
	case kindNumber:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= f.min && n <= f.max) {
			return badOption(name, text, fmt.Sprintf("use a number from %g to %g", f.min, f.max))
		}
		text = strconv.FormatFloat(n, 'f', -1, 64)
	case kindSwitch:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return badOption(name, text, "use true or false")
		}
		if !on {
			return nil
		}
		text = ""
	case kindText:
		if text == "" || strings.ContainsAny(text, "\r\n\t") || strings.Contains(text, "--") {
			return badOption(name, text, "use one line without flags")
		}
	}
	o.flags = append(o.flags, flag{"options.midjourney." + name, f.flag, text})
	return nil
}

// checkFactor proves that zoom can go as far.
func (o *options) checkFactor() error {
	if o.factor == "" || o.factor == "square" {
		return nil
	}
	if n, err := strconv.ParseFloat(o.factor, 64); err != nil || !(n > 1 && n <= 2) {
		return badOption("factor", o.factor, "use a number over 1 and up to 2, or square")
	}
	return nil
}
