package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"time"

	"atelier/api"
)

// at returns a path that contains an escaped id.
func at(prefix, id, suffix string) string { return prefix + url.PathEscape(id) + suffix }

func get[T any](ctx context.Context, c *transport, path string) (T, error) {
	return sendJSON[T](ctx, c, request{method: http.MethodGet, path: path})
}

// list requests one page. The query is a struct with query tags.
func list[T any](ctx context.Context, c *transport, path string, query any) (api.List[T], error) {
	return sendJSON[api.List[T]](ctx, c, request{method: http.MethodGet, path: path, query: values(query)})
}

// listAll requests a list that has only one page.
func listAll[T any](ctx context.Context, c *transport, path string) ([]T, error) {
	l, err := get[api.List[T]](ctx, c, path)
	return l.Items, err
}

// values encodes the fields of a query that are set.
func values(query any) url.Values {
	out := url.Values{}
	v := reflect.ValueOf(query)
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, value := f.Tag.Get("query"), v.FieldByIndex(f.Index)
		if name == "" || value.IsZero() {
			continue
		}
		switch value.Kind() {
		case reflect.Bool:
			out.Set(name, strconv.FormatBool(value.Bool()))
		case reflect.Int:
			out.Set(name, strconv.FormatInt(value.Int(), 10))
		default:
			out.Set(name, value.String())
		}
	}
	return out
}

// Ready returns nil if the server can work.
func (c Health) Ready(ctx context.Context) error {
	res, err := c.once(ctx, request{method: http.MethodGet, path: "/readyz"}, nil)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// Health returns a description of the server's configuration.
func (c Health) Health(ctx context.Context) (api.Health, error) {
	return get[api.Health](ctx, c.transport, "/api/health")
}

// Agents lists the available agents.
func (c Catalog) Agents(ctx context.Context) ([]api.Agent, error) {
	return listAll[api.Agent](ctx, c.transport, "/api/agents")
}

// ChatModels lists the chat models.
func (c Catalog) ChatModels(ctx context.Context) ([]api.ChatModel, error) {
	return listAll[api.ChatModel](ctx, c.transport, "/api/chat-models")
}

// Models lists the media models.
func (c Catalog) Models(ctx context.Context) ([]api.Model, error) {
	return listAll[api.Model](ctx, c.transport, "/api/models")
}

// Providers lists the services of the models.
func (c Catalog) Providers(ctx context.Context) ([]api.Provider, error) {
	return listAll[api.Provider](ctx, c.transport, "/api/providers")
}

// ListBudgets lists the budgets that are set.
func (c Budgets) ListBudgets(ctx context.Context) ([]api.Budget, error) {
	return listAll[api.Budget](ctx, c.transport, "/api/budgets")
}

// StartRun starts a run. The id is the Idempotency-Key of the request; empty means a new one.
func (c Runs) StartRun(ctx context.Context, id string, r api.NewRun) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: "/api/runs", body: r, needsKey: true, key: id})
}

// ListRuns lists runs, newest first.
func (c Runs) ListRuns(ctx context.Context, q api.RunQuery) (api.List[api.Run], error) {
	return list[api.Run](ctx, c.transport, "/api/runs", q)
}

// Run returns a run.
func (c Runs) Run(ctx context.Context, id string) (api.Run, error) {
	return get[api.Run](ctx, c.transport, at("/api/runs/", id, ""))
}

// AnswerRun answers a question of a paused run.
func (c Runs) AnswerRun(ctx context.Context, id string, a api.Answer) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/runs/", id, "/answer"), body: a, needsKey: true})
}

// CancelRun cancels a run.
func (c Runs) CancelRun(ctx context.Context, id string) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/runs/", id, "/cancel")})
}

// RetryRun retries a failed run.
func (c Runs) RetryRun(ctx context.Context, id string) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/runs/", id, "/retry"), needsKey: true})
}

// ForkRun starts a run that repeats another run from a step. newID is the Idempotency-Key of the request; empty means a
// new one.
func (c Runs) ForkRun(ctx context.Context, newID, id string, f api.Fork) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/runs/", id, "/fork"), body: f, needsKey: true, key: newID})
}

// WriteReport writes the report of a run as an HTML page. Media addresses are those of the server. After an error, the
// page is incomplete.
func (c Runs) WriteReport(ctx context.Context, id string, _ func(media string) string, w io.Writer) error {
	return c.copy(ctx, request{method: http.MethodGet, path: at("/api/runs/", id, "/report")}, w)
}

// copy writes the body of a response that is not JSON.
func (c *transport) copy(ctx context.Context, r request, w io.Writer) error {
	res, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // the body is complete, or the error says so
	_, err = io.Copy(w, &download{ReadCloser: res.Body, ctx: ctx, path: r.path})
	return err
}

