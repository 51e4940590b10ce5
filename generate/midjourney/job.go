package midjourney

import (
	"context"
	"maps"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/media"
	"atelier/wire"
)

// gridTiles is how many pictures a job draws.
const gridTiles = 4

// job is one submission, worked out of a task without a call.
type job struct {
	action  string
	options options
	// path is the endpoint under /mj/submit, prefix the way to a speed: "/mj-fast".
	path, prefix string
	body         map[string]any
	// pictures go into the field of the body, as a list or alone.
	pictures []media.Output
	field    string
	list     bool
	// modal is what to answer where the proxy waits for a window; nil where code 21
	// means that the job exists already.
	modal *modal
	notes []generate.Disposition
}

// modal answers a window: the flags that the job adds, and the mask.
type modal struct {
	flags string
	mask  *media.Output
}

// drop notes settings that are left out.
func (j *job) drop(why string, settings ...string) {
	for _, s := range settings {
		j.notes = append(j.notes, generate.Disposition{Setting: s, Outcome: generate.OutcomeDropped, Reason: why})
	}
}

// newJob decides on the endpoint and writes its body. Errors: media.CodeInvalid for
// options and inputs that make no sense together, media.CodeUnsupported.
func newJob(t generate.Task) (*job, error) {
	o, err := readOptions(t)
	if err != nil {
		return nil, err
	}
	j := &job{options: o, body: map[string]any{}}
	if o.speed != "" {
		j.prefix = "/mj-" + o.speed
	}
	if t.NotifyURL != "" {
		j.body["notifyHook"] = t.NotifyURL
	}
	p := parentOf(t)
	j.action = action(t, o, p)
	if err := j.check(t, p); err != nil {
		return nil, err
	}
	j.dropForeign(t)
	switch j.action {
	case actImagine:
		j.imagine(t)
	case actEdit:
		j.path, j.field, j.pictures = "edits", "image", t.Inputs
		j.body["prompt"] = j.prompt(t)
	case actBlend:
		j.blend(t)
	case actDescribe:
		j.path, j.field, j.pictures = "describe", "base64", t.Inputs
	default:
		err = j.follow(t, p)
	}
	return j, err
}

// action is what the option says, or what the method and the inputs mean.
func action(t generate.Task, o options, p parent) string {
	switch {
	case t.Model.Modality == media.ModalityDocument:
		return actDescribe
	case o.action != "":
		return o.action
	case t.Method == generate.MethodVariation && p.known():
		return actVariation
	case t.Mask != nil:
		return actInpaint
	case t.Method == generate.MethodEdit && len(t.Inputs) == 1:
		return actEdit
	}
	return actImagine
}

// check proves that action, inputs and mask belong together.
func (j *job) check(t generate.Task, p parent) error {
	follows := slices.Contains(followUps(), j.action)
	switch n := len(t.Inputs); {
	case follows && n != 1:
		return media.Errorf(media.CodeInvalid, "midjourney.action %s goes on from one picture, and %d were named: name one that Midjourney made", j.action, n)
	case follows && !p.known():
		return media.Errorf(media.CodeUnsupported, "%s is no picture that Midjourney made here, so it cannot be followed up by %s: name one of its pictures, or edit this one without a mask and without midjourney.action", t.Inputs[0].Ref, j.action)
	case j.action == actBlend && (n < 2 || n > 5):
		return media.Errorf(media.CodeInvalid, "midjourney.action blend takes 2 to 5 pictures, not %d", n)
	case j.action == actEdit && n != 1:
		return media.Errorf(media.CodeInvalid, "midjourney.action edit takes one picture, not %d: several are image prompts (action imagine) or are blended (action blend)", n)
	case j.action == actDescribe && n != 1:
		return media.Errorf(media.CodeInvalid, "%s takes one picture, not %d", t.Model.Name, n)
	case j.action == actInpaint && t.Mask == nil:
		return media.Errorf(media.CodeInvalid, "midjourney.action inpaint needs a mask")
	case j.action != actInpaint && t.Mask != nil:
		return media.Errorf(media.CodeInvalid, "midjourney.action %s takes no mask: use inpaint", j.action)
	case (j.action == actUpscale || j.action == actDescribe) && t.N > 1:
		return media.Errorf(media.CodeInvalid, "Midjourney's %s gives one result, not %d: ask for one", j.action, t.N)
	}
	return nil
}

