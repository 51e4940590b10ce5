package agent

import (
	"slices"

	"atelier/action"
	"atelier/chat"
	"atelier/media"
)

// mediaActions are what every agent may do with its media set, where registered.
var mediaActions = []string{
	"List Agent Media", "Get Agent Media Details", "View Agent Media", "Label Agent Media", "Promote Agent Media", "Prune Agent Media",
}

// callable is what a prompt says about an agent's means.
type callable struct {
	Agent   string               `json:"agent"`
	Actions []action.Description `json:"actions"`
	Agents  []calleeView         `json:"agents"`
	Sources map[string]Source    `json:"sources"`
}

type calleeView struct {
	Name        string `json:"name"`
	Slug        string `json:"slug"`
	Description string `json:"description"`
}

// system builds an agent's system prompt: its own prompt, what it may call, and
// how to answer.
func (r *Runner) system(d *Definition) (string, error) {
	acts, err := r.cfg.Actions.Describe(r.actionNames(d)...)
	if err != nil {
		return "", err
	}
	c := callable{Agent: d.Slug, Actions: acts, Agents: []calleeView{}, Sources: r.cfg.Sources}
	if len(r.actionNames(d)) == 0 {
		c.Actions = []action.Description{}
	}
	if c.Sources == nil {
		c.Sources = map[string]Source{}
	}
	for _, a := range d.Agents {
		s, err := r.spec(a.Slug)
		switch {
		case err != nil: // a source that it needs is not there: not offered
		case s.def == nil:
			c.Agents = append(c.Agents, calleeView{Name: s.name, Slug: s.slug, Description: "Written in Go."})
		default:
			c.Agents = append(c.Agents, calleeView{Name: s.name, Slug: s.slug, Description: s.def.Description})
		}
	}
	return d.Prompt + d.schemaSection() + "\n\n## Callable\n" + fenced(c) + "\n\n" + stepContract, nil
}

// actionNames lists what an agent may do, its own actions first.
func (r *Runner) actionNames(d *Definition) []string {
	var names []string
	for _, a := range d.Actions {
		names = append(names, a.Name)
	}
	for _, n := range mediaActions {
		if _, err := r.cfg.Actions.Lookup(n); err == nil && !slices.ContainsFunc(names, func(have string) bool { return sameName(have, n) }) {
			names = append(names, n)
		}
	}
	return names
}

// fenced puts JSON into a code fence.
func fenced(v any) string { return "```json\n" + string(plain(v)) + "\n```" }

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

func viewItem(o media.Output) itemView {
	return itemView{
		RefID: string(o.Ref), Placeholder: o.Ref.Placeholder(), Modality: o.Modality, MIMEType: o.MIMEType,
		Width: o.Width, Height: o.Height, Label: clip(o.Label, 120), Description: clip(o.Description, 300),
	}
}

// opening is the first user message: the task, then what was handed down.
type opening struct {
	task    string
	input   map[string]any
	granted []media.Output
	// images are shown with the task.
	images []sight
	// unseen tells of pictures that the model cannot be shown.
	unseen []string
	// earlier tells of messages that were left out, notice is a word of the run.
	earlier *earlier
	notice  string
}

func (o *opening) message() chat.Message {
	ctx := struct {
		Input   map[string]any `json:"input,omitempty"`
		Media   []any          `json:"media,omitempty"`
		Unseen  []string       `json:"cannotSee,omitempty"`
		Earlier *earlier       `json:"earlier,omitempty"`
		Notice  string         `json:"notice,omitempty"`
	}{Input: o.input, Unseen: o.unseen, Earlier: o.earlier, Notice: o.notice}
	for _, item := range o.granted {
		ctx.Media = append(ctx.Media, viewItem(item))
	}
	ctx.Media = boundedList(ctx.Media)
	m := chat.Text(chat.RoleUser, o.task)
	if len(ctx.Input)+len(ctx.Media)+len(ctx.Unseen) > 0 || ctx.Earlier != nil || ctx.Notice != "" {
		m.Parts[0].Text += "\n\n" + fenced(map[string]any{"context": ctx})
	}
	m.Parts = append(m.Parts, partsOf(o.images)...)
	return m
}

// results is what a model is told after a step.
type results struct {
	Actions  []action.Outcome `json:"actions,omitempty"`
	Agents   []agentOutcome   `json:"agents,omitempty"`
	Media    []itemView       `json:"media,omitempty"`
	Errors   []action.Problem `json:"errors,omitempty"`
	Warnings []string         `json:"warnings,omitempty"`
	// Notice is a word of the run to the model, such as that its last turn has come.
	Notice string `json:"notice,omitempty"`

	// Answer is what a person answered to the question of the step.
	Answer *answerView `json:"answer,omitempty"`

	// levels tell how short the outputs of each action are by now.
	levels []level
	// views are the pictures that the model sees with this message, for some turns.
	views []sight
}

// agentOutcome is a sub-agent's answer as its parent's model sees it.
type agentOutcome struct {
	Name    string          `json:"name"`
	Slug    string          `json:"slug,omitempty"`
	Success bool            `json:"success"`
	Message string          `json:"message"`
	Payload map[string]any  `json:"payload,omitempty"`
	Media   []any           `json:"media,omitempty"`
	Error   *action.Problem `json:"error,omitempty"`

	level level
	// waits marks a sub-agent that paused.
	waits bool
}

// overBudget tells of an answer that is not finished but worth taking as it is.
func (a agentOutcome) overBudget() bool {
	return a.Error != nil && a.Error.Code == media.CodeOverBudget
}

func (r *results) message() chat.Message {
	m := chat.Text(chat.RoleUser, fenced(map[string]any{"results": r}))
	m.Parts = append(m.Parts, partsOf(r.views)...)
	return m
}

// shownText is how many bytes of one text in a sub-agent's payload its parent sees.
const shownText = 4000

// maxValid is how many of the values that would have been accepted are told.
const maxValid = 50

// problemOf is an error as a model or a person can act on it.
func problemOf(err error) action.Problem {
	p := action.Problem{Code: media.CodeOf(err), Message: clip(media.ErrorText(err.Error()), 1000), Retryable: media.Retryable(err)}
	if e, ok := asError(err); ok {
		p.Valid = e.Valid[:min(len(e.Valid), maxValid)]
	}
	return p
}
