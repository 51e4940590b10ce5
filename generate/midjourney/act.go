package midjourney

import (
	"slices"

	"atelier/generate"
	"atelier/media"
)

// The acts that the code names; the option action names all of them.
const (
	actImagine   = "imagine"
	actEdit      = "edit"
	actBlend     = "blend"
	actDescribe  = "describe"
	actUpscale   = "upscale"
	actVariation = "variation"
	actInpaint   = "inpaint"
	actButton    = "button"
)

// act is something that Midjourney can be asked to do.
type act struct {
	// path is the endpoint under /mj/submit, field where pictures go in its body, as a list
	// or alone. A follow-up, which goes on from a job, has neither: its button decides.
	path, field   string
	list, follows bool
	// least and most are how many pictures it takes.
	least, most int
	// options are those that it takes beside action and speed.
	options []string
	// flags says that it takes the settings that become flags of the prompt.
	flags bool
	// once says that it gives one result.
	once bool
	// remix says that it can have words of its own.
	remix bool
	// change is what it is called at proxies without buttons; empty if they do not have it.
	change string
}

// acts are all that there are.
var acts = map[string]act{
	actImagine:   {path: "imagine", field: "base64Array", list: true, most: 5, flags: true},
	actEdit:      {path: "edits", field: "image", least: 1, most: 1, flags: true},
	actBlend:     {path: "blend", field: "base64Array", list: true, least: 2, most: 5, options: []string{"dimensions"}},
	actDescribe:  {path: "describe", field: "base64", least: 1, most: 1, once: true},
	actUpscale:   {follows: true, options: []string{"index", "strength"}, once: true, change: "UPSCALE"},
	actVariation: {follows: true, options: []string{"index", "strength"}, remix: true, change: "VARIATION"},
	"reroll":     {follows: true, remix: true, change: "REROLL"},
	"zoom":       {follows: true, options: []string{"factor"}},
	"pan":        {follows: true, options: []string{"direction"}, remix: true},
	actInpaint:   {follows: true},
	actButton:    {follows: true, options: []string{"custom_id"}},
}

// actOf is what the option says, or what the method and the inputs mean.
func actOf(t generate.Task, p parent) string {
	switch asked := t.Option("action"); {
	case t.Model.Modality == media.ModalityDocument:
		return actDescribe
	case asked != "":
		return asked
	case t.Method == generate.MethodVariation && p.known():
		return actVariation
	case t.Mask != nil:
		return actInpaint
	case t.Method == generate.MethodEdit && len(t.Inputs) == 1:
		return actEdit
	}
	return actImagine
}

// check proves that act, inputs and mask belong together.
func (j *job) check(t generate.Task, p parent) error {
	switch n := len(t.Inputs); {
	case j.follows && n != 1:
		return media.Errorf(media.CodeInvalid, "midjourney.action %s goes on from one picture, and %d were named: name one that Midjourney made", j.name, n)
	case j.follows && !p.known():
		return media.Errorf(media.CodeUnsupported, "%s is no picture that Midjourney made here, so it cannot be followed up by %s: name one of its pictures, or edit this one without a mask and without midjourney.action", t.Inputs[0].Ref, j.name)
	case !j.follows && j.most == 1 && n != 1:
		return media.Errorf(media.CodeInvalid, "Midjourney's %s takes one picture, not %d: several are image prompts (midjourney.action imagine) or are blended (blend)", j.name, n)
	case !j.follows && (n < j.least || n > j.most):
		return media.Errorf(media.CodeInvalid, "midjourney.action %s takes %d to %d pictures, not %d", j.name, j.least, j.most, n)
	case j.name == actInpaint && t.Mask == nil:
		return media.Errorf(media.CodeInvalid, "midjourney.action inpaint needs a mask")
	case j.name != actInpaint && t.Mask != nil:
		return media.Errorf(media.CodeInvalid, "midjourney.action %s takes no mask: use inpaint", j.name)
	case j.once && t.N > 1:
		return media.Errorf(media.CodeInvalid, "Midjourney's %s gives one result, not %d: ask for one", j.name, t.N)
	}
	return nil
}

// dropForeign notes the options and settings that belong to other acts.
func (j *job) dropForeign(t generate.Task) {
	for name := range t.Options {
		_, isFlag := flagOptions[name]
		own := j.flags && (isFlag || name == "version" || name == "niji")
		if !own && name != "action" && name != "speed" && !slices.Contains(j.options, name) {
			j.drop("Midjourney's "+j.name+" does not take it", "options.midjourney."+name)
		}
	}
	if j.flags {
		return
	}
	j.drop("Midjourney's "+j.name+" has no such setting", "quality", "style", "seed", "negative_prompt")
	if j.name != actBlend {
		j.drop("Midjourney's "+j.name+" goes by the picture that it starts from", geometry...)
	}
}
