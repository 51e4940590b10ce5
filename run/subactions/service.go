package subactions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"atelier/agent"
	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/generate/plan"
	"atelier/ledger"
	"atelier/media"
	"atelier/media/wire"
	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/subaction"
)

// Interactions reads interactions and receives results.
type Interactions interface {
	// Read returns an open interaction and its step. For a closed one, the error has code media.CodeConflict.
	Read(ctx context.Context, owner, id string) (stepID string, i *workflow.Interaction, err error)
	// AppendItems adds results at a target, each content id once. A closed interaction stays unchanged.
	AppendItems(ctx context.Context, owner, id string, target []string, items ...workflow.Item) error
}

// Config configures a [Service]. All fields are required; Interactions returns those of a service that may be created
// later.
type Config struct {
	Ledger       ledger.Store
	Gateway      *gateway.Gateway
	Interactions func() Interactions
	Actions      *subaction.Registry
	// Item finds a picture that parameters name by id or ref.
	Item func(ctx context.Context, owner, run, id string) (media.Output, error)
	// Emit adds an event to the log of a run; record.Observer.Emit implements it.
	Emit func(ctx context.Context, e agent.Event)
	Now  func() time.Time
}

// maxRunning is the maximum number of concurrent sub-actions; others are queued.
const maxRunning = 8

// Service starts sub-actions and reports their status. It is safe for concurrent use.
type Service struct {
	cfg   Config
	slots chan struct{} // one for each running sub-action

	// work is the context of running sub-actions, which HandOver ends.
	work       context.Context //nolint:containedctx // it lives as long as the service
	cancelWork context.CancelCauseFunc
	tasks      sync.WaitGroup

	mu        sync.Mutex // guards the following
	tasksByID map[string]*task
	closed    bool
}

// New creates a service. [Service.HandOver] ends it.
func New(c Config) *Service {
	s := &Service{cfg: c, slots: make(chan struct{}, maxRunning), tasksByID: map[string]*task{}}
	s.work, s.cancelWork = context.WithCancelCause(context.Background())
	return s
}

// HandOver leaves running sub-actions to the next process and waits until this one has released
// them; reason is the cause, such as journal.HandOver.
func (s *Service) HandOver(reason error) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancelWork(reason)
	s.tasks.Wait()
}

// Click is a request of a person.
type Click struct {
	Owner, WorkflowRunID string
	// Key is the identity of the click; it takes precedence over the request_id of the body.
	// Without either, each request is a new click.
	Key string
	// Body is JSON, see [workflow.ParseClick].
	Body []byte
}

// Start starts a sub-action and returns the id of its row, its metadata_id. A repeated click returns the same id; with
// another body, the error has code media.CodeConflict. Other errors are those of [workflow.Interaction.Start] and of
// planning, before anything is spent or saved.
func (s *Service) Start(ctx context.Context, c Click) (string, error) {
	if wire.NameMedia(string(c.Body)) != string(c.Body) {
		return "", media.Errorf(media.CodeInvalid, "the click contains media as data: upload the media and refer to it by id")
	}
	requested, err := workflow.ParseClick(c.Body)
	if err != nil {
		return "", err
	}
	row := ledger.ContentGeneration{
		ID: ledger.ContentGenerationPrefix + uuid.Must(uuid.NewV7()).String(), Owner: c.Owner, WorkflowRunID: c.WorkflowRunID, InteractionID: requested.InteractionID,
		RequestID: cmp.Or(c.Key, requested.RequestID), Status: string(generate.StatusQueued),
	}
	if row.RequestID != "" {
		row.RequestDigest = digest(c.Body)
		if id, err := s.earlier(ctx, row); err != nil || id != "" {
			return id, err
		}
	}
	r, err := s.ask(ctx, &row, requested)
	if err != nil {
		return "", err
	}
	if _, err := s.cfg.Gateway.Plan(ctx, r); err != nil {
		return "", s.optionError(ctx, r, err)
	}
	err = s.cfg.Ledger.SaveContentGeneration(ctx, row)
	if media.CodeOf(err) == media.CodeConflict && row.RequestID != "" { // a repeated click was faster
		if id, err := s.earlier(ctx, row); err != nil || id != "" {
			return id, err
		}
	}
	if err != nil {
		return "", err
	}
	row.CreatedAt = s.cfg.Now()
	return row.ID, s.begin(row, s.generate(r)) //nolint:contextcheck // it outlives the request that began it
}

