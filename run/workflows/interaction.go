package workflows

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"atelier/agent"
	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
	"atelier/media/wire"
	"atelier/run"
	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/patch"
	"atelier/workflow/subaction"
	"atelier/workflow/view"
)

// InteractionView is an interaction as people see it.
type InteractionView struct {
	workflow.InteractionRequest
	Row ledger.Interaction
}

// Show reads an interaction, open or not.
func (s *Service) Show(ctx context.Context, owner, id string) (InteractionView, error) {
	row, err := s.currentRow(ctx, owner, id)
	if err != nil {
		return InteractionView{}, err
	}
	i, err := openRow(row, s.cfg.Actions)
	if err != nil {
		return InteractionView{}, err
	}
	return InteractionView{InteractionRequest: i.Request(), Row: row}, nil
}

// currentRow reads the row of an interaction. An open one that has expired, or whose run has ended, is closed first.
func (s *Service) currentRow(ctx context.Context, owner, id string) (ledger.Interaction, error) {
	row, err := s.cfg.Ledger.Interaction(ctx, owner, id)
	if media.CodeOf(err) == media.CodeNotFound {
		return row, media.Errorf(media.CodeNotFound, "there is no interaction %.80q", media.ErrorText(id))
	}
	if err != nil || row.Status != ledger.InteractionOpen {
		return row, err
	}
	of, err := s.cfg.Ledger.Run(ctx, owner, row.WorkflowRunID)
	if err != nil || of.FinishedAt.IsZero() && (row.ExpiresAt.IsZero() || row.ExpiresAt.After(s.cfg.Now())) {
		return row, err
	}
	if err := s.expire(ctx, row); err != nil && media.CodeOf(err) != media.CodeConflict { // a conflict: another caller is closing it
		return row, err
	}
	return s.cfg.Ledger.Interaction(ctx, owner, id)
}

// open is currentRow for an open interaction; otherwise the error has code media.CodeConflict and ends with consequence.
func (s *Service) open(ctx context.Context, owner, id, consequence string) (ledger.Interaction, error) {
	row, err := s.currentRow(ctx, owner, id)
	if err == nil && row.Status != ledger.InteractionOpen {
		err = media.Errorf(media.CodeConflict, "interaction %s is %s%s", id, row.Status, consequence)
	}
	return row, err
}

// close closes an interaction, if it is open, and returns its row.
func (s *Service) close(ctx context.Context, owner, id string, status ledger.InteractionStatus, answer json.RawMessage) (ledger.Interaction, error) {
	for {
		row, err := s.cfg.Ledger.Interaction(ctx, owner, id)
		if err != nil || row.Status != ledger.InteractionOpen {
			return row, err
		}
		row.Status, row.Answer = status, answer
		if status == ledger.InteractionAnswered {
			row.AnsweredAt = s.cfg.Now()
		}
		err = s.cfg.Ledger.ChangeInteraction(ctx, row, row.Version)
		if code := media.CodeOf(err); code != media.CodeVersion && code != media.CodeConflict {
			return row, err
		}
	}
}

// Read returns an open interaction and its step. For an answered, expired or cancelled one, the error has code
// media.CodeConflict.
func (s *Service) Read(ctx context.Context, owner, id string) (stepID string, i *workflow.Interaction, err error) {
	row, err := s.open(ctx, owner, id, "")
	if err != nil {
		return "", nil, err
	}
	i, err = openRow(row, s.cfg.Actions)
	return row.StepID, i, err
}

// openRow returns the interaction of a row.
func openRow(row ledger.Interaction, actions *subaction.Registry) (*workflow.Interaction, error) {
	var r workflow.InteractionRequest // without the view, which Open creates
	if err := json.Unmarshal(row.Request, &r); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read interaction %s: %w", row.ID, err)
	}
	var err error
	if r.DisplayData, err = ordered.DecodeObject(row.Data); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read the data of interaction %s: %w", row.ID, err)
	}
	r.InteractionID, r.WorkflowRunID, r.Version = row.ID, row.WorkflowRunID, row.Version
	var edits []patch.Edit
	if len(row.Edits) > 0 {
		if err := json.Unmarshal(row.Edits, &edits); err != nil {
			return nil, media.Errorf(media.CodeCorrupt, "read the edits of interaction %s: %w", row.ID, err)
		}
	}
	return workflow.Open(r, edits, actions)
}

// Patched is the result of an edit: the new version of the data, the change as JSON Patch, and the changed nodes of the
// view.
type Patched struct {
	Version int
	Patch   []patch.Operation
	Changes view.Changes
}

// Patch applies a person's edit, a JSON Patch based on a version. Errors are those of [workflow.Interaction.Edit],
// media.CodeConflict for an interaction that is not open, and media.CodeInvalid for an edit that contains media as
// data.
func (s *Service) Patch(ctx context.Context, owner, id string, base int, text []byte) (Patched, error) {
	if wire.NameMedia(string(text)) != string(text) {
		return Patched{}, media.Errorf(media.CodeInvalid, "the edit contains media as data: upload the media and refer to it by id")
	}
	ops, err := patch.Parse(text)
	if err != nil {
		return Patched{}, err
	}
	applied := slices.DeleteFunc(slices.Clone(ops), func(op patch.Operation) bool { return op.Op == "test" })
	return s.change(ctx, owner, id, func(i *workflow.Interaction) (*workflow.Interaction, []patch.Operation, error) {
		next, err := i.Edit(base, ops)
		return next, applied, err
	})
}

