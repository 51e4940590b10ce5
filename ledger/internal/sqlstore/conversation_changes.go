package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"atelier/ledger"
)

// RenameConversation gives a conversation another title.
func (s conversations) RenameConversation(ctx context.Context, owner, id, title string) error {
	return s.changeConversation(ctx, "rename conversation", id, `UPDATE conversations SET title = $1, updated_at = updated_at
		WHERE owner = $2 AND id = $3 AND deleted_at IS NULL`, prose(clip(title)), owner, id)
}

// RestoreConversation takes the tombstone away.
func (s conversations) RestoreConversation(ctx context.Context, owner, id string, since time.Time) error {
	return s.changeConversation(ctx, "restore conversation", id, `UPDATE conversations SET deleted_at = NULL
		WHERE owner = $1 AND id = $2 AND deleted_at >= $3`, owner, id, stampText(since))
}

func (s conversations) changeConversation(ctx context.Context, what, id, statement string, args ...any) error {
	return s.commit(ctx, what, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		return changed(what, id, res)
	})
}

// ConversationOf is the conversation of a run tree: the first one, where forks have it as well.
func (s conversations) ConversationOf(ctx context.Context, owner, tree string) (id string, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT c.id FROM conversation_details d JOIN conversations c ON c.id = d.conversation_id
		WHERE d.run_id = $1 AND c.owner = $2 AND c.deleted_at IS NULL ORDER BY d.id LIMIT 1`, tree, owner).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, s.failure("read the conversation of run "+tree, err)
}

// ConversationRuns lists the root runs of conversations.
func (s conversations) ConversationRuns(ctx context.Context, owner string, ids []string) ([]ledger.ConversationRun, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	q := &query{args: []any{owner}}
	var names []string
	for _, id := range ids {
		q.args = append(q.args, id)
		names = append(names, "$"+strconv.Itoa(len(q.args)))
	}
	q.text.WriteString(`SELECT DISTINCT d.conversation_id, r.id, r.model_calls, r.input_tokens, r.output_tokens, r.images, r.worked_ms,
			r.estimated_usd, r.reported_usd, r.cost_complete
		FROM conversation_details d JOIN conversations c ON c.id = d.conversation_id JOIN agent_runs r ON r.id = d.run_id AND r.depth = 0
		WHERE c.owner = $1 AND c.deleted_at IS NULL AND r.deleted_at IS NULL AND d.conversation_id IN (` + strings.Join(names, ", ") + `) ORDER BY r.id`)
	runs, err := collect(ctx, s.read, q, func(from row) (r ledger.ConversationRun, err error) {
		err = from.Scan(&r.ConversationID, &r.RunID, &r.Usage.ModelCalls, &r.Usage.InputTokens, &r.Usage.OutputTokens, &r.Usage.Images, &r.Usage.WorkedMS,
			&r.Cost.EstimatedUSD, &r.Cost.ReportedUSD, &r.Cost.Complete)
		return r, err
	})
	return runs, s.failure("list the runs of conversations", err)
}
