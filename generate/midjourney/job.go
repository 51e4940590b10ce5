package midjourney

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// geometry names the settings that a ratio may come from.
var geometry = []string{"size", "aspect_ratio"}

// job is one submission, worked out of a task without a call.
type job struct {
	act
	name string
	path string
	body post.Body
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

// adapt notes a setting that is taken in another way.
func (j *job) adapt(setting, applied, why string) {
	j.notes = append(j.notes, generate.Disposition{Setting: setting, Applied: applied, Outcome: generate.OutcomeAdapted, Reason: why})
}

// newJob decides on the endpoint and writes its body. Errors: media.CodeInvalid for
// options and inputs that make no sense together, media.CodeUnsupported.
func newJob(t generate.Task) (*job, error) {
	if err := t.CheckOptions(); err != nil {
		return nil, err
	}
	p := parentOf(t)
	name := actOf(t, p)
	a, ok := acts[name]
	if !ok {
		return nil, media.Errorf(media.CodeInvalid, "midjourney.action %q is unknown: use %s", media.Scrub(name), strings.Join(slices.Sorted(maps.Keys(acts)), ", "))
	}
	j := &job{act: a, name: name, path: a.path, body: post.Body{}}
	if err := j.check(t, p); err != nil {
		return nil, err
	}
	j.body.Set("notifyHook", t.NotifyURL)
	j.body.Set("state", t.Key) // the list of jobs shows it: see Find
	j.dropForeign(t)
	if j.once {
		j.single()
	}
	switch {
	case j.follows:
		return j, j.follow(t, p)
	case j.flags:
		return j, j.draw(t)
	case j.name == actBlend:
		j.blend(t)
	}
	j.mute(t, "Midjourney's "+j.name+" goes by pictures alone and takes no words")
	return j, nil
}

// mute notes that the words of the prompt are not sent.
func (j *job) mute(t generate.Task, why string) {
	if oneLine(t.Prompt) != "" {
		j.drop(why, "prompt")
	}
}

// single notes that the job gives one result and no grid.
func (j *job) single() {
	j.notes = append(j.notes, generate.Disposition{Setting: "n", Applied: "1", Outcome: generate.OutcomeApplied})
}

// draw draws by words; the pictures of imagine are image prompts.
func (j *job) draw(t generate.Task) error {
	if t.Method == generate.MethodVariation {
		t.Prompt = cmp.Or(oneLine(t.Prompt), variationWords)
	}
	flags, err := j.flagsOf(t)
	if err != nil {
		return err
	}
	j.body["prompt"] = j.prompt(t, flags)
	if f := versionFlag(t); f.name == "--niji" && j.name == actImagine {
		j.body["botType"] = "NIJI_JOURNEY"
	}
	if len(t.Inputs) > 0 && j.name == actImagine && t.Option("action") == "" {
		j.adapt("inputs", "image prompts", "Midjourney takes such pictures as image prompts: it looks at them and draws new ones")
	}
	return nil
}

// blend mixes pictures; there are no words in it.
func (j *job) blend(t generate.Task) {
	asked := t.Option("dimensions")
	shape := cmp.Or(asked, map[string]string{"2:3": "portrait", "1:1": "square", "3:2": "landscape"}[t.AspectRatio])
	if t.AspectRatio != "" && (shape == "" || asked != "") {
		j.drop("a blend is portrait 2:3, square or landscape 3:2 (option dimensions)", geometry...)
	}
	j.body.Set("dimensions", strings.ToUpper(shape))
}

// withPictures puts pictures into the body; the transport streams the bytes from the store.
func (d *Driver) withPictures(ctx context.Context, t generate.Task, j *job) post.Body {
	var all []string
	for _, o := range t.Inputs {
		all = append(all, d.client.DataURL(ctx, o.Blob))
	}
	switch {
	case j.follows || len(all) == 0:
	case j.list:
		j.body[j.field] = all
	default:
		j.body[j.field] = all[0]
	}
	return j.body
}