// AppendItems adds results at a target, each content id once. A closed interaction stays unchanged.
func (s *Service) AppendItems(ctx context.Context, owner, id string, target []string, items ...workflow.Item) error {
	_, err := s.change(ctx, owner, id, func(i *workflow.Interaction) (*workflow.Interaction, []patch.Operation, error) {
		fresh := missing(i.Request().DisplayData, target, items)
		if len(fresh) == 0 {
			return nil, nil, nil
		}
		return i.AppendItems(target, fresh...)
	})
	if media.CodeOf(err) == media.CodeConflict {
		return nil // results after the answer are recorded, but change nothing
	}
	return err
}

// missing returns the items that are not at the target yet.
func missing(data *ordered.Object, target []string, items []workflow.Item) []workflow.Item {
	v, _ := ordered.Get(data, target...)
	list, _ := v.([]any)
	known := map[string]bool{}
	for _, e := range list {
		o, _ := e.(*ordered.Object)
		known[o.Text("content_id")] = true
	}
	return slices.DeleteFunc(slices.Clone(items), func(item workflow.Item) bool {
		before := known[item.ContentID]
		known[item.ContentID] = true
		return before
	})
}

// maxEdits is the maximum number of edits in a row: a client that is further behind reads the interaction again.
const maxEdits = 1000

// change saves the interaction that fn returns and announces the change. If another change came first, fn is called
// again. If fn returns a nil interaction, nothing changes.
func (s *Service) change(ctx context.Context, owner, id string, fn func(*workflow.Interaction) (*workflow.Interaction, []patch.Operation, error)) (Patched, error) {
	defer s.lock(id)()
	for {
		row, err := s.open(ctx, owner, id, ": it can no longer be edited")
		if err != nil {
			return Patched{}, err
		}
		i, err := openRow(row, s.cfg.Actions)
		if err != nil {
			return Patched{}, err
		}
		next, ops, err := fn(i)
		if err != nil || next == nil {
			return Patched{Version: row.Version}, err
		}
		base, edits := row.Version, next.Edits()
		row.Edits = ledger.JSON(edits[max(0, len(edits)-maxEdits):])
		if row.Data, row.Version = ordered.Encode(next.Request().DisplayData), next.Request().Version; len(row.Data) > ordered.MaxBytes {
			return Patched{}, media.Errorf(media.CodeInvalid, "the data would be larger than the limit of %d bytes: shorten it", ordered.MaxBytes)
		}
		err = s.cfg.Ledger.ChangeInteraction(ctx, row, base)
		if media.CodeOf(err) == media.CodeVersion {
			continue
		}
		if err != nil {
			return Patched{}, err
		}
		done := Patched{Version: row.Version, Patch: ops, Changes: view.Diff(i.Request().View, next.Request().View)}
		s.emitChange(ctx, row, done)
		return done, nil
	}
}

// emitChange adds a change to the log of the run.
func (s *Service) emitChange(ctx context.Context, row ledger.Interaction, p Patched) {
	ctx = media.WithScope(context.WithoutCancel(ctx), media.Scope{Owner: row.Owner, Tree: row.WorkflowRunID, Run: row.WorkflowRunID})
	s.cfg.Emit(ctx, agent.Event{
		Type: agent.EventInteractionPatched, Tree: row.WorkflowRunID, RunID: row.WorkflowRunID, AgentPath: AgentName, At: s.cfg.Now(),
		Data: agent.InteractionPatched{InteractionID: row.ID, Version: p.Version, Patch: ledger.JSON(p.Patch), Changes: ledger.JSON(p.Changes)},
	})
}

// Answer accepts a person's answer and lets the run continue; of two concurrent answers, one is accepted. Errors:
// media.CodeInvalid, with pointers, for an answer that breaks the rules of the interaction; media.CodeStaleData
// for an answer to an older version; media.CodeActionsRunning while sub-actions run, unless the answer says what to do
// with them; media.CodeConflict for an interaction that is not open.
func (s *Service) Answer(ctx context.Context, owner, id string, body []byte) (*run.Run, error) {
	r, answer, err := s.accept(ctx, owner, id, body)
	if err == nil && answer.Running() == workflow.RunningCancel {
		if err := s.cfg.SubActions.CancelAll(ctx, owner, id); err != nil {
			slog.WarnContext(ctx, "sub-actions of an answered interaction not cancelled", slog.String("interaction", id), slog.String("error", media.ErrorText(err.Error())))
		}
	}
	return r, err
}

