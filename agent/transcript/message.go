package transcript

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"atelier/action"
	"atelier/agent/internal/plain"
	"atelier/chat"
	"atelier/media"
)

// Fenced returns the JSON of v in a code fence.
func Fenced(v any) string { return "```json\n" + string(plain.JSON(v)) + "\n```" }

// itemView is a media item as the first message of a run shows it.
type itemView struct {
	RefID       string         `json:"refId"`
	Placeholder string         `json:"placeholder"`
	Modality    media.Modality `json:"modality"`
	MIMEType    string         `json:"mimeType"`
	Width       int            `json:"width,omitempty"`
	Height      int            `json:"height,omitempty"`
	Label       string         `json:"label,omitempty"`
	Description string         `json:"description,omitempty"`
}

// View returns an item as the first message of a run shows it.
func View(o media.Output) itemView {
	return itemView{
		RefID: string(o.Ref), Placeholder: o.Ref.Placeholder(), Modality: o.Modality, MIMEType: o.MIMEType,
		Width: o.Width, Height: o.Height, Label: plain.Clip(o.Label, 120), Description: plain.Clip(o.Description, 300),
	}
}

// Opening is the first user message: the task, followed by its context.
type Opening struct {
	Task    string
	Input   map[string]any
	Granted []media.Output
	// Images are shown with the task.
	Images []Sight
	// Unseen are sentences about pictures that the model cannot be shown.
	Unseen []string
	// earlier describes messages that were left out; notice is a notice of the run.
	earlier *earlier
	notice  string
}

func (o *Opening) message() chat.Message {
	ctx := struct {
		Input   map[string]any `json:"input,omitempty"`
		Media   []any          `json:"media,omitempty"`
		Unseen  []string       `json:"cannotSee,omitempty"`
		Earlier *earlier       `json:"earlier,omitempty"`
		Notice  string         `json:"notice,omitempty"`
	}{Input: o.Input, Unseen: o.Unseen, Earlier: o.earlier, Notice: o.notice}
	for _, item := range o.Granted {
		ctx.Media = append(ctx.Media, View(item))
	}
	ctx.Media = BoundedList(ctx.Media)
	m := chat.Text(chat.RoleUser, o.Task)
	if len(ctx.Input)+len(ctx.Media)+len(ctx.Unseen) > 0 || ctx.Earlier != nil || ctx.Notice != "" {
		m.Parts[0].Text += "\n\n" + Fenced(map[string]any{"context": ctx})
	}
	m.Parts = append(m.Parts, partsOf(o.Images)...)
	return m
}

// Results is the message that a model reads after a step.
type Results struct {
	Actions  []action.Outcome `json:"actions,omitempty"`
	Agents   []Agent          `json:"agents,omitempty"`
	Media    []itemView       `json:"media,omitempty"`
	Errors   []action.Problem `json:"errors,omitempty"`
	Warnings []string         `json:"warnings,omitempty"`
	// Notice is a notice of the run to the model, such as that this is its last turn.
	Notice string `json:"notice,omitempty"`

	// Answer is a person's answer to the question of the step.
	Answer *Answer `json:"answer,omitempty"`

	// levels holds the level to which the outputs of each action have been reduced.
	levels map[int]level
	// Views are the pictures that the model sees with this message, for a number of turns.
	Views []Sight `json:"-"`
}

// Answer is a person's answer as the model sees it.
type Answer struct {
	Question string `json:"question"`
	Value    any    `json:"value"`
	Note     string `json:"note,omitempty"`
	// Media are the items that came with the answer.
	Media []itemView `json:"media,omitempty"`
}

// Agent is a sub-agent's answer as its parent's model sees it.
type Agent struct {
	Name    string          `json:"name"`
	Slug    string          `json:"slug,omitempty"`
	Success bool            `json:"success"`
	Message string          `json:"message"`
	Payload map[string]any  `json:"payload,omitempty"`
	Media   []any           `json:"media,omitempty"`
	Error   *action.Problem `json:"error,omitempty"`

	level level
	// Waits marks a sub-agent that paused.
	Waits bool `json:"-"`
}

func (r *Results) message() chat.Message {
	m := chat.Text(chat.RoleUser, Fenced(map[string]any{"results": r}))
	m.Parts = append(m.Parts, partsOf(r.Views)...)
	return m
}

// maxValid is the maximum number of accepted values that a problem lists.
const maxValid = 50

// Problem converts an error to a form that a model or a person can act on.
func Problem(err error) action.Problem {
	p := action.Problem{Code: media.CodeOf(err), Message: plain.Clip(media.ErrorText(err.Error()), 1000), Retryable: media.Retryable(err)}
	if e, ok := errors.AsType[*media.Error](err); ok {
		p.Valid = e.Valid[:min(len(e.Valid), maxValid)]
	}
	return p
}

// Sight is a picture that the model is shown.
type Sight struct {
	// Ref is the item of the run; Shown is the form that the model accepts.
	Ref    media.Ref
	Shown  media.Output
	Detail string
	// Turns is the number of turns for which the picture stays after its message.
	Turns int
	// Given marks pictures that came with an answer; Policy marks those shown without a request.
	Given, Policy bool
}

