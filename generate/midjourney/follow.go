package midjourney

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// button is a follow-up that Midjourney offers for a picture.
type button struct {
	CustomID string `json:"custom_id"`
	Label    string `json:"label,omitempty"`
}

// parent is what the metadata of a picture says about the job that made it.
type parent struct {
	TaskID  string   `json:"task_id"`
	Hash    string   `json:"message_hash,omitempty"`
	Action  string   `json:"action,omitempty"`
	Mode    string   `json:"mode,omitempty"`
	Buttons []button `json:"buttons,omitempty"`
	// tile is 1 to 4 for a part of a grid, 0 for the whole of a picture.
	tile int
}

// known tells whether the picture came from a job.
func (p parent) known() bool { return p.TaskID != "" }

// grid tells whether the job drew four pictures.
func (p parent) grid() bool {
	if len(p.Buttons) == 0 {
		return drawsGrid(p.Action)
	}
	_, ok := p.button("MJ::JOB::upsample::1::", "")
	return ok
}

// drawsGrid tells the actions that draw four pictures, for proxies without buttons.
func drawsGrid(action string) bool {
	return slices.Contains([]string{"IMAGINE", "VARIATION", "REROLL", "BLEND"}, action)
}

// button finds a button by the start of its id and a part of it.
func (p parent) button(prefix, part string) (string, bool) {
	for _, b := range p.Buttons {
		if strings.HasPrefix(b.CustomID, prefix) && strings.Contains(b.CustomID, part) {
			return b.CustomID, true
		}
	}
	return "", false
}

// parentOf reads the metadata of the only input; the zero parent if there is none. It
// came through a ledger, so it has the shapes that JSON has.
func parentOf(t generate.Task) parent {
	if len(t.Inputs) != 1 {
		return parent{}
	}
	var p parent
	raw, err := json.Marshal(t.Inputs[0].Metadata["midjourney"])
	if err != nil || json.Unmarshal(raw, &p) != nil {
		return parent{}
	}
	switch n := t.Inputs[0].Metadata["tile"].(type) {
	case int:
		p.tile = n
	case float64:
		p.tile = int(n)
	}
	if p.tile < 1 || p.tile > gridTiles {
		p.tile = 0
	}
	return p
}

// follow writes a follow-up: a button where the proxy told of buttons, else the older
// change.
func (j *job) follow(t generate.Task, p parent) error {
	index := cmp.Or(j.options.index, p.tile)
	grid := p.grid()
	switch {
	case grid && index == 0 && (j.action == actUpscale || j.action == actVariation):
		return media.Errorf(media.CodeInvalid, "%s is a grid of four pictures: name one of its tiles, or set midjourney.index to 1, 2, 3 or 4", t.Inputs[0].Ref)
	case grid && j.action == actUpscale || grid && j.action == actVariation:
		if j.options.strength != "" {
			j.drop("the pictures of a grid have one "+j.action+" each", "options.midjourney.strength")
		}
	case j.options.index != 0:
		j.drop("it is a single picture", "options.midjourney.index")
	}
	if len(p.Buttons) == 0 {
		return j.change(t, p, index)
	}
	prefix, part := j.wanted(grid, index)
	id, ok := p.button(prefix, part)
	if j.action == actButton {
		ok = slices.ContainsFunc(p.Buttons, func(b button) bool { return b.CustomID == prefix })
	}
	if !ok {
		e := media.Errorf(media.CodeUnsupported, "Midjourney offers no %s for %s: %s", j.action, t.Inputs[0].Ref, advice(j.action, grid))
		e.Valid = p.labels()
		return e
	}
	j.path = "action"
	j.body["taskId"], j.body["customId"] = p.TaskID, id
	j.modal = &modal{mask: t.Mask}
	if strings.HasPrefix(id, "MJ::CustomZoom::") && j.options.factor != "" {
		j.modal.flags = "--zoom " + j.options.factor
	}
	if oneLine(t.Prompt) != "" && slices.Contains([]string{actVariation, actReroll, actPan}, j.action) {
		j.body["enableRemix"] = true
	}
	return nil
}

// advice says how to get there.
func advice(action string, grid bool) string {
	if grid {
		return "upscale it first (midjourney.action upscale)"
	}
	if action == actButton {
		return "midjourney.custom_id must be one of the buttons in its metadata"
	}
	return "use another follow-up that its metadata lists"
}

// labels lists the ids of the buttons.
func (p parent) labels() []string {
	var ids []string
	for _, b := range p.Buttons {
		ids = append(ids, b.CustomID)
	}
	return ids
}

// wanted is how the id of the button begins, and what it has to contain.
func (j *job) wanted(grid bool, index int) (prefix, part string) {
	o := j.options
	switch j.action {
	case actUpscale:
		if grid {
			return "MJ::JOB::upsample::" + strconv.Itoa(index) + "::", ""
		}
		return "MJ::JOB::upsample_", "_" + cmp.Or(strings.Replace(o.strength, "strong", "creative", 1), "subtle") + "::"
	case actVariation:
		if grid {
			return "MJ::JOB::variation::" + strconv.Itoa(index) + "::", ""
		}
		if o.strength == "subtle" {
			return "MJ::JOB::low_variation::", ""
		}
		return "MJ::JOB::high_variation::", ""
	case actReroll:
		return "MJ::JOB::reroll::", ""
	case actZoom:
		step, ok := map[string]string{"": "50", "2": "50", "1.5": "75", "square": "100"}[o.factor]
		if !ok {
			return "MJ::CustomZoom::", ""
		}
		return "MJ::Outpaint::" + step + "::", ""
	case actPan:
		return "MJ::JOB::pan_" + cmp.Or(o.direction, "right") + "::", ""
	case actInpaint:
		return "MJ::Inpaint::", ""
	}
	return o.customID, ""
}

// change follows up at proxies that tell of no buttons.
func (j *job) change(t generate.Task, p parent, index int) error {
	word, ok := map[string]string{actUpscale: "UPSCALE", actVariation: "VARIATION", actReroll: "REROLL"}[j.action]
	if !ok || j.action != actReroll && !p.grid() {
		return media.Errorf(media.CodeUnsupported, "this proxy offers no %s for %s: it knows upscale, variation and reroll of a grid only", j.action, t.Inputs[0].Ref)
	}
	j.path = "change"
	j.body["taskId"], j.body["action"] = p.TaskID, word
	if j.action != actReroll {
		j.body["index"] = index
	}
	return nil
}

// confirmation answers the window of a task that waits for one. The words are the
// caller's, or those of the parent; the parent's flags stay.
func (d *Driver) confirmation(ctx context.Context, t generate.Task, j *job, got submitted) map[string]any {
	words := oneLine(t.Prompt)
	before, flags := got.finalPrompt(), ""
	if i := strings.Index(before, "--"); i >= 0 {
		before, flags = strings.TrimSpace(before[:i]), before[i:]
	}
	words = cmp.Or(words, before)
	if !strings.Contains(words, "--") {
		words += " " + flags
	}
	body := map[string]any{"taskId": string(got.Result), "prompt": oneLine(words + " " + j.modal.flags)}
	if j.modal.mask != nil {
		body["maskBase64"] = d.dataURL(ctx, *j.modal.mask)
	}
	if hook := j.body["notifyHook"]; hook != nil {
		body["notifyHook"] = hook
	}
	return body
}
