package midjourney

import (
	"cmp"
	"context"
	"strings"

	"atelier/generate"
	"atelier/generate/act"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// The acts of the catalogue that the code refers to; a row without acts imagines.
const (
	actImagine = "imagine"
	actBlend   = "blend"
)

// endpoint is a path under /mj/submit, and the field for pictures, which is a list or a single value.
type endpoint struct {
	path, field string
	list        bool
}

var endpoints = map[string]endpoint{
	actImagine: {"imagine", "base64Array", true}, actBlend: {"blend", "base64Array", true},
	"edit": {"edits", "image", false}, "describe": {"describe", "base64", false},
}

// variationWords replaces an empty prompt for a variation of a picture that Midjourney did not make, because an image
// prompt needs words.
const variationWords = "a variation of this picture with the same subject, style and mood"

// job is one submission, prepared from a task without a call.
type job struct {
	catalog.Act
	at   endpoint
	body post.Body
	// window is the answer to the proxy's dialog, if it shows one; nil if code 21 means that the job already exists.
	window *window
	notes  []generate.Disposition
}

// window is the answer to a dialog: the flags that the job adds, and the mask.
type window struct {
	flags string
	mask  *media.Output
}

func (j *job) note(setting string, o generate.Outcome, applied, reason string) {
	j.notes = append(j.notes, generate.Disposition{Setting: setting, Applied: applied, Outcome: o, Reason: reason})
}

// newJob chooses the endpoint and builds its body: a follow-up, a blend, or a job from words and flags, where the
// pictures of imagine are image prompts. Errors: media.CodeInvalid for options and inputs that do not fit together,
// media.CodeUnsupported.
func newJob(t driver.Task) (*job, error) {
	if err := t.CheckOptions(); err != nil {
		return nil, err
	}
	a, err := act.Of(t)
	if err != nil {
		return nil, err
	}
	a.Name = cmp.Or(a.Name, actImagine)
	j := &job{Act: a, at: endpoints[a.Name], body: post.Body{}}
	j.body.Set("notifyHook", t.NotifyURL)
	j.body.Set("state", t.Key) // the list of jobs returns it: see List
	switch {
	case a.Follows:
		return j, j.follow(t)
	case a.Name == actBlend:
		requested := t.Option("dimensions")
		shape := cmp.Or(requested, map[string]string{"2:3": "portrait", "1:1": "square", "3:2": "landscape"}[t.AspectRatio])
		if t.AspectRatio != "" && (shape == "" || requested != "") {
			const why = "a blend is portrait 2:3, square or landscape 3:2 (option dimensions)"
			j.note("size", generate.OutcomeDropped, "", why)
			j.note("aspect_ratio", generate.OutcomeDropped, "", why)
		}
		j.body.Set("dimensions", strings.ToUpper(shape))
		return j, nil
	case a.Words == "none":
		return j, nil
	}
	if len(t.Model.Flags) == 0 {
		return nil, media.Errorf(media.CodeInvalid, "the row of %s in the catalogue has no flags, so neither its version nor settings can be sent: give it those of a shipped row", t.Model.Name)
	}
	words := oneLine(t.Prompt)
	if t.Method == generate.MethodVariation {
		words = cmp.Or(words, variationWords)
	}
	flags, _ := act.Flags(t) // the Gateway reports the lost settings
	j.body["prompt"] = oneLine(words + " " + flags)
	if strings.Contains(flags, "--niji") && j.Name == actImagine {
		j.body["botType"] = "NIJI_JOURNEY"
	}
	if len(t.Inputs) > 0 && j.Name == actImagine && t.Option("action") == "" {
		j.note("inputs", generate.OutcomeAdapted, "image prompts", "Midjourney takes such pictures as image prompts: it looks at them and draws new ones")
	}
	return j, nil
}

// oneLine collapses white space: a prompt is one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// parent is what the metadata of a picture records about the job that made it.
type parent struct {
	TaskID string `json:"task_id"`
	Hash   string `json:"message_hash,omitempty"`
	Action string `json:"action,omitempty"`
	Mode   string `json:"mode,omitempty"`
}

// follow builds a follow-up: a button if the proxy sent buttons, else the older change action.
func (j *job) follow(t driver.Task) error {
	f, err := act.Follow(t)
	if err != nil {
		return err
	}
	var p parent
	if !t.Parent(&p) || p.TaskID == "" {
		return media.Errorf(media.CodeUnsupported, "%s names no job of Midjourney, so %s cannot continue from it: name another picture", t.Inputs[0].Ref, j.Name)
	}
	j.body["taskId"] = p.TaskID
	switch {
	case f.Offer != "":
		j.at.path, j.window = "action", &window{flags: f.Flags, mask: t.Mask}
		j.body["customId"] = f.Offer
		j.body.Set("enableRemix", f.Unsure)
	case f.Plain != "":
		j.at.path, j.body["action"] = "change", f.Plain
		j.body.Set("index", f.Tile)
	default:
		return media.Errorf(media.CodeInvalid, "the row of %s in the catalogue says of no offer that it is %s: give it the acts of a shipped row", t.Model.Name, j.Name)
	}
	return nil
}

// confirmation answers the dialog of a task that waits for one. The words are the caller's, or those of the parent; the
// parent's flags are kept.
func (d *Driver) confirmation(ctx context.Context, t driver.Task, j *job, got submitted) post.Body {
	words := oneLine(t.Prompt)
	before, flags := string(got.Properties.FinalPrompt), ""
	if i := strings.Index(before, "--"); i >= 0 {
		before, flags = strings.TrimSpace(before[:i]), before[i:]
	}
	words = cmp.Or(words, before)
	if !strings.Contains(words, "--") {
		words += " " + flags
	}
	body := post.Body{"taskId": string(got.Result), "prompt": oneLine(words + " " + j.window.flags)}
	if j.window.mask != nil {
		body["maskBase64"] = d.client.DataURL(ctx, j.window.mask.Blob)
	}
	if hook := j.body["notifyHook"]; hook != nil {
		body["notifyHook"] = hook
	}
	return body
}