// partsOf converts pictures to message parts, each after its ref.
func partsOf(list []Sight) []chat.Part {
	var out []chat.Part
	for _, s := range list {
		out = append(out, chat.Part{Text: "\n" + string(s.Ref) + ":"}, chat.Part{Media: &s.Shown, Detail: s.Detail})
	}
	return out
}

// BytesOf returns the total size of pictures.
func BytesOf(list []Sight) (n int64) {
	for _, s := range list {
		n += s.Shown.SizeBytes
	}
	return n
}

// Shows reports whether the message already shows a picture.
func (r *Results) Shows(ref media.Ref) bool {
	return slices.ContainsFunc(r.Views, func(s Sight) bool { return s.Ref == ref })
}

// What a model is shown of a long list of media items: all of them up to maxShownItems, otherwise
// the first ones, the last ones and the number of those in between.
const (
	maxShownItems = 50
	firstItems    = 20
	lastItems     = 5
)

// maxResults is the maximum size of what a model is shown of the results of all acts of a step, in bytes of text.
const maxResults = 1 << 20

// Bound shortens what is too much for any model in the results of a step: long lists of media items and, if all results
// together exceed maxResults, each that is longer than its share. Every ref in it stays.
func (r *Results) Bound(set *media.Set) {
	total := 0
	for i := range r.Actions {
		r.Actions[i].Outputs, _ = Bounded(r.Actions[i].Outputs).(map[string]any)
		total += sizeOf(r.Actions[i].Outputs)
	}
	for _, a := range r.Agents {
		total += sizeOf(a.Payload) + len(a.Message)
	}
	if total <= maxResults {
		return
	}
	share := maxResults / (len(r.Actions) + 2*len(r.Agents))
	cut := func(value map[string]any) (text string, short map[string]any) {
		text = string(plain.JSON(value))
		return text, map[string]any{"shortened": fmt.Sprintf("%s [cut here: the result has %d characters, too many to show; ask for less at a time]", plain.Clip(text, share), utf8.RuneCountInString(text))}
	}
	for i := range r.Actions {
		if sizeOf(r.Actions[i].Outputs) > share {
			text, short := cut(r.Actions[i].Outputs)
			r.replace(i, levelWhole, short, mentionedItems(set, text))
		}
	}
	for i := range r.Agents {
		a := &r.Agents[i]
		if sizeOf(a.Payload) > share {
			text, short := cut(a.Payload)
			a.Payload = short
			a.nameLost(set, text, string(plain.JSON(a.Media))+a.Message)
		}
		if len(a.Message) > share {
			a.Message = cutText(a.Message, share/utf8.UTFMax, set)
		}
	}
}

// nameLost adds to the media of a sub-agent what a removed text names and the remaining one does not.
func (a *Agent) nameLost(set *media.Set, removed, remaining string) {
	for _, o := range lost(set, removed, remaining) {
		a.Media = append(a.Media, action.View(o))
	}
}

// sizeOf returns about how many bytes a value has as JSON.
func sizeOf(v any) (n int) {
	switch t := v.(type) {
	case map[string]any:
		for k, e := range t {
			n += len(k) + sizeOf(e)
		}
	case []any:
		for _, e := range t {
			n += sizeOf(e)
		}
	case string:
		n = len(t)
	}
	return n + 8
}

// Bounded returns a copy of a value in which long lists of media items are shortened, at any depth.
// Other lists stay as they are.
func Bounded(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := maps.Clone(t)
		for k, e := range t {
			out[k] = Bounded(e)
		}
		return out
	case []any:
		if len(t) > maxShownItems && listsItems(t) {
			return BoundedList(t)
		}
		out := slices.Clone(t)
		for i, e := range t {
			out[i] = Bounded(e)
		}
		return out
	}
	return v
}

// listsItems reports whether most elements of a list are media items or failures of media items.
func listsItems(list []any) bool {
	n := 0
	for _, e := range list {
		m, _ := e.(map[string]any)
		if m["refId"] != nil || m["error"] != nil {
			n++
		}
	}
	return n*2 > len(list)
}

// BoundedList keeps both ends of a list that is too long. What replaces the middle contains its first failure.
func BoundedList[T any](list []T) []any {
	var all []any
	for _, e := range list {
		all = append(all, e)
	}
	if len(all) <= maxShownItems {
		return all
	}
	middle := all[firstItems : len(all)-lastItems]
	gap := map[string]any{
		"leftOut": len(middle), "count": len(all),
		"note": "all are kept: List Agent Media lists them, with Offset and Limit",
	}
	failed := 0
	for _, e := range middle {
		m, _ := e.(map[string]any)
		if m["error"] == nil {
			continue
		}
		if failed++; failed == 1 {
			gap["firstError"] = m["error"]
		}
		gap["failed"] = failed
	}
	return slices.Concat(all[:firstItems], []any{gap}, all[len(all)-lastItems:])
}
