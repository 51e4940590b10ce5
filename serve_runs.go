package atelier

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/formtext"
	"atelier/agent/report"
	"atelier/agent/resolve"
	"atelier/api"
	"atelier/internal/folder"
	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/conversation"
	"atelier/workflow/ordered"
)

// servedRuns implements the resource of runs.
type servedRuns struct{ *server }

// StartRun starts a run, or returns the run that an earlier attempt started with the id.
func (s servedRuns) StartRun(ctx context.Context, id string, r api.NewRun) (api.Started, error) {
	return s.startOnce(ctx, id, func() (*run.Run, error) {
		req, err := s.request(ctx, id, r)
		if err != nil {
			return nil, err
		}
		return s.Start(ctx, req)
	})
}

// startOnce starts a run with an id, or returns the run that an earlier attempt started with it. Start returns an error
// with code media.CodeConflict if another attempt is starting the run, or started it before its process died.
func (s servedRuns) startOnce(ctx context.Context, id string, start func() (*run.Run, error)) (api.Started, error) {
	known, err := s.Ledger.HasRun(ctx, id)
	if err != nil {
		return api.Started{}, err
	}
	if known {
		return s.started(ctx, id)
	}
	var refused error
	switch _, err := s.Ledger.RunState(ctx, s.owner(ctx), id); media.CodeOf(err) {
	case "": // a fork, whose state is saved before the run starts
	case media.CodeNotFound:
		r, err := start()
		if media.CodeOf(err) != media.CodeConflict {
			return s.begun(ctx, r, err)
		}
		refused = err
	default:
		return api.Started{}, err
	}
	s.awaitVisible(ctx, id, nil)
	begun, err := s.started(ctx, id)
	switch {
	case err != nil && refused != nil:
		return api.Started{}, refused
	case media.CodeOf(err) == media.CodeNotFound: // the process that adopts the run starts it
		return api.Started{ID: id, Status: string(ledger.StatusRunning)}, nil
	}
	return begun, err
}

// begun returns a run that was started or continued, as soon as it can be found, or the error of one that ended before
// it was recorded.
func (a *Atelier) begun(ctx context.Context, r *run.Run, err error) (api.Started, error) {
	if err != nil {
		return api.Started{}, err
	}
	if ended := a.awaitVisible(ctx, r.ID, r.Done()); ended {
		if _, err := r.Wait(ctx); err != nil && !errors.Is(err, journal.ErrHandedOver) {
			return api.Started{}, err
		}
	}
	return api.Started{ID: r.ID, Status: string(ledger.StatusRunning), ConversationID: r.Conversation}, nil
}

// awaitVisible waits until a started run can be found, and reports whether it ended before that.
func (a *Atelier) awaitVisible(ctx context.Context, id string, done <-chan struct{}) (ended bool) {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	poll(ctx, 2*time.Millisecond, func() bool {
		over := false
		select {
		case <-done:
			over = true
		default:
		}
		known, err := a.Ledger.HasRun(ctx, id)
		ended = over && !known
		return known || err != nil || over
	})
	return ended
}

// poll waits until done returns true or ctx ends.
func poll(ctx context.Context, interval time.Duration, done func() bool) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// request converts an HTTP request to a run request. An HTTP request cannot contain a path, an owner or a grant.
func (s servedRuns) request(ctx context.Context, id string, r api.NewRun) (Request, error) {
	req := Request{Sources: s.Config.Sources}
	req.Owner = s.owner(ctx)
	req.Agent, req.Message, req.Conversation, req.RunID = r.Agent, r.Message, r.ConversationID, id
	req.LenientImages, req.ToolContext = r.LenientImages, action.ToolContext(r.ToolContext)
	if l := r.Limits; l != nil {
		req.MaxTurns, req.MaxTokens, req.MaxImages, req.MaxCost, req.ApproveOver = l.MaxTurns, l.MaxTokens, l.MaxImages, l.MaxCost, l.ApproveOver
		req.MaxTime = time.Duration(l.MaxSeconds * float64(time.Second))
	}
	input, err := json.Marshal(r.Input)
	if err == nil {
		err = json.Unmarshal(input, &req.Input)
	}
	if err == nil {
		err = s.CheckModels(ctx, r.Model, r.ImageModel)
	}
	if err != nil {
		return req, err
	}
	req.Sources.ChatModel = cmp.Or(r.Model, req.Sources.ChatModel)
	if r.ImageModel != "" {
		req.Sources.ImageModel, req.ImageModels = r.ImageModel, []string{r.ImageModel}
	}
	var names []string
	for _, image := range r.Images {
		in := agent.Image{ID: image.MediaID, Ref: media.Ref(image.Ref), Detail: image.Detail}
		if image.MediaID != "" {
			rec, err := s.record(ctx, image.MediaID)
			if err != nil {
				return req, err
			}
			in.ID, in.FileName = rec.ID, rec.FileName
			names = append(names, cmp.Or(rec.FileName, rec.Label, string(rec.Ref)))
		} else {
			names = append(names, image.Ref)
		}
		req.Images = append(req.Images, in)
	}
	given, err := s.files(ctx, &req, r)
	if err != nil {
		return req, err
	}
	if strings.TrimSpace(req.Message) == "" {
		req.Message = "Attached: " + strings.Join(append(names, given...), ", ")
	}
	return req, nil
}

