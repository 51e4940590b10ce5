package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/action"
	"atelier/agent/contract"
	"atelier/agent/definition"
	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/agent/internal/schemas"
	"atelier/agent/transcript"
	"atelier/agent/vision"
	"atelier/journal/step"
	"atelier/media"
)

// QuestionKind is the reason why a run waits for a person.
type QuestionKind string

// The kinds of questions.
const (
	QuestionAsk       QuestionKind = "question"  // an agent asks for information
	QuestionApproval  QuestionKind = "approval"  // an action needs approval
	QuestionGuardrail QuestionKind = "guardrail" // the message, or an answer, needs approval
)

// maxReply is the maximum size of an answer in bytes of JSON, after its media was replaced.
const maxReply = 64 << 10

// Question is a question that a paused run waits for.
type Question struct {
	// ID identifies the question in a [Reply].
	ID   string       `json:"id"`
	Kind QuestionKind `json:"kind"`
	// RunID is the ID of the waiting run, the root or a sub-agent's; AgentPath is its path from the root.
	RunID     string `json:"run_id"`
	AgentPath string `json:"agent_path"`
	// Step is the full name of the waiting step, under which the answer is recorded.
	Step string `json:"step"`
	// Question is the text for people, at most 4,000 characters. It may contain placeholders.
	Question string `json:"question"`
	// Schema is the JSON Schema (2020-12) of the answer's value, at most 16 KiB. An approval has
	// {approve: boolean, note?: string}; a question without a schema has {answer: string}.
	Schema json.RawMessage `json:"schema"`
	// Details describe what an approval is about; nil for questions of agents.
	Details *Details `json:"details,omitempty"`
	// AskedAt is the time when it was first asked, in UTC.
	AskedAt time.Time `json:"asked_at"`
}