// ListSteps lists the finished steps of a run tree.
func (c Trace) ListSteps(ctx context.Context, run string) ([]api.Step, error) {
	return listAll[api.Step](ctx, c.transport, at("/api/runs/", run, "/steps"))
}

// ListModelCalls lists the chat model calls of a run.
func (c Trace) ListModelCalls(ctx context.Context, q api.TraceQuery) (api.List[api.ModelCall], error) {
	return list[api.ModelCall](ctx, c.transport, at("/api/runs/", q.ID, "/model-calls"), q)
}

// ListActs lists the actions and sub-agents of a run.
func (c Trace) ListActs(ctx context.Context, q api.TraceQuery) (api.List[api.Act], error) {
	return list[api.Act](ctx, c.transport, at("/api/runs/", q.ID, "/acts"), q)
}

// Sight returns the pictures that the model of a run was shown.
func (c Trace) Sight(ctx context.Context, run string) (api.Sight, error) {
	return get[api.Sight](ctx, c.transport, at("/api/runs/", run, "/sight"))
}

// ListConversations lists conversations.
func (c Conversations) ListConversations(ctx context.Context, q api.ConversationQuery) (api.List[api.ConversationHead], error) {
	return list[api.ConversationHead](ctx, c.transport, "/api/conversations", q)
}

// Conversation returns a conversation with its messages.
func (c Conversations) Conversation(ctx context.Context, id string) (api.Conversation, error) {
	return get[api.Conversation](ctx, c.transport, at("/api/conversations/", id, ""))
}

// RenameConversation changes the title of a conversation.
func (c Conversations) RenameConversation(ctx context.Context, id, title string) (api.ConversationHead, error) {
	return sendJSON[api.ConversationHead](ctx, c.transport, request{method: http.MethodPatch, path: at("/api/conversations/", id, ""), body: api.Rename{Title: title}})
}

// DeleteConversation deletes a conversation. It returns the time until which the conversation can be restored.
func (c Conversations) DeleteConversation(ctx context.Context, id string) (time.Time, error) {
	d, err := sendJSON[api.Deleted](ctx, c.transport, request{method: http.MethodDelete, path: at("/api/conversations/", id, "")})
	return d.UndoUntil, err
}

// RestoreConversation restores a deleted conversation.
func (c Conversations) RestoreConversation(ctx context.Context, id string) (api.ConversationHead, error) {
	return sendJSON[api.ConversationHead](ctx, c.transport, request{method: http.MethodPost, path: at("/api/conversations/", id, "/restore")})
}

// ForkConversation starts a conversation with the messages of another one, up to and including a given message.
func (c Conversations) ForkConversation(ctx context.Context, id string, f api.ForkConversation) (api.ConversationHead, error) {
	return sendJSON[api.ConversationHead](ctx, c.transport, request{method: http.MethodPost, path: at("/api/conversations/", id, "/fork"), body: f})
}

// StartGeneration requests media from a model. The key is the Idempotency-Key of the request; empty means a new one.
func (c Generations) StartGeneration(ctx context.Context, key string, g api.NewGeneration) (api.Generation, error) {
	return sendJSON[api.Generation](ctx, c.transport, request{method: http.MethodPost, path: "/api/generations", body: g, needsKey: true, key: key})
}

// PlanGeneration returns what a request would do, without executing it.
func (c Generations) PlanGeneration(ctx context.Context, g api.NewGeneration) (api.Plan, error) {
	return sendJSON[api.Plan](ctx, c.transport, request{method: http.MethodPost, path: "/api/generations/plan", body: g})
}

// Generation returns a generation.
func (c Generations) Generation(ctx context.Context, id string) (api.Generation, error) {
	return get[api.Generation](ctx, c.transport, at("/api/generations/", id, ""))
}

// ListGenerations lists generations, newest first.
func (c Generations) ListGenerations(ctx context.Context, q api.GenerationQuery) (api.List[api.Generation], error) {
	return list[api.Generation](ctx, c.transport, "/api/generations", q)
}

// RetryGeneration retries failed results. If all is set, it also retries refused and possibly billed results.
func (c Generations) RetryGeneration(ctx context.Context, id string, all bool) (api.Generation, error) {
	return sendJSON[api.Generation](ctx, c.transport, request{method: http.MethodPost, path: at("/api/generations/", id, "/retry"), body: api.RetrySlots{All: all}, needsKey: true})
}

// CancelGeneration cancels a generation.
func (c Generations) CancelGeneration(ctx context.Context, id string) (api.Generation, error) {
	return sendJSON[api.Generation](ctx, c.transport, request{method: http.MethodPost, path: at("/api/generations/", id, "/cancel")})
}