// files copies the files of a request and those of earlier messages to the run's folder. It returns the names of the
// request's files.
func (s servedRuns) files(ctx context.Context, req *Request, r api.NewRun) (names []string, err error) {
	var given []ledger.Record
	for _, f := range r.Files {
		rec, err := s.record(ctx, f.MediaID)
		if err != nil {
			return nil, err
		}
		given = append(given, rec)
		o := rec.Output
		o.Promoted, o.Origin.Direction = false, "input"
		req.Granted = append(req.Granted, o)
	}
	earlier, err := s.earlierFiles(ctx, r.ConversationID)
	if err != nil {
		return nil, err
	}
	if len(earlier)+len(given) == 0 {
		return nil, nil
	}
	req.Sources.Files, names, err = folder.Store{Dir: filepath.Join(s.Config.Dir, "files"), Blobs: s.Blobs}.Materialize(ctx, append(earlier, given...))
	if err != nil {
		return nil, err
	}
	return names[len(earlier):], nil
}

// earlierFiles returns the files that a person attached to earlier messages of a conversation.
func (s servedRuns) earlierFiles(ctx context.Context, of string) (out []ledger.Record, err error) {
	if of == "" || of == conversation.New {
		return nil, nil
	}
	attached, err := servedConversations{s.Atelier}.attachments(ctx, of)
	if err != nil {
		return nil, describeNotFound(err, "conversation", of)
	}
	for _, a := range attached {
		if a.SourceID != "" || a.Modality != media.ModalityDocument {
			continue
		}
		rec, err := s.Ledger.MediaRecord(ctx, s.owner(ctx), a.MediaID)
		if media.CodeOf(err) == media.CodeNotFound {
			continue // it was deleted
		}
		if err != nil {
			return nil, err
		}
		if rec.Origin.Direction == "input" {
			out = append(out, rec)
		}
	}
	return out, nil
}

// started returns the status of a run.
func (s servedRuns) started(ctx context.Context, id string) (api.Started, error) {
	row, err := s.row(ctx, id)
	if err != nil {
		return api.Started{}, err
	}
	c, err := s.Ledger.ConversationOf(ctx, s.owner(ctx), row.Tree)
	return api.Started{ID: row.Tree, Status: string(row.Status), ConversationID: c}, err
}

func (a *Atelier) row(ctx context.Context, id string) (ledger.Run, error) {
	row, err := a.Ledger.Run(ctx, a.owner(ctx), id)
	return row, describeNotFound(err, "run", id)
}

// describeNotFound adds the kind and the id of the missing resource to a not-found error.
func describeNotFound(err error, kind, id string) error {
	if media.CodeOf(err) == media.CodeNotFound {
		return media.Errorf(media.CodeNotFound, "there is no %s %.64q", kind, media.ErrorText(id))
	}
	return err
}

// ListRuns lists root runs.
func (s servedRuns) ListRuns(ctx context.Context, q api.RunQuery) (api.List[api.Run], error) {
	list, err := s.Ledger.ListRuns(ctx, s.owner(ctx), ledger.RunQuery{Roots: true, Status: ledger.Status(q.Status), Agent: q.Agent, Page: pageOf(q.Page)})
	return views(list, runView), err
}

// treeOf returns the tree of a run. For an unknown run, it returns the id, to which nothing belongs.
func (a *Atelier) treeOf(ctx context.Context, id string) string {
	row, _ := a.Ledger.Run(ctx, a.owner(ctx), id)
	return cmp.Or(row.Tree, id)
}

