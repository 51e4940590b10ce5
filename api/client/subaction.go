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

// StartSubAction disconnects after the first event, which has the metadata_id.
func (c subActions) StartSubAction(ctx context.Context, run, key string, body json.RawMessage) (string, error) {
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

func (c subActions) PriceSubAction(ctx context.Context, interaction string, body json.RawMessage) (api.SubActionPrice, error) {
	return sendJSON[api.SubActionPrice](ctx, c.transport, request{method: http.MethodPost, path: at("/api/interactions/", interaction, "/price"), body: body})
}

func (c subActions) SubAction(ctx context.Context, id string) (api.SubAction, error) {
	return get[api.SubAction](ctx, c.transport, at("/api/sub-actions/", id, ""))
}

func (c subActions) ListSubActions(ctx context.Context, run string, p api.Page) (api.List[api.SubAction], error) {
	return list[api.SubAction](ctx, c.transport, at("/api/workflow-runs/", run, "/sub-actions"), p)
}

func (c subActions) CancelSubAction(ctx context.Context, id string) (api.SubAction, error) {
	return sendJSON[api.SubAction](ctx, c.transport, request{method: http.MethodPost, path: at("/api/sub-actions/", id, "/cancel")})
}

func (c subActions) RetrySubAction(ctx context.Context, id string, r api.SubActionRetry) (api.SubAction, error) {
	return sendJSON[api.SubAction](ctx, c.transport, request{method: http.MethodPost, path: at("/api/sub-actions/", id, "/retry"), body: r, needsKey: true})
}

func (c subActions) FollowSubAction(ctx context.Context, id string, after int) iter.Seq2[api.SubActionEvent, error] {
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
func (c subActions) subActionEvents(ctx context.Context, r request, body []byte, take func(api.SubActionEvent) bool) error {
	res, err := c.once(ctx, r, body)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // read as far as it arrived
	in, last := newEventReader(res.Body), ""
	for {
		e, err := in.next()
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
