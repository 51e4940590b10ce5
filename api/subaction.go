package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atelier/media"
)

// SubActionService starts sub-actions from interactions. A sub-action belongs to the server and continues when its
// client disconnects.
type SubActionService interface {
	// StartSubAction starts a sub-action, or finds the one that the same click started, and returns its metadata_id.
	// The key is the Idempotency-Key of the request; if it is empty, the body's request_id is used.
	StartSubAction(ctx context.Context, run, key string, body json.RawMessage) (string, error)
	// PriceSubAction returns the cost of a click. The body is that of StartSubAction.
	PriceSubAction(ctx context.Context, interaction string, body json.RawMessage) (SubActionPrice, error)
	SubAction(ctx context.Context, id string) (SubAction, error)
	// ListSubActions lists the sub-actions of a run, oldest first.
	ListSubActions(ctx context.Context, run string, p Page) (List[SubAction], error)
	CancelSubAction(ctx context.Context, id string) (SubAction, error)
	RetrySubAction(ctx context.Context, id string, r SubActionRetry) (SubAction, error)
	// FollowSubAction returns the events of a sub-action's stream after a number, up to the last event.
	FollowSubAction(ctx context.Context, id string, after int) iter.Seq2[SubActionEvent, error]
}

// SubAction is a sub-action and its results.
type SubAction struct {
	ID            string             `json:"id"`
	WorkflowRunID string             `json:"workflow_run_id"`
	InteractionID string             `json:"interaction_id"`
	StepID        string             `json:"step_id,omitempty"`
	SubActionID   string             `json:"sub_action_id,omitempty"`
	ActionType    string             `json:"action_type"`
	Provider      string             `json:"provider,omitempty"`
	Model         string             `json:"model,omitempty"`
	OperationID   string             `json:"operation_id,omitempty" doc:"The generation that the sub-action started."`
	PromptID      string             `json:"prompt_id,omitempty"`
	SourceData    json.RawMessage    `json:"source_data,omitempty"`
	PromptAsSent  string             `json:"prompt_as_sent,omitempty"`
	Params        json.RawMessage    `json:"params,omitempty"`
	Settings      json.RawMessage    `json:"dispositions,omitempty" doc:"The disposition of each setting."`
	StandIn       bool               `json:"stand_in,omitempty" doc:"The offline painter substitutes for the provider."`
	Status        string             `json:"status" enum:"queued,submitted,running,succeeded,partial,failed,moderated,cancelled"`
	Error         *Failure           `json:"error,omitempty"`
	Errors        []SubActionError   `json:"errors" nullable:"false" doc:"The errors of missing results, by position."`
	Contents      []GeneratedContent `json:"contents" nullable:"false"`
	ElapsedMS     int64              `json:"elapsed_ms,omitempty"`
	CostUSD       *string            `json:"cost_usd"`
	CreatedAt     time.Time          `json:"created_at"`
	FinishedAt    *time.Time         `json:"finished_at,omitempty"`
}

// GeneratedContent is one result of a sub-action.
type GeneratedContent struct {
	ID            string     `json:"id"`
	Position      int        `json:"position"`
	MediaID       string     `json:"media_id"`
	URL           string     `json:"url"`
	Modality      string     `json:"modality,omitempty"`
	Seed          *int64     `json:"seed,omitempty"`
	RevisedPrompt string     `json:"revised_prompt,omitempty"`
	SelectedAt    *time.Time `json:"selected_at,omitempty"`
}