// runMedia returns the items of a run tree, newest first.
func (a *Atelier) runMedia(ctx context.Context, tree string) ([]ledger.Record, error) {
	return ledger.All(func(p ledger.Page) (ledger.List[ledger.Record], error) {
		return a.Ledger.ListMedia(ctx, a.owner(ctx), ledger.MediaQuery{Tree: tree, Page: p})
	})
}

// views converts the rows of a page.
func views[T, V any](list ledger.List[T], view func(T) V) api.List[V] {
	out := api.List[V]{Items: make([]V, len(list.Items)), Next: list.Next}
	for i, row := range list.Items {
		out.Items[i] = view(row)
	}
	return out
}

// Run returns a run with its media and its questions.
func (s servedRuns) Run(ctx context.Context, id string) (api.Run, error) {
	row, err := s.row(ctx, id)
	if err != nil {
		return api.Run{}, err
	}
	v := runView(row)
	if v.ConversationID, err = s.Ledger.ConversationOf(ctx, s.owner(ctx), row.Tree); err != nil {
		return v, err
	}
	items, err := s.runMedia(ctx, row.Tree)
	if err != nil {
		return v, err
	}
	byRef := map[media.Ref]media.Output{}
	for _, r := range items {
		byRef[r.Ref] = r.Output
	}
	slices.Reverse(items) // in order of creation
	v.Media = views(ledger.List[ledger.Record]{Items: items}, mediaView).Items
	if len(row.Payload) > 0 {
		var b bytes.Buffer
		find := func(ref media.Ref) (media.Output, bool) {
			o, ok := byRef[ref]
			return o, ok
		}
		err = resolve.Payload(ctx, &b, row.Payload, resolve.Options{Mode: resolve.ModeURL, Find: find, URL: func(o media.Output) string { return "/media/" + o.ID }})
		if err != nil {
			return v, err
		}
		v.Payload = b.Bytes()
	}
	if row.Status != ledger.StatusPaused {
		return v, nil
	}
	open, err := s.service.Questions(ctx, s.owner(ctx), row.ID)
	for _, q := range open {
		v.Questions = append(v.Questions, questionView(q))
	}
	if len(v.Questions) > 0 {
		v.Question = &v.Questions[0]
	} else {
		v.Status = string(ledger.StatusRunning) // its question is being saved, or was just answered
	}
	return v, err
}

func runView(r ledger.Run) api.Run {
	return api.Run{
		ID: r.ID, Agent: r.Agent, Status: string(r.Status), Message: r.Task, Answer: r.Message, ForkedFrom: r.ForkedFrom, StartedAt: r.StartedAt.UTC(), EndedAt: timeOrNil(r.FinishedAt),
		Tokens: api.Usage{ModelCalls: r.Usage.ModelCalls, InputTokens: r.Usage.InputTokens, OutputTokens: r.Usage.OutputTokens, Images: r.Usage.Images, WorkedMS: r.Usage.WorkedMS},
		Cost:   api.Cost(r.Cost), Warnings: append([]string{}, r.Warnings...), Report: report.Has(r.Payload), Media: []api.Media{}, Error: failureView(r.Failure),
	}
}

func failureView(f ledger.Failure) *api.Failure {
	if f == (ledger.Failure{}) {
		return nil
	}
	return &api.Failure{Code: cmp.Or(f.Code, string(media.CodeInternal)), Message: f.Message, Retryable: f.Retryable}
}

func questionView(q agent.Question) api.Question {
	v := api.Question{
		ID: q.ID, Kind: string(q.Kind), Agent: q.AgentPath, Question: q.Question, Text: q.Question, Schema: q.Schema,
		Approval: q.Kind != agent.QuestionAsk, AskedAt: q.AskedAt,
	}
	if f, ok := formtext.FieldOf(q.Schema); ok {
		v.Options = f.Choices()
	}
	if q.Details != nil {
		v.Details = ledger.JSON(q.Details)
	}
	return v
}

// AnswerRun answers a question.
func (s servedRuns) AnswerRun(ctx context.Context, id string, a api.Answer) (api.Started, error) {
	open, err := s.service.Questions(ctx, s.owner(ctx), id)
	if err != nil {
		return api.Started{}, describeNotFound(err, "run", id)
	}
	reply := &agent.Reply{Question: a.Question, Value: a.Answer, Note: a.Note, ReplaceImages: a.ReplaceImages}
	if reply.Value == nil {
		if reply.Value, err = valueOf(open, a); err != nil {
			return api.Started{}, err
		}
	}
	for _, image := range a.Images {
		reply.Images = append(reply.Images, agent.Image{ID: image.MediaID, Ref: media.Ref(image.Ref), Detail: image.Detail})
	}
	r, err := s.service.Resume(ctx, s.owner(ctx), id, reply)
	if err != nil {
		if v, ok := errors.AsType[*jsonschema.ValidationError](err); ok { // report the locations
			err = &api.ValidationError{Err: err, Flaws: flaws(nil, v)}
		}
	}
	return s.begun(ctx, r, err)
}

