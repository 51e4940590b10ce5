package midjourney

import (
	"cmp"
	"context"
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
	TaskID string `json:"task_id"`
	Hash   string `json:"message_hash,omitempty"`
	Action string `json:"action,omitempty"`
	Mode   string `json:"mode,omitempty"`
}

// grid tells whether the job drew four pictures.
func (p parent) grid(offers []generate.Offer) bool {
	if len(offers) == 0 {
		return slices.Contains([]string{"IMAGINE", "VARIATION", "REROLL", "BLEND"}, p.Action)
	}
	_, ok := button(offers, "MJ::JOB::upsample::1::", "")
	return ok
}

// button gives the id of a button by its start and a part of it.
func button(offers []generate.Offer, prefix, part string) (string, bool) {
	i := slices.IndexFunc(offers, func(o generate.Offer) bool { return strings.HasPrefix(o.ID, prefix) && strings.Contains(o.ID, part) })
	if i < 0 {
		return "", false
	}
	return offers[i].ID, true
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
func (j *job) follow(t generate.Task) error {
	var p parent
	if !t.Parent(&p) || p.TaskID == "" {
		return media.Errorf(media.CodeUnsupported, "%s names no job of Midjourney, so %s cannot go on from it: name another picture", t.Inputs[0].Ref, j.Name)
	}
	asked, _ := strconv.Atoi(t.Option("index")) // the catalogue's rule was kept
	index, grid := cmp.Or(asked, t.Tile()), p.grid(t.Offers())
	tile := grid && (j.Name == actUpscale || j.Name == actVariation)
	switch {
	case tile && index == 0:
		return media.Errorf(media.CodeInvalid, "%s is a grid of four pictures: name one of its tiles, or set midjourney.index to 1, 2, 3 or 4", t.Inputs[0].Ref)
	case tile && t.Option("strength") != "":
		j.drop("options.midjourney.strength", "the pictures of a grid have one "+j.Name+" each")
	case !tile && asked != 0:
		j.drop("options.midjourney.index", "it is a single picture")
	}
	if len(t.Offers()) == 0 {
		return j.older(t, p, index)
	}
	id, ok := buttonFor(t, j.Name, tile, index)
	single := j.Name == actButton && strings.HasPrefix(id, "MJ::JOB::upsample")
	switch {
	case !ok:
		return lacks(t, j.Name, grid)
	case single && t.N > 1:
		return media.Errorf(media.CodeInvalid, "this button gives one result, not %d: ask for one", t.N)
	case single:
		j.note("n", generate.OutcomeApplied, "1", "")
	}
	j.at.path, j.modal = "action", &modal{mask: t.Mask}
	j.body["taskId"], j.body["customId"] = p.TaskID, id
	if factor := t.Option("factor"); strings.HasPrefix(id, customZoom) && factor != "" {
		j.modal.flags = "--zoom " + factor
	}
	j.say(t, id)
	return nil
}

// say notes what becomes of the words: the windows of inpaint and of a zoom by a factor of
// one's own take them, a remix takes them if the account has that on.
func (j *job) say(t generate.Task, id string) {
	switch {
	case oneLine(t.Prompt) == "", strings.HasPrefix(id, customZoom), strings.HasPrefix(id, buttons["inpaint"]):
	case slices.Contains([]string{actVariation, actReroll, "pan"}, j.Name):
		j.body["enableRemix"] = true
		j.note("prompt", generate.OutcomeAdapted, "in remix mode", "Midjourney takes words for a "+j.Name+" only where the proxy's account is in remix mode, and leaves them out otherwise")
	default:
		j.drop("prompt", "Midjourney's "+j.Name+" goes by the picture that it starts from and takes no words")
	}
}

// buttonFor gives the id of the button of a follow-up.
func buttonFor(t generate.Task, name string, tile bool, index int) (string, bool) {
	own := t.Option("custom_id")
	if name == actButton {
		return own, slices.ContainsFunc(t.Offers(), func(o generate.Offer) bool { return o.ID == own })
	}
	detail := cmp.Or(t.Option("strength"), t.Option("factor"), t.Option("direction"))
	if tile {
		detail = "tile"
	}
	pattern, ok := buttons[strings.TrimSpace(name+" "+detail)]
	if !ok {
		pattern = customZoom
	}
	prefix, part, _ := strings.Cut(strings.Replace(pattern, "::N::", "::"+strconv.Itoa(index)+"::", 1), "*")
	return button(t.Offers(), prefix, part)
}

// lacks is the error for a button that Midjourney does not offer; it lists those that it does.
func lacks(t generate.Task, name string, grid bool) error {
	ref := t.Inputs[0].Ref
	do := "use another one, see atelier media show " + string(ref)
	if grid && name != actButton && name != actReroll {
		do = "upscale it first (midjourney.action upscale)"
	}
	e := media.Errorf(media.CodeUnsupported, "Midjourney offers no such %s for %s: %s", name, ref, do)
	for _, o := range t.Offers() {
		e.Valid = append(e.Valid, o.ID)
	}
	return e
}

// changes are what the acts are called at proxies without buttons.
var changes = map[string]string{actUpscale: "UPSCALE", actVariation: "VARIATION", actReroll: "REROLL"}

// older follows up at proxies that tell of no buttons.
func (j *job) older(t generate.Task, p parent, index int) error {
	if changes[j.Name] == "" || j.Name != actReroll && !p.grid(nil) {
		return media.Errorf(media.CodeUnsupported, "this proxy offers no %s for %s: it knows upscale, variation and reroll of a grid only", j.Name, t.Inputs[0].Ref)
	}
	if oneLine(t.Prompt) != "" {
		j.drop("prompt", "this proxy takes no words for a "+j.Name)
	}
	j.at.path = "change"
	j.body["taskId"], j.body["action"] = p.TaskID, changes[j.Name]
	if j.Name != actReroll {
		j.body["index"] = index
	}
	return nil
}

// confirmation answers the window of a task that waits for one. The words are the
// caller's, or those of the parent; the parent's flags stay.
func (d *Driver) confirmation(ctx context.Context, t generate.Task, j *job, got proxy.Submitted) post.Body {
	words := oneLine(t.Prompt)
	before, flags := string(got.Properties.Value.FinalPrompt), ""
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
