package midjourney

import (
	"cmp"
	"context"
	"strings"

	"atelier/generate/act"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/generate/midjourney/proxy"
	"atelier/media"
)

// parent is what the metadata of a picture says about the job that made it.
type parent struct {
	TaskID string `json:"task_id"`
	Hash   string `json:"message_hash,omitempty"`
	Action string `json:"action,omitempty"`
	Mode   string `json:"mode,omitempty"`
}

// follow writes a follow-up: a button where the proxy told of buttons, else the older
// change.
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

// confirmation answers the window of a task that waits for one. The words are the
// caller's, or those of the parent; the parent's flags stay.
func (d *Driver) confirmation(ctx context.Context, t driver.Task, j *job, got proxy.Submitted) post.Body {
	words := oneLine(t.Prompt)
	before, flags := string(got.Properties.Value.FinalPrompt), ""
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