// CancelRun cancels a run. The run ends shortly after.
func (s servedRuns) CancelRun(ctx context.Context, id string) (api.Started, error) {
	if err := s.Cancel(ctx, s.owner(ctx), id); err != nil {
		return api.Started{}, describeNotFound(err, "run", id)
	}
	return s.started(ctx, id)
}

// RetryRun retries a run.
func (s servedRuns) RetryRun(ctx context.Context, id string) (api.Started, error) {
	row, err := s.row(ctx, id)
	if err != nil {
		return api.Started{}, err
	}
	r, err := s.service.Retry(ctx, row.Owner, row.ID, run.ContinueOptions{})
	return s.begun(ctx, r, err)
}

// ForkRun repeats a run from a step, or returns the fork that an earlier attempt started with the id.
func (s servedRuns) ForkRun(ctx context.Context, newID, id string, f api.Fork) (api.Started, error) {
	if _, err := s.row(ctx, id); err != nil {
		return api.Started{}, err
	}
	fork := Fork{Fork: run.Fork{ID: newID, From: f.Step, Message: f.Message}, ChatModel: f.Model, ImageModel: f.ImageModel}
	if fork.From == "" {
		steps, err := s.service.Steps(ctx, s.owner(ctx), id)
		if err != nil {
			return api.Started{}, err
		}
		if len(steps) == 0 {
			return api.Started{}, media.Errorf(media.CodeConflict, "run %s has no finished step yet: start a new run", id)
		}
		fork.From = steps[0].Name
	}
	return s.startOnce(ctx, newID, func() (*run.Run, error) { return s.Fork(ctx, s.owner(ctx), id, fork) })
}

// WriteReport writes the report of a run as a page.
func (s servedRuns) WriteReport(ctx context.Context, id string, address func(media string) string, w io.Writer) error {
	row, err := s.row(ctx, id)
	if err != nil {
		return err
	}
	res, err := s.service.Result(ctx, s.owner(ctx), row.ID)
	if err != nil {
		return err
	}
	items, err := s.runMedia(ctx, row.Tree)
	if err != nil {
		return err
	}
	ids := map[media.Ref]string{}
	for _, r := range items {
		ids[r.Ref] = r.ID
	}
	if address == nil {
		address = func(id string) string { return "/media/" + id }
	}
	b := bufio.NewWriterSize(w, 64<<10)
	err = report.Write(ctx, b, report.FromResult(res), resolve.Options{
		Mode: resolve.ModeURL, Find: res.Find, URL: func(o media.Output) string { return address(cmp.Or(ids[o.Ref], o.ID)) },
	})
	if err != nil {
		return err
	}
	return b.Flush()
}

// valueOf converts plain text, or yes or no, to a value that matches the question's schema.
func valueOf(open []agent.Question, a api.Answer) (json.RawMessage, error) {
	i := 0
	if a.Question != "" {
		i = slices.IndexFunc(open, func(q agent.Question) bool { return q.ID == a.Question })
	}
	if i < 0 || i >= len(open) {
		return json.RawMessage("null"), nil // the service reports that the question is not open
	}
	f, ok := formtext.FieldOf(open[i].Schema)
	if !ok || a.Approve != nil && !f.Boolean() {
		return nil, media.Errorf(media.CodeInvalid, "the question has more than one field: give answer, a value that matches its schema")
	}
	if a.Approve != nil {
		return f.AnswerBool(*a.Approve)
	}
	return f.AnswerText(*a.Text)
}

// flaws appends the innermost problems of a validation, as text with pointers into the request.
func flaws(out []api.Flaw, v *jsonschema.ValidationError) []api.Flaw {
	for _, cause := range v.Causes {
		out = flaws(out, cause)
	}
	if len(v.Causes) > 0 {
		return out
	}
	return append(out, api.Flaw{Pointer: "/answer" + ordered.Pointer(v.InstanceLocation...), Detail: v.ErrorKind.LocalizedString(message.NewPrinter(language.English))})
}