// Details is the information that a person needs for an approval.
type Details struct {
	// Action is the name of the action; Params is a summary of its parameters, in which long texts
	// are cut and media is represented by refs.
	Action string          `json:"action,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	// EstimatedUSD is the estimated cost in US dollars, as exact decimal text; nil if unknown.
	EstimatedUSD *string `json:"estimated_usd"`
	// Estimate says how the price was estimated, or why it is unknown.
	Estimate string `json:"estimate,omitempty"`
	// Reason is why approval is needed.
	Reason string `json:"reason,omitempty"`
}

// Reply is a person's reply to a [Question].
type Reply struct {
	// Question is the ID; empty means the oldest open one.
	Question string `json:"question,omitempty"`
	// Value must match the question's schema; at most 64 KiB of JSON. Media data in it is stored
	// and replaced with its placeholder.
	Value json.RawMessage `json:"value"`
	// Images come with the answer and are shown to the model, as [Request.Images] are with the
	// message. Approvals accept none.
	Images []Image `json:"images,omitempty"`
	// ReplaceImages removes earlier pictures, of the message and of earlier answers, from the model's sight.
	ReplaceImages bool `json:"replace_images,omitempty"`
	// LenientImages is [Request.LenientImages] for the rest of the run.
	LenientImages bool `json:"lenient_images,omitempty"`
	// Note is an additional note for the model.
	Note string `json:"note,omitempty"`
}

// approval is the value of an answer to an approval.
type approval struct {
	Approve bool   `json:"approve"`
	Note    string `json:"note"`
}

// approvalOf decodes the value of a reply; anything other than an approval is a refusal.
func approvalOf(p step.Reply) approval {
	var a approval
	if json.Unmarshal(p.Value, &a) != nil {
		return approval{}
	}
	return a
}

// approvalForm is the form of an approval question.
const approvalForm = `{"type":"object","required":["approve"],"properties":{"approve":{"type":"boolean","title":"Approve"},"note":{"type":"string","maxLength":2000,"title":"Note"}},"additionalProperties":false}`

// fits checks the value of an answer. The error has code invalid and names the place of the
// mismatch; its cause is a *jsonschema.ValidationError.
func (q Question) fits(value json.RawMessage) error {
	if len(value) == 0 {
		return media.Errorf(media.CodeInvalid, "the answer has no value: give JSON that fits %s", plain.Clip(media.ErrorText(string(q.Schema)), 1000))
	}
	if len(value) > maxReply {
		return media.Errorf(media.CodeInvalid, "the answer has %d bytes: at most %d", len(value), maxReply)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return media.Errorf(media.CodeInvalid, "the answer is not JSON: give JSON that fits %s", plain.Clip(media.ErrorText(string(q.Schema)), 1000))
	}
	schema, err := schemas.Compile(q.Schema)
	if err != nil {
		return media.Errorf(media.CodeCorrupt, "the schema of question %s cannot be read: %w", q.ID, err)
	}
	if err := schemas.Validate(schema, doc); err != nil {
		unfit := media.Errorf(media.CodeInvalid, "the answer does not fit the form: %s", strings.TrimPrefix(schemas.Problem(err), "- "))
		unfit.Cause = err
		return unfit
	}
	return nil
}

// inquiry returns the question of an agent.
func inquiry(question string, schema json.RawMessage) (Question, error) {
	text, form, err := contract.CheckQuestion(question, schema)
	return Question{Kind: QuestionAsk, Question: text, Schema: form}, err
}

// awaitAnswer waits for the answer to the question of a step and adds it to the results of the step for the model.
func (r *run) awaitAnswer(ctx context.Context, ask *contract.Ask, res *transcript.Results) error {
	q, err := inquiry(ask.Question, ask.Schema)
	if err != nil {
		return err
	}
	p, err := r.pauses.await(ctx, step.In(r.turns, step.KindQuestion), callIndex{turn: r.turns}, q)
	if err != nil {
		return err
	}
	view := &transcript.Answer{Question: q.Question, Note: p.Note}
	if err := object.Decode(p.Value, &view.Value); err != nil { // numbers stay as the person wrote them
		return media.Errorf(media.CodeCorrupt, "read the answer to %q: %w", plain.Clip(q.Question, 80), err)
	}
	for _, o := range r.addAnswerMedia(ctx, p) {
		view.Media = append(view.Media, transcript.View(o))
	}
	res.Answer = view
	if p.Replace {
		r.history.ReplaceGiven()
	}
	return r.sights.ShowAnswer(ctx, r.turns, p.Images, &r.history, res)
}

// addAnswerMedia adds the media of an answer to the run and returns it.
func (r *run) addAnswerMedia(ctx context.Context, p step.Reply) []media.Output {
	r.grant(ctx, p.Granted)
	r.pauses.mu.Lock() // code may ask concurrently
	if p.Replace {
		r.sights.Given = nil
	}
	r.sights.Given = append(slices.Clip(r.sights.Given), p.Images...)
	r.pauses.mu.Unlock()
	r.outcome.update(func(t *tally) { t.answers = append(t.answers, p) })
	var taken []media.Output
	for _, g := range p.Granted {
		if o, ok := r.set.Lookup(g.Ref); ok {
			r.emit(ctx, EventMediaStored, MediaEvent{Output: o})
			taken = append(taken, o)
		}
	}
	return taken
}

// noteSuffix returns the note of a refusal with a preceding colon.
func noteSuffix(p step.Reply, a approval) string {
	note := cmp.Or(strings.TrimSpace(a.Note), strings.TrimSpace(p.Note))
	if note == "" {
		return ""
	}
	return ": " + plain.Clip(note, 1000)
}

// checkReply checks a reply and returns it in its recorded form, without its pictures.
func (r *Runner) checkReply(ctx context.Context, s State, q Question, a Reply) (step.Reply, error) {
	out := step.Reply{Replace: a.ReplaceImages}
	if (len(a.Images) > 0 || a.ReplaceImages) && q.Kind != QuestionAsk {
		return out, media.Errorf(media.CodeInvalid, "question %s asks for an approval: it takes no images", q.ID)
	}
	if err := r.checkReplyImages(ctx, s, q, a); err != nil {
		return out, err
	}
	req := s.Request
	ctx = media.WithScope(ctx, media.Scope{Owner: req.Owner, Tree: req.RunID, Run: q.RunID, AgentPath: q.AgentPath})
	value, found, err := r.cleanReply(ctx, a.Value)
	if err != nil {
		return out, err
	}
	if err := q.fits(value); err != nil {
		return out, err
	}
	note, more, err := r.cleanReply(ctx, plain.JSON(strings.TrimSpace(a.Note)))
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(note, &out.Note); err != nil {
		return out, media.Errorf(media.CodeInternal, "read note: %w", err)
	}
	if len([]rune(out.Note)) > contract.MaxQuestion {
		return out, media.Errorf(media.CodeInvalid, "the note has more than %d characters: shorten it", contract.MaxQuestion)
	}
	out.Value, out.Granted = value, append(found, more...)
	return out, nil
}

// storeReplyImages stores the pictures of a reply and adds them to it.
func (r *Runner) storeReplyImages(ctx context.Context, s State, a Reply, out *step.Reply) error {
	if len(a.Images) == 0 {
		return nil
	}
	req := s.Request
	stored, err := r.StoreImages(ctx, Request{RunID: req.RunID, Owner: req.Owner, Granted: s.items(), Images: a.Images})
	if err != nil {
		return err
	}
	out.Images = inputImages(stored.Images)
	for _, o := range stored.Granted {
		if slices.ContainsFunc(out.Images, func(i vision.InputImage) bool { return i.Ref == o.Ref }) {
			out.Granted = append(out.Granted, o)
		}
	}
	return nil
}

// cleanReply stores the media of a value and returns the value without it.
func (r *Runner) cleanReply(ctx context.Context, value json.RawMessage) (json.RawMessage, []media.Output, error) {
	text, found := r.interceptor.Text(ctx, action.Target{Source: "text"}, string(value))
	if len(found.Warnings) > 0 {
		return nil, nil, media.Errorf(media.CodeInvalid, "the media in the answer cannot be used: %s", strings.Join(found.Warnings, "; "))
	}
	return json.RawMessage(text), found.Media, nil
}

// items returns the run's media that is known from its request and its steps.
func (s State) items() []media.Output {
	items := slices.Concat(s.Request.Granted, s.Request.Extracted)
	for _, name := range slices.Sorted(maps.Keys(s.Steps)) {
		c := contentOf(step.ParsePath(name).Own())
		switch c.(type) {
		case *CallResult, *ActResult, *step.Reply:
		default:
			continue // a form made for a model is not a separate item
		}
		if json.Unmarshal(s.Steps[name], c) != nil {
			continue
		}
		c.EachMedia(func(o *media.Output) {
			if o.Ref != "" && !slices.ContainsFunc(items, func(have media.Output) bool { return have.Ref == o.Ref }) {
				items = append(items, *o)
			}
		})
	}
	return items
}

// checkReplyImages checks the pictures of a reply against the model that asked, before anything is stored.
func (r *Runner) checkReplyImages(ctx context.Context, s State, q Question, a Reply) error {
	if err := checkImages(a.Images); err != nil {
		return err
	}
	sp, err := r.spec(q.AgentPath[strings.LastIndexByte(q.AgentPath, '/')+1:])
	if err != nil || len(a.Images) == 0 || sp.def == nil || s.Request.LenientImages {
		return err
	}
	c, err := r.cfg.Models.Choose(ctx, append(slices.Clone(s.Request.ChatModels), sp.def.ChatModels...))
	if err != nil {
		return fmt.Errorf("choose chat model: %w", err)
	}
	n := len(a.Images)
	if !a.ReplaceImages {
		n += s.shown(q)
	}
	if err := c.Model.Profile().CheckImageCount(n, modelsWithVision(r.cfg.Models, n)); err != nil {
		return fmt.Errorf("the answer brings %d images, with those before there are %d: agent %s: %w", len(a.Images), n, sp.slug, err)
	}
	return nil
}

// shown returns the number of pictures from people that the agent of a question currently has.
func (s State) shown(q Question) int {
	n := 0
	if q.RunID == s.Request.RunID {
		n = len(s.Request.Images)
	}
	part := step.PlaceOf(q.Step)
	for turn := 1; turn <= definition.MaxTurns; turn++ {
		var p step.Reply
		b, ok := s.Steps[part.Full(step.In(turn, step.KindQuestion))]
		if !ok || json.Unmarshal(b, &p) != nil {
			continue
		}
		if p.Replace {
			n = 0
		}
		n += len(p.Images)
	}
	return n
}

// modelsWithVision returns the names of models that accept the given number of pictures, if the registry can tell.
func modelsWithVision(models ChatModels, images int) []string {
	if s, ok := models.(interface{ ModelsWithVision(images int) []string }); ok {
		return s.ModelsWithVision(images)
	}
	return nil
}