// SubActionError says why a result is missing.
type SubActionError struct {
	Position  int    `json:"position"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// SubActionPrice is the cost of a click.
type SubActionPrice struct {
	EstimatedUSD *string `json:"estimated_usd" doc:"US dollars; null if unknown."`
}

// SubActionRetry selects the results to retry.
type SubActionRetry struct {
	Positions []int `json:"positions,omitempty" maxItems:"100" doc:"The failed results to retry; the default is all that can be retried without paying twice."`
}

// SubActionEvent is an event of a sub-action's stream: accepted, progress, partial and, last, complete or error.
type SubActionEvent struct {
	ID   int
	Type string
	Data json.RawMessage
}

func registerSubActions(rt *routes, as SubActionService) {
	const tag = "workflows"
	stream := map[string]*huma.Response{"200": {
		Description: "Server-sent events: id counts from 1, event is accepted, progress, partial, complete or error, and data is {type, data}. The stream ends with complete or error. The sub-action continues if the client disconnects.",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	rt.stream(huma.Operation{
		Method: http.MethodPost, Path: "/workflow/{workflow_run_id}/sub-action/stream", Summary: "Start sub-action", Tags: []string{tag}, Responses: stream,
		Parameters: []*huma.Param{
			{Name: "workflow_run_id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}},
			{Name: "Idempotency-Key", In: "header", Description: "The identity of the click, as request_id: a repeated click gets the same stream.", Schema: &huma.Schema{Type: huma.TypeString}},
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: clickSchema()}}},
	}, func(w http.ResponseWriter, r *http.Request) error { return startSubAction(w, r, as) })
	rt.stream(huma.Operation{
		Method: http.MethodGet, Path: "/api/sub-actions/{id}/stream", Summary: "Follow sub-action", Tags: []string{tag}, Responses: stream,
		Parameters: []*huma.Param{{Name: "Last-Event-ID", In: "header", Description: "Resume after this id.", Schema: &huma.Schema{Type: huma.TypeInteger}}},
	}, func(w http.ResponseWriter, r *http.Request) error {
		after, err := position(r)
		if err != nil {
			return err
		}
		return followSubAction(w, r, as, r.PathValue("id"), int(max(after, 0)))
	})
	paged(rt, "/api/workflow-runs/{id}/sub-actions", "List sub-actions", tag, func(ctx context.Context, q TraceQuery) (List[SubAction], error) {
		return as.ListSubActions(ctx, q.ID, q.Page)
	})
	byID(rt, on(http.MethodGet, "/api/sub-actions/{id}", "Get sub-action", tag), as.SubAction)
	byID(rt, accepted("/api/sub-actions/{id}/cancel", "Cancel sub-action", tag), as.CancelSubAction)
	handle(rt, accepted("/api/sub-actions/{id}/retry", "Retry sub-action", tag), func(ctx context.Context, in *withIDKeyAndOption[SubActionRetry]) (*answer[SubAction], error) {
		var r SubActionRetry
		if in.Body != nil {
			r = *in.Body
		}
		return idempotentChange(ctx, &rt.keys, in.Key, change[SubAction]{
			call{Name: "retry sub-action " + in.ID, Body: r},
			Subject{SubAction: in.ID},
			func(ctx context.Context) (SubAction, error) { return as.RetrySubAction(ctx, in.ID, r) },
			func(ctx context.Context) (SubAction, error) { return as.SubAction(ctx, in.ID) },
		})
	})
	handle(rt, on(http.MethodPost, "/api/interactions/{id}/price", "Price sub-action", tag), func(ctx context.Context, in *withID[json.RawMessage]) (*answer[SubActionPrice], error) {
		return found(as.PriceSubAction(ctx, in.ID, in.Body))
	})
}

// maxKeyLength is the maximum length of an Idempotency-Key.
const maxKeyLength = 200

// clickSchema returns the schema of the body that starts a sub-action.
func clickSchema() *huma.Schema {
	words := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	return &huma.Schema{Type: huma.TypeObject, Required: []string{"interaction_id"}, AdditionalProperties: false, Properties: map[string]*huma.Schema{
		"interaction_id": words("The id of the waiting interaction."),
		"path":           words("The JSON pointer of the node; with sub_action_id, it identifies the sub-action."),
		"sub_action_id":  words("The id of the sub-action at the node."),
		"action_type":    words("With provider and prompt_id, it identifies the sub-action if path is missing."),
		"provider":       words("The provider."),
		"prompt_id":      words("The key of the prompt."),
		"operation":      words("The last segment of action_type."),
		"params":         {Type: huma.TypeObject, Description: "The parameters that the person set.", AdditionalProperties: true},
		"source_data":    {Description: "The client's copy of the node's data; it must be equal to the server's."},
		"request_id":     words("The identity of the click."),
		"stand_in":       words("offline substitutes the offline painter for a provider without a key."),
	}}
}

func startSubAction(w http.ResponseWriter, r *http.Request, as SubActionService) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return newProblem(http.StatusUnsupportedMediaType, media.CodeUnsupported, "send the click as application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return media.Errorf(media.CodeTooLarge, "the body is incomplete, or larger than %d bytes", maxBody)
	}
	key := r.Header.Get("Idempotency-Key")
	if len(key) > maxKeyLength {
		return media.Errorf(media.CodeInvalid, "the Idempotency-Key is longer than %d characters", maxKeyLength)
	}
	// A started sub-action continues when the client disconnects.
	id, err := as.StartSubAction(context.WithoutCancel(r.Context()), r.PathValue("workflow_run_id"), key, body)
	if err != nil {
		return err
	}
	return followSubAction(w, r, as, id, 0)
}

// followSubAction streams the events of a sub-action.
func followSubAction(w http.ResponseWriter, r *http.Request, as SubActionService, id string, after int) error {
	if _, err := as.SubAction(r.Context(), id); err != nil {
		return err
	}
	out := newEventWriter(w, r)
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	var mu sync.Mutex // guards out
	var beats sync.WaitGroup
	defer beats.Wait()
	defer stop()
	beats.Go(func() {
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				mu.Lock()
				out.write([]byte(":\n\n"))
				mu.Unlock()
			case <-ctx.Done():
				return
			}
		}
	})
	for e, err := range as.FollowSubAction(ctx, id, after) {
		if err != nil {
			if ctx.Err() == nil {
				slog.WarnContext(ctx, "stream of a sub-action ended early: its reader reconnects", slog.String("sub_action", id), slog.String("error", media.ErrorText(err.Error())))
			}
			break
		}
		mu.Lock()
		// The data also contains the type, for clients that read only the data.
		out.write(fmt.Appendf(nil, "id: %d\nevent: %s\ndata: {\"type\":\"%[2]s\",\"data\":%[3]s}\n\n", e.ID, e.Type, e.Data))
		gone := out.err != nil
		mu.Unlock()
		if gone {
			break
		}
	}
	return nil
}