// ownOptions lists the options that an action takes beside action and speed.
func ownOptions(action string) []string {
	switch action {
	case actImagine, actEdit:
		return append(slices.Collect(maps.Keys(flagOptions())), "version", "niji")
	case actBlend:
		return []string{"dimensions"}
	case actUpscale, actVariation:
		return []string{"index", "strength"}
	case actZoom:
		return []string{"factor"}
	case actPan:
		return []string{"direction"}
	case actButton:
		return []string{"custom_id"}
	}
	return nil
}

// dropForeign notes the options and settings that belong to other actions.
func (j *job) dropForeign(t generate.Task) {
	takes := append(ownOptions(j.action), "action", "speed")
	for name := range t.Options {
		if !slices.Contains(takes, name) {
			j.drop("Midjourney's "+j.action+" does not take it", "options.midjourney."+name)
		}
	}
	if j.action != actImagine && j.action != actEdit {
		j.drop("Midjourney's "+j.action+" has no such setting", "quality", "style", "seed", "negative_prompt")
		if j.action != actBlend {
			j.drop("Midjourney's "+j.action+" goes by the picture that it starts from", geometry()...)
		}
	}
}

// imagine draws anew; pictures are image prompts.
func (j *job) imagine(t generate.Task) {
	j.path = "imagine"
	if t.Method == generate.MethodVariation && oneLine(t.Prompt) == "" {
		t.Prompt = variationWords
	}
	j.body["prompt"] = j.prompt(t)
	if _, niji := versionFlag(t, j.options); niji {
		j.body["botType"] = "NIJI_JOURNEY"
	}
	if len(t.Inputs) == 0 {
		return
	}
	j.pictures, j.field, j.list = t.Inputs, "base64Array", true
	if j.options.action == "" {
		j.notes = append(j.notes, generate.Disposition{
			Setting: "inputs", Applied: "image prompts", Outcome: generate.OutcomeAdapted,
			Reason: "Midjourney takes such pictures as image prompts: it looks at them and draws new ones",
		})
	}
}

// blend mixes pictures; there are no words in it.
func (j *job) blend(t generate.Task) {
	j.path, j.pictures, j.field, j.list = "blend", t.Inputs, "base64Array", true
	shape := j.options.dimensions
	if shape == "" {
		shape = map[string]string{"2:3": "portrait", "1:1": "square", "3:2": "landscape"}[t.AspectRatio]
	}
	if t.AspectRatio != "" && (shape == "" || j.options.dimensions != "") {
		j.drop("a blend is portrait 2:3, square or landscape 3:2 (option dimensions)", geometry()...)
	}
	if shape != "" {
		j.body["dimensions"] = strings.ToUpper(shape)
	}
}

// withPictures puts tokens into the body; the transport streams the bytes from the
// store.
func (d *Driver) withPictures(ctx context.Context, j *job) map[string]any {
	if j.field == "" {
		return j.body
	}
	body := maps.Clone(j.body)
	var all []string
	for _, o := range j.pictures {
		all = append(all, d.dataURL(ctx, o))
	}
	body[j.field] = all[0]
	if j.list {
		body[j.field] = all
	}
	return body
}

// dataURL names a picture for a field that wants a data: URL.
func (d *Driver) dataURL(ctx context.Context, o media.Output) string {
	return "data:" + o.MIMEType + ";base64," + d.codec.Token(media.ScopeOf(ctx).Tree, o.Blob, wire.VariantStd)
}