// optionError gives the error of an invalid option the pointer of the parameters: without options, the request is valid.
func (s *Service) optionError(ctx context.Context, r generate.Request, err error) error {
	if media.CodeOf(err) != media.CodeInvalid {
		return err
	}
	r.Options = nil
	if _, other := s.cfg.Gateway.Plan(ctx, r); other != nil {
		return err
	}
	return problem.Join(problem.Under("/params", err)...)
}

// digest returns the digest of a body, regardless of its white space.
func digest(body []byte) string {
	if v, err := ordered.Decode(body); err == nil {
		body = ordered.Encode(v)
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// earlier returns the id of the sub-action that the same click started.
func (s *Service) earlier(ctx context.Context, row ledger.ContentGeneration) (string, error) {
	kept, err := s.cfg.Ledger.ContentGenerationOfRequest(ctx, row.Owner, row.InteractionID, row.RequestID)
	switch {
	case media.CodeOf(err) == media.CodeNotFound:
		return "", nil
	case err != nil:
		return "", err
	case kept.RequestDigest != row.RequestDigest:
		return "", media.Errorf(media.CodeConflict, "request %.80s was already sent with another body: use a new id for a new request", media.ErrorText(row.RequestID))
	}
	return kept.ID, nil
}

// ask resolves a click, fills its row, and returns the request to the Gateway.
func (s *Service) ask(ctx context.Context, row *ledger.ContentGeneration, c workflow.Click) (r generate.Request, err error) {
	step, i, err := s.cfg.Interactions().Read(ctx, row.Owner, row.InteractionID)
	if err != nil {
		return r, err
	}
	if i.Request().WorkflowRunID != row.WorkflowRunID {
		return r, media.Errorf(media.CodeNotFound, "there is no interaction %.80q in workflow run %.80s", media.ErrorText(row.InteractionID), media.ErrorText(row.WorkflowRunID))
	}
	start, err := i.Start(c)
	if err != nil {
		return r, err
	}
	row.StepID, row.SubActionID, row.ActionType, row.Provider = step, start.Action.ID, start.Action.ActionType, start.Action.Provider
	row.PromptID, row.PromptAsSent = start.Key, start.Action.PromptAsSent
	row.SourceData, row.Params, row.ResultTarget = ordered.Encode(start.Source), ordered.Encode(start.Params), ledger.JSON(start.Action.ResultTarget)
	row.StandIn, err = s.standsIn(*row, c.StandIn != "" || i.Request().StandIn != "")
	if err != nil {
		return r, err
	}
	return s.request(ctx, *row, start.Plan)
}

// standsIn reports whether the offline painter substitutes for a provider without a key: if that is allowed, or if no
// provider has a key.
func (s *Service) standsIn(row ledger.ContentGeneration, allowed bool) (bool, error) {
	anyReady := false
	reason := ""
	for _, p := range s.cfg.Gateway.Providers() {
		if p.Name == row.Provider {
			if p.Ready {
				return false, nil
			}
			reason = p.Reason
		}
		anyReady = anyReady || p.Ready && p.Name != plan.Offline
	}
	if allowed || !anyReady {
		return true, nil
	}
	return false, media.Errorf(media.CodeMissingKey, "%s is not available: %s; set its key, or substitute the offline painter (stand_in: offline)", row.Provider, cmp.Or(reason, "this program has no driver for it"))
}

// request builds the Gateway's request from a row's plan.
func (s *Service) request(ctx context.Context, row ledger.ContentGeneration, planned subaction.Plan) (generate.Request, error) {
	r := planned.Request
	for _, id := range planned.Images {
		o, err := s.input(ctx, row, id)
		if err != nil {
			return r, err
		}
		r.Inputs = append(r.Inputs, o)
	}
	if planned.Mask != "" {
		o, err := s.input(ctx, row, planned.Mask)
		if err != nil {
			return r, err
		}
		r.Mask = &o
	}
	if row.StandIn {
		if act, ok := r.Options[row.Provider]["action"]; ok {
			return r, media.Errorf(media.CodeUnsupported, "the offline painter cannot %s: set the key of %s", act, row.Provider)
		}
		r.Model, r.Options = plan.Offline, nil // its model has the provider's name
		r.Label = "Stand-in for " + row.Provider + ", drawn by rule"
		if row.Provider == "midjourney" && r.N == 0 {
			r.N = 4 // as many as it makes per task
		}
	}
	r.IdempotencyKey, r.Adopt = row.ID, true
	r.Accept = s.cfg.Ledger.Record
	return r, nil
}

func (s *Service) input(ctx context.Context, row ledger.ContentGeneration, id string) (media.Output, error) {
	o, err := s.cfg.Item(ctx, row.Owner, row.WorkflowRunID, id)
	o.Promoted, o.Origin.Direction = false, "input"
	return o, err
}

// Price returns the cost of a click in an interaction, in dollars as decimal text, or nil if it is unknown. It starts
// nothing.
func (s *Service) Price(ctx context.Context, owner, interactionID string, body []byte) (*string, error) {
	requested, err := workflow.ParseClick(body)
	if err != nil {
		return nil, err
	}
	requested.InteractionID = interactionID
	_, i, err := s.cfg.Interactions().Read(ctx, owner, interactionID)
	if err != nil {
		return nil, err
	}
	row := ledger.ContentGeneration{Owner: owner, WorkflowRunID: i.Request().WorkflowRunID, InteractionID: interactionID}
	r, err := s.ask(ctx, &row, requested)
	if err != nil {
		return nil, err
	}
	p, err := s.cfg.Gateway.DryRun(scope(ctx, row), r)
	if err != nil {
		return nil, s.optionError(scope(ctx, row), r, err)
	}
	return p.EstimatedUSD, nil
}

// Status is the status of a sub-action.
type Status struct {
	ledger.ContentGeneration
	Contents []ledger.GeneratedContent
	// Errors explains missing results.
	Errors []SlotError
}

// SlotError explains why a result is missing.
type SlotError struct {
	Position  int    `json:"position"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// Status reads a sub-action. For one of another owner, the error has code media.CodeNotFound.
func (s *Service) Status(ctx context.Context, owner, id string) (Status, error) {
	row, contents, err := s.cfg.Ledger.ContentGeneration(ctx, owner, id)
	if media.CodeOf(err) == media.CodeNotFound {
		return Status{}, media.Errorf(media.CodeNotFound, "there is no sub-action %.80q", media.ErrorText(id))
	}
	if err != nil {
		return Status{}, err
	}
	st := Status{ContentGeneration: row, Contents: contents, Errors: []SlotError{}}
	if row.OperationID == "" || row.FinishedAt.IsZero() {
		return st, nil
	}
	_, slots, _, err := s.cfg.Ledger.Operation(ctx, owner, row.OperationID)
	if media.CodeOf(err) == media.CodeNotFound {
		return st, nil
	}
	for _, slot := range slots {
		if slot.MediaID == "" {
			st.Errors = append(st.Errors, SlotError{Position: slot.Index, Code: slot.Failure.Code, Message: slot.Failure.Message, Retryable: slot.Failure.Retryable})
		}
	}
	return st, err
}

// List lists the sub-actions of a run, oldest first; none for a run of another owner.
func (s *Service) List(ctx context.Context, owner, run string, p ledger.Page) (ledger.List[Status], error) {
	rows, err := s.cfg.Ledger.ListContentGenerations(ctx, owner, run, p)
	out := ledger.List[Status]{Next: rows.Next, Items: []Status{}}
	for _, row := range rows.Items {
		st, err := s.Status(ctx, owner, row.ID)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, st)
	}
	return out, err
}

// Running counts the unfinished sub-actions of an interaction.
func (s *Service) Running(ctx context.Context, owner, interactionID string) (int, error) {
	open, err := s.cfg.Ledger.OpenContentGenerations(ctx, owner, interactionID)
	return len(open), err
}

// CancelAll cancels the unfinished sub-actions of an interaction.
func (s *Service) CancelAll(ctx context.Context, owner, interactionID string) error {
	open, err := s.cfg.Ledger.OpenContentGenerations(ctx, owner, interactionID)
	if err != nil {
		return err
	}
	for _, row := range slices.Backward(open) { // the queued ones first, which would start when others have ended
		if t := s.find(row.ID); t != nil {
			t.cancel(errCancelled)
		}
	}
	failed := make([]error, len(open))
	var all sync.WaitGroup
	for i, row := range open {
		all.Go(func() { failed[i] = s.Cancel(ctx, owner, row.ID) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// Retry retries failed results; without positions, all that can be retried without paying twice. The error has code
// media.CodeConflict if the sub-action has not ended or its interaction is closed, and media.CodeInvalid for a position
// that did not fail. Other errors are those of [gateway.Gateway.Retry], after which the row is unchanged.
func (s *Service) Retry(ctx context.Context, owner, id string, positions []int) error {
	st, err := s.Status(ctx, owner, id)
	if err != nil {
		return err
	}
	if st.FinishedAt.IsZero() {
		return media.Errorf(media.CodeConflict, "sub-action %s is still running: wait for it, or cancel it", id)
	}
	if _, _, err := s.cfg.Interactions().Read(ctx, owner, st.InteractionID); err != nil {
		return err
	}
	if st.OperationID == "" {
		return s.again(ctx, st.ContentGeneration)
	}
	for _, p := range positions {
		if !slices.ContainsFunc(st.Errors, func(e SlotError) bool { return e.Position == p }) {
			return media.Errorf(media.CodeInvalid, "result %d of sub-action %s did not fail", p, id)
		}
	}
	refused := make(chan error, 1)
	var once sync.Once
	say := func(err error) { once.Do(func() { refused <- err }) }
	err = s.reopen(ctx, st.ContentGeneration, func(ctx context.Context) (*generate.Result, error) {
		res, err := s.cfg.Gateway.Retry(begun(ctx, func() { say(nil) }), gateway.RetryOptions{Operation: st.OperationID, Slots: positions})
		if say(err); err != nil && ctx.Err() == nil { // nothing was requested
			return s.cfg.Gateway.Resume(ctx, st.OperationID)
		}
		return res, err
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, refuseWithin)
	defer stop()
	select {
	case err := <-refused:
		return err
	case <-ctx.Done():
		return nil
	}
}

// refuseWithin bounds how long a retry waits for a refusal by the Gateway: the retry may be queued.
const refuseWithin = 5 * time.Second

// reopen reopens the row of a finished sub-action and executes do.
func (s *Service) reopen(ctx context.Context, row ledger.ContentGeneration, do func(context.Context) (*generate.Result, error)) error {
	row.Status, row.Failure, row.FinishedAt = string(generate.StatusQueued), ledger.Failure{}, time.Time{}
	if err := s.cfg.Ledger.SaveContentGeneration(ctx, row); err != nil {
		return err
	}
	return s.begin(row, do) //nolint:contextcheck // it outlives the request
}

// again requests the generation of a row that has none, or continues the generation.
func (s *Service) again(ctx context.Context, row ledger.ContentGeneration) error {
	plan, err := s.plan(row)
	if err != nil {
		return err
	}
	r, err := s.request(ctx, row, plan)
	if err != nil {
		return err
	}
	return s.reopen(ctx, row, s.generate(r))
}

// plan plans the generation of a row.
func (s *Service) plan(row ledger.ContentGeneration) (subaction.Plan, error) {
	h, err := s.cfg.Actions.Find(row.ActionType)
	if err != nil {
		return subaction.Plan{}, err
	}
	params, err := ordered.DecodeObject(row.Params)
	if err != nil {
		return subaction.Plan{}, media.Errorf(media.CodeCorrupt, "read the parameters of sub-action %s: %w", row.ID, err)
	}
	return h.Plan(subaction.Call{Key: row.PromptID, Prompt: row.PromptAsSent, Params: params})
}

// substitution returns what a stand-in changes: the provider, and the settings that only the provider has.
func (s *Service) substitution(row ledger.ContentGeneration, model string) []generate.Disposition {
	const why, whyDropped = "the offline painter substitutes for a provider without a key", "the offline painter does not have the provider's own settings"
	all := []generate.Disposition{{Setting: "provider", Asked: row.Provider, Applied: model, Outcome: generate.OutcomeSubstituted, Reason: why}}
	plan, _ := s.plan(row) // it was planned when the sub-action was started
	options := plan.Request.Options[row.Provider]
	for _, name := range slices.Sorted(maps.Keys(options)) {
		setting := "options." + row.Provider + "." + name
		all = append(all, generate.Disposition{Setting: setting, Asked: fmt.Sprint(options[name]), Outcome: generate.OutcomeDropped, Reason: whyDropped})
	}
	return all
}

func (s *Service) generate(r generate.Request) func(context.Context) (*generate.Result, error) {
	return func(ctx context.Context) (*generate.Result, error) { return s.cfg.Gateway.Generate(ctx, r) }
}

// scope puts a generation into the tree of its workflow's run.
func scope(ctx context.Context, row ledger.ContentGeneration) context.Context {
	return media.WithScope(ctx, media.Scope{Owner: row.Owner, Tree: row.WorkflowRunID, Run: row.WorkflowRunID, SubAction: row.ID})
}
