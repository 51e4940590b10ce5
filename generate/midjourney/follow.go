package midjourney

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/generate/midjourney/proxy"
	"atelier/media"
)

// parent is what the metadata of a picture says about the job that made it.
type parent struct {
	TaskID  string         `json:"task_id"`
	Hash    string         `json:"message_hash,omitempty"`
	Action  string         `json:"action,omitempty"`
	Mode    string         `json:"mode,omitempty"`
	Buttons []proxy.Button `json:"buttons,omitempty"`
	// tile is 1 to 4 for a part of a grid, 0 for the whole of a picture.
	tile int
}

// known tells whether the picture came from a job.
func (p parent) known() bool { return p.TaskID != "" }

// grid tells whether the job drew four pictures.
func (p parent) grid() bool {
	if len(p.Buttons) == 0 {
		return slices.Contains([]string{"IMAGINE", "VARIATION", "REROLL", "BLEND"}, p.Action)
	}
	_, ok := p.button("MJ::JOB::upsample::1::", "")
	return ok
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
	if p.tile < 1 || p.tile > 4 {
		p.tile = 0
	}
	return p
}

// buttons are the ids of the buttons of an act and its details: how an id begins, and
// behind a star what it has to hold. N is the number of a tile.
var buttons = map[string]string{
	"upscale tile": "MJ::JOB::upsample::N::", "variation tile": "MJ::JOB::variation::N::",
	"upscale": "MJ::JOB::upsample_*_subtle::", "upscale subtle": "MJ::JOB::upsample_*_subtle::",
	"upscale strong": "MJ::JOB::upsample_*_creative::", "upscale creative": "MJ::JOB::upsample_*_creative::",
	"variation": "MJ::JOB::high_variation::", "variation subtle": "MJ::JOB::low_variation::",
	"variation strong": "MJ::JOB::high_variation::", "variation creative": "MJ::JOB::high_variation::",
	"reroll": "MJ::JOB::reroll::", "inpaint": "MJ::Inpaint::",
	"zoom": "MJ::Outpaint::50::", "zoom 2": "MJ::Outpaint::50::", "zoom 1.5": "MJ::Outpaint::75::", "zoom square": "MJ::Outpaint::100::",
	"pan": "MJ::JOB::pan_right::", "pan right": "MJ::JOB::pan_right::", "pan left": "MJ::JOB::pan_left::",
	"pan up": "MJ::JOB::pan_up::", "pan down": "MJ::JOB::pan_down::",
}

// customZoom is the button of all other factors of zoom; its window takes the factor.
const customZoom = "MJ::CustomZoom::"

// follow writes a follow-up: a button where the proxy told of buttons, else the older
// change.
func (j *job) follow(t generate.Task, p parent) error {
	asked, _ := strconv.Atoi(t.Option("index")) // the catalogue's rule was kept
	index, grid := cmp.Or(asked, p.tile), p.grid()
	tile := grid && (j.name == actUpscale || j.name == actVariation)
	switch {
	case tile && index == 0:
		return media.Errorf(media.CodeInvalid, "%s is a grid of four pictures: name one of its tiles, or set midjourney.index to 1, 2, 3 or 4", t.Inputs[0].Ref)
	case tile && t.Option("strength") != "":
		j.drop("the pictures of a grid have one "+j.name+" each", "options.midjourney.strength")
	case !tile && asked != 0:
		j.drop("it is a single picture", "options.midjourney.index")
	}
	if len(p.Buttons) == 0 {
		return j.older(t, p, index)
	}
	id, ok := p.find(t, j.name, tile, index)
	if !ok {
		e := media.Errorf(media.CodeUnsupported, "Midjourney offers no %s for %s: %s", j.name, t.Inputs[0].Ref, advice(j.name, grid))
		for _, b := range p.Buttons {
			e.Valid = append(e.Valid, b.CustomID)
		}
		return e
	}
	j.path, j.modal = "action", &modal{mask: t.Mask}
	j.body["taskId"], j.body["customId"] = p.TaskID, id
	if factor := t.Option("factor"); strings.HasPrefix(id, customZoom) && factor != "" {
		j.modal.flags = "--zoom " + factor
	}
	if j.name == actButton && t.N <= 1 && strings.HasPrefix(id, "MJ::JOB::upsample") {
		j.single()
	}
	j.say(t, id)
	return nil
}

// say notes what becomes of the words: the windows of inpaint and of a zoom by a factor of
// one's own take them, a remix takes them if the account has that on.
func (j *job) say(t generate.Task, id string) {
	switch {
	case strings.HasPrefix(id, customZoom), strings.HasPrefix(id, buttons[actInpaint]):
	case j.remix && oneLine(t.Prompt) != "":
		j.body["enableRemix"] = true
		j.adapt("prompt", "in remix mode", "Midjourney takes words for a "+j.name+" only where the proxy's account is in remix mode, and leaves them out otherwise")
	default:
		j.mute(t, "Midjourney's "+j.name+" goes by the picture that it starts from and takes no words")
	}
}

// find gives the button of a follow-up.
func (p parent) find(t generate.Task, name string, tile bool, index int) (string, bool) {
	own := t.Option("custom_id")
	if name == actButton {
		return own, slices.ContainsFunc(p.Buttons, func(b proxy.Button) bool { return b.CustomID == own })
	}
	detail := t.Option(map[string]string{actUpscale: "strength", actVariation: "strength", "zoom": "factor", "pan": "direction"}[name])
	if tile {
		detail = "tile"
	}
	pattern, ok := buttons[strings.TrimSpace(name+" "+detail)]
	if !ok {
		pattern = customZoom
	}
	prefix, part, _ := strings.Cut(strings.Replace(pattern, "::N::", "::"+strconv.Itoa(index)+"::", 1), "*")
	return p.button(prefix, part)
}

// advice says how to get there.
func advice(name string, grid bool) string {
	switch {
	case grid:
		return "upscale it first (midjourney.action upscale)"
	case name == actButton:
		return "midjourney.custom_id must be one of the buttons in its metadata"
	}
	return "use another follow-up that its metadata lists"
}

// older follows up at proxies that tell of no buttons.
func (j *job) older(t generate.Task, p parent, index int) error {
	if j.change == "" || j.name != "reroll" && !p.grid() {
		return media.Errorf(media.CodeUnsupported, "this proxy offers no %s for %s: it knows upscale, variation and reroll of a grid only", j.name, t.Inputs[0].Ref)
	}
	j.mute(t, "this proxy takes no words for a "+j.name)
	j.path = "change"
	j.body["taskId"], j.body["action"] = p.TaskID, j.change
	if j.name != "reroll" {
		j.body["index"] = index
	}
	return nil
}

// confirmation answers the window of a task that waits for one. The words are the
// caller's, or those of the parent; the parent's flags stay.
func (d *Driver) confirmation(ctx context.Context, t generate.Task, j *job, got proxy.Submitted) post.Body {
	words := oneLine(t.Prompt)
	before, flags := string(got.Properties.FinalPrompt), ""
	if i := strings.Index(before, "--"); i >= 0 {
		before, flags = strings.TrimSpace(before[:i]), before[i:]
	}
	words = cmp.Or(words, before)
	if !strings.Contains(words, "--") {
		words += " " + flags
	}
	body := post.Body{"taskId": string(got.Result), "prompt": oneLine(words + " " + j.modal.flags)}
	if j.modal.mask != nil {
		body["maskBase64"] = d.client.DataURL(ctx, j.modal.mask.Blob)
	}
	if hook := j.body["notifyHook"]; hook != nil {
		body["notifyHook"] = hook
	}
	return body
}
