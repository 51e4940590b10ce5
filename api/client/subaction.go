package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"atelier/api"
	"atelier/media"
)

// StartSubAction starts a sub-action and returns its metadata_id without waiting for its end; see
// [SubActions.FollowSubAction].
func (c SubActions) StartSubAction(ctx context.Context, run, key string, body json.RawMessage) (string, error) {
	var id string
	r := request{method: http.MethodPost, path: at("/workflow/", run, "/sub-action/stream"), body: body, key: key}
	err := c.subActionEvents(ctx, r, body, func(e api.SubActionEvent) bool {
		var d struct {
			MetadataID string `json:"metadata_id"`
		}
		_ = json.Unmarshal(e.Data, &d) // only the first event contains metadata_id
		id = d.MetadataID
		return id == ""
	})
	return id, err
}

// PriceSubAction returns the cost of a click.
func (c SubActions) PriceSubAction(ctx context.Context, interaction string, body json.RawMessage) (api.SubActionPrice, error) {
	return sendJSON[api.SubActionPrice](ctx, c.transport, request{method: http.MethodPost, path: at("/api/interactions/", interaction, "/price"), body: body})
}

// SubAction returns a sub-action with its results.
func (c SubActions) SubAction(ctx context.Context, id string) (api.SubAction, error) {
	return get[api.SubAction](ctx, c.transport, at("/api/sub-actions/", id, ""))
}

// ListSubActions lists the sub-actions of a run, oldest first.
func (c SubActions) ListSubActions(ctx context.Context, run string, p api.Page) (api.List[api.SubAction], error) {
	return list[api.SubAction](ctx, c.transport, at("/api/workflow-runs/", run, "/sub-actions"), p)
}

// CancelSubAction cancels a sub-action.
func (c SubActions) CancelSubAction(ctx context.Context, id string) (api.SubAction, error) {
	return sendJSON[api.SubAction](ctx, c.transport, request{method: http.MethodPost, path: at("/api/sub-actions/", id, "/cancel")})
}

// RetrySubAction retries failed results of a sub-action.
func (c SubActions) RetrySubAction(ctx context.Context, id string, r api.SubActionRetry) (api.SubAction, error) {
	return sendJSON[api.SubAction](ctx, c.transport, request{method: http.MethodPost, path: at("/api/sub-actions/", id, "/retry"), body: r, needsKey: true})
}

// FollowSubAction returns the events of a sub-action after a number, up to the last one. If the connection is lost, it
// returns an error: call it again with the last number.
func (c SubActions) FollowSubAction(ctx context.Context, id string, after int) iter.Seq2[api.SubActionEvent, error] {
	return func(yield func(api.SubActionEvent, error) bool) {
		r := request{method: http.MethodGet, path: at("/api/sub-actions/", id, "/stream"), query: url.Values{"after": {strconv.Itoa(after)}}}
		more := true
		err := c.subActionEvents(ctx, r, nil, func(e api.SubActionEvent) bool {
			more = yield(e, nil)
			return more
		})
		if more && err != nil {
			yield(api.SubActionEvent{}, err)
		}
	}
}

// subActionEvents passes the events of a stream to take until take returns false. A stream that ends before its last
// event is an error.
func (c SubActions) subActionEvents(ctx context.Context, r request, body []byte, take func(api.SubActionEvent) bool) error {
	res, err := c.once(ctx, r, body)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // read as far as it arrived
	in, last := api.NewEventReader(res.Body), ""
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) && (last == "complete" || last == "error") {
			return nil
		}
		if err != nil {
			return broken(ctx, r.method+" "+r.path, err)
		}
		var of struct {
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(e.Data, &of); err != nil {
			return media.Errorf(media.CodeBadResponse, "read an event of a sub-action: %w", err)
		}
		last = e.Kind
		if !take(api.SubActionEvent{ID: int(e.ID), Type: e.Kind, Data: of.Data}) {
			return nil
		}
	}
}