// accept checks an answer, answers the question of the run and closes the interaction.
func (s *Service) accept(ctx context.Context, owner, id string, body []byte) (*run.Run, *workflow.Answer, error) {
	defer s.lock(id)()
	row, err := s.open(ctx, owner, id, ": it can no longer be answered")
	if err != nil {
		return nil, nil, err
	}
	answer, err := s.parseAnswer(ctx, row, body)
	if err != nil {
		return nil, nil, err
	}
	g := interactionAnswer{InteractionID: id, Answer: ordered.Encode(answer.Value())}
	r, err := s.answerQuestion(ctx, row, g)
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.close(ctx, owner, id, ledger.InteractionAnswered, g.Answer); err != nil {
		slog.WarnContext(ctx, "answered interaction not closed; its run will close it", slog.String("interaction", id), slog.String("error", media.ErrorText(err.Error())))
	}
	return r, answer, nil
}

// parseAnswer reads an answer and checks it against the interaction.
func (s *Service) parseAnswer(ctx context.Context, row ledger.Interaction, body []byte) (*workflow.Answer, error) {
	i, err := openRow(row, s.cfg.Actions)
	if err != nil {
		return nil, err
	}
	answer, err := workflow.ParseAnswer(body)
	if err != nil {
		return nil, err
	}
	if wire.NameMedia(string(body)) != string(body) {
		return nil, media.Errorf(media.CodeInvalid, "the answer contains media as data: upload the media and refer to it by id")
	}
	if err := answer.CheckVersion(row.Version); err != nil {
		return nil, err
	}
	if _, err := i.Result(answer); err != nil {
		return nil, err
	}
	n, err := s.cfg.SubActions.Running(ctx, row.Owner, row.ID)
	if err != nil {
		return nil, err
	}
	return answer, answer.CheckRunning(n)
}

// pauseWithin bounds the time between the opening of an interaction and the pause of its run.
const pauseWithin = 10 * time.Second

// answerQuestion answers the question of the run. The run's own answer decides: once it is saved, the run continues
// with it.
func (s *Service) answerQuestion(ctx context.Context, row ledger.Interaction, g interactionAnswer) (*run.Run, error) {
	runs, err := s.cfg.Runs(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.paused(ctx, row); err != nil {
		return nil, err
	}
	return runs.Resume(ctx, row.Owner, row.WorkflowRunID, &agent.Reply{Value: ledger.JSON(g)})
}

// paused waits until the run of an interaction is paused, which is saved a moment after the interaction.
func (s *Service) paused(ctx context.Context, row ledger.Interaction) error {
	ctx, stop := context.WithTimeout(ctx, pauseWithin)
	defer stop()
	for {
		st, err := s.cfg.Ledger.RunState(ctx, row.Owner, row.WorkflowRunID)
		if code := media.CodeOf(err); err != nil && code != media.CodeNotFound {
			return err
		}
		if err == nil && st.Status == ledger.WaitPaused {
			return nil
		}
		if now, err := s.cfg.Ledger.Interaction(ctx, row.Owner, row.ID); err != nil || now.Status != ledger.InteractionOpen {
			if err == nil {
				err = media.Errorf(media.CodeConflict, "interaction %s is %s: it can no longer be answered", row.ID, now.Status)
			}
			return err
		}
		if (journal.Memory{}).Sleep(ctx, 5*time.Millisecond) != nil {
			return media.Errorf(media.CodeConflict, "run %s is not waiting for this answer", row.WorkflowRunID)
		}
	}
}

// expireBatchSize is the maximum number of interactions that a call of Expire expires.
const expireBatchSize = 100

// Expire fails the runs whose interactions have timed out, and returns their number. It skips interactions that cannot
// expire yet, which stay first in the list.
func (s *Service) Expire(ctx context.Context) (n int, err error) {
	for skipped := 0; n == 0; {
		late, err := s.cfg.Ledger.ListOpenExpired(ctx, s.cfg.Now(), skipped+expireBatchSize)
		if err != nil || len(late) <= skipped {
			return 0, err
		}
		for _, row := range late[skipped:] {
			st, _ := s.cfg.Ledger.RunState(ctx, row.Owner, row.WorkflowRunID) // without a state, the run is not paused
			if of, err := s.cfg.Ledger.Run(ctx, row.Owner, row.WorkflowRunID); err == nil && of.FinishedAt.IsZero() && st.Status != ledger.WaitPaused {
				continue // a later call expires the interaction
			}
			if err := s.expire(ctx, row); err != nil {
				slog.WarnContext(ctx, "interaction not expired", slog.String("interaction", row.ID), slog.String("error", media.ErrorText(err.Error())))
				continue
			}
			n++
		}
		skipped = len(late)
	}
	return n, nil
}

// expire answers an interaction with a timeout, which fails its run. If the run has ended, it closes the interaction.
func (s *Service) expire(ctx context.Context, row ledger.Interaction) error {
	of, err := s.cfg.Ledger.Run(ctx, row.Owner, row.WorkflowRunID)
	if err != nil {
		return err
	}
	status := ledger.InteractionCancelled
	if of.FinishedAt.IsZero() {
		status = ledger.InteractionExpired
		if _, err := s.answerQuestion(ctx, row, interactionAnswer{InteractionID: row.ID, Expired: true}); err != nil {
			return err
		}
	}
	_, err = s.close(ctx, row.Owner, row.ID, status, nil)
	return err
}
