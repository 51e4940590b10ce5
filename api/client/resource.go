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

func (c health) Ready(ctx context.Context) error {
	res, err := c.once(ctx, request{method: http.MethodGet, path: "/readyz"}, nil)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

func (c health) Health(ctx context.Context) (api.Health, error) {
	return get[api.Health](ctx, c.transport, "/api/health")
}

func (c catalog) Agents(ctx context.Context) ([]api.Agent, error) {
	return listAll[api.Agent](ctx, c.transport, "/api/agents")
}

func (c catalog) ChatModels(ctx context.Context) ([]api.ChatModel, error) {
	return listAll[api.ChatModel](ctx, c.transport, "/api/chat-models")
}

func (c catalog) Models(ctx context.Context) ([]api.Model, error) {
	return listAll[api.Model](ctx, c.transport, "/api/models")
}

func (c catalog) Providers(ctx context.Context) ([]api.Provider, error) {
	return listAll[api.Provider](ctx, c.transport, "/api/providers")
}

func (c budgets) ListBudgets(ctx context.Context) ([]api.Budget, error) {
	return listAll[api.Budget](ctx, c.transport, "/api/budgets")
}

func (c runs) StartRun(ctx context.Context, id string, r api.NewRun) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: "/api/runs", body: r, needsKey: true, key: id})
}

func (c runs) ListRuns(ctx context.Context, q api.RunQuery) (api.List[api.Run], error) {
	return list[api.Run](ctx, c.transport, "/api/runs", q)
}

func (c runs) Run(ctx context.Context, id string) (api.Run, error) {
	return get[api.Run](ctx, c.transport, at("/api/runs/", id, ""))
}

func (c runs) AnswerRun(ctx context.Context, id string, a api.Answer) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/runs/", id, "/answer"), body: a, needsKey: true})
}

func (c runs) CancelRun(ctx context.Context, id string) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/runs/", id, "/cancel")})
}

func (c runs) RetryRun(ctx context.Context, id string) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/runs/", id, "/retry"), needsKey: true})
}

func (c runs) ForkRun(ctx context.Context, newID, id string, f api.Fork) (api.Started, error) {
	return sendJSON[api.Started](ctx, c.transport, request{method: http.MethodPost, path: at("/api/runs/", id, "/fork"), body: f, needsKey: true, key: newID})
}

// WriteReport writes the report with the addresses of the server.
func (c runs) WriteReport(ctx context.Context, id string, _ func(media string) string, w io.Writer) error {
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

func (c trace) ListSteps(ctx context.Context, run string) ([]api.Step, error) {
	return listAll[api.Step](ctx, c.transport, at("/api/runs/", run, "/steps"))
}

func (c trace) ListModelCalls(ctx context.Context, q api.TraceQuery) (api.List[api.ModelCall], error) {
	return list[api.ModelCall](ctx, c.transport, at("/api/runs/", q.ID, "/model-calls"), q)
}

func (c trace) ListActs(ctx context.Context, q api.TraceQuery) (api.List[api.Act], error) {
	return list[api.Act](ctx, c.transport, at("/api/runs/", q.ID, "/acts"), q)
}

func (c trace) Sight(ctx context.Context, run string) (api.Sight, error) {
	return get[api.Sight](ctx, c.transport, at("/api/runs/", run, "/sight"))
}

func (c conversations) ListConversations(ctx context.Context, q api.ConversationQuery) (api.List[api.ConversationHead], error) {
	return list[api.ConversationHead](ctx, c.transport, "/api/conversations", q)
}

func (c conversations) Conversation(ctx context.Context, id string) (api.Conversation, error) {
	return get[api.Conversation](ctx, c.transport, at("/api/conversations/", id, ""))
}

func (c conversations) RenameConversation(ctx context.Context, id, title string) (api.ConversationHead, error) {
	return sendJSON[api.ConversationHead](ctx, c.transport, request{method: http.MethodPatch, path: at("/api/conversations/", id, ""), body: api.Rename{Title: title}})
}

func (c conversations) DeleteConversation(ctx context.Context, id string) (time.Time, error) {
	d, err := sendJSON[api.Deleted](ctx, c.transport, request{method: http.MethodDelete, path: at("/api/conversations/", id, "")})
	return d.UndoUntil, err
}

func (c conversations) RestoreConversation(ctx context.Context, id string) (api.ConversationHead, error) {
	return sendJSON[api.ConversationHead](ctx, c.transport, request{method: http.MethodPost, path: at("/api/conversations/", id, "/restore")})
}

func (c conversations) ForkConversation(ctx context.Context, id string, f api.ForkConversation) (api.ConversationHead, error) {
	return sendJSON[api.ConversationHead](ctx, c.transport, request{method: http.MethodPost, path: at("/api/conversations/", id, "/fork"), body: f})
}

func (c generations) StartGeneration(ctx context.Context, key string, g api.NewGeneration) (api.Generation, error) {
	return sendJSON[api.Generation](ctx, c.transport, request{method: http.MethodPost, path: "/api/generations", body: g, needsKey: true, key: key})
}

func (c generations) PlanGeneration(ctx context.Context, g api.NewGeneration) (api.Plan, error) {
	return sendJSON[api.Plan](ctx, c.transport, request{method: http.MethodPost, path: "/api/generations/plan", body: g})
}

func (c generations) Generation(ctx context.Context, id string) (api.Generation, error) {
	return get[api.Generation](ctx, c.transport, at("/api/generations/", id, ""))
}

func (c generations) ListGenerations(ctx context.Context, q api.GenerationQuery) (api.List[api.Generation], error) {
	return list[api.Generation](ctx, c.transport, "/api/generations", q)
}

func (c generations) RetryGeneration(ctx context.Context, id string, all bool) (api.Generation, error) {
	return sendJSON[api.Generation](ctx, c.transport, request{method: http.MethodPost, path: at("/api/generations/", id, "/retry"), body: api.RetrySlots{All: all}, needsKey: true})
}

func (c generations) CancelGeneration(ctx context.Context, id string) (api.Generation, error) {
	return sendJSON[api.Generation](ctx, c.transport, request{method: http.MethodPost, path: at("/api/generations/", id, "/cancel")})
}
