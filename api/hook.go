package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"atelier/media"
)

// HookService accepts webhook calls of providers.
type HookService interface {
	// AdmitHook authenticates a call before its body is read. The error has code media.CodeNotFound
	// for a provider without webhooks, media.CodeUnauthorized for a call that is not the
	// provider's.
	AdmitHook(provider string, header http.Header, query url.Values) error
	// Notify handles an admitted call. A signature of the body is checked here.
	Notify(ctx context.Context, provider string, h Hook) error
}

// Hook is one call of a webhook.
type Hook struct {
	Header http.Header
	Query  url.Values
	Body   []byte
}

const (
	// maxHook is the maximum body of a webhook call.
	maxHook = 1 << 20
	// readHookWithin is the timeout for reading it.
	readHookWithin = 30 * time.Second
)

// hookResource is where providers report finished tasks.
type hookResource struct{ hooks HookService }

func (h hookResource) register(rt *routes) {
	rt.mux.HandleFunc("POST /hooks/{provider}", func(w http.ResponseWriter, r *http.Request) {
		if err := h.take(w, r); err != nil {
			refuse(w, r, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

func (h hookResource) take(w http.ResponseWriter, r *http.Request) error {
	provider, query := r.PathValue("provider"), r.URL.Query()
	if err := h.hooks.AdmitHook(provider, r.Header, query); err != nil {
		w.Header().Set("Connection", "close") // the body is not read
		return err
	}
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(readHookWithin)) //nolint:forbidigo // a deadline of the connection; recorders have none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHook))
	if err != nil {
		if _, big := errors.AsType[*http.MaxBytesError](err); big {
			return tooLarge(maxHook)
		}
		return media.Errorf(media.CodeInvalid, "the webhook call cannot be read")
	}
	_ = deadline.SetReadDeadline(time.Time{})
	return h.hooks.Notify(r.Context(), provider, Hook{Header: r.Header, Query: query, Body: body})
}
