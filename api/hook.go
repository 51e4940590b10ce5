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

// HookService accepts webhook calls from providers.
type HookService interface {
	// AdmitHook authenticates a call before its body is read. The error has code media.CodeNotFound for a provider
	// without webhooks, and media.CodeUnauthorized for a call that does not come from the provider.
	AdmitHook(provider string, header http.Header, query url.Values) error
	// Notify handles an admitted call. It verifies a signature of the body.
	Notify(ctx context.Context, provider string, h Hook) error
}

// Hook is one webhook call.
type Hook struct {
	Header http.Header
	Query  url.Values
	Body   []byte
}

const (
	// maxHook is the maximum size of the body of a webhook call, in bytes.
	maxHook = 1 << 20
	// readHookWithin is the timeout for reading the body.
	readHookWithin = 30 * time.Second
)

// registerHooks registers the address at which providers report finished tasks.
func registerHooks(rt *routes, hooks HookService) {
	rt.mux.HandleFunc("POST /hooks/{provider}", func(w http.ResponseWriter, r *http.Request) {
		if err := takeHook(w, r, hooks); err != nil {
			writeProblem(w, r, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

func takeHook(w http.ResponseWriter, r *http.Request, hooks HookService) error {
	provider, query := r.PathValue("provider"), r.URL.Query()
	if err := hooks.AdmitHook(provider, r.Header, query); err != nil {
		w.Header().Set("Connection", "close") // the body is not read
		return err
	}
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(readHookWithin)) //nolint:forbidigo // a connection deadline; test recorders have none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHook))
	if err != nil {
		if _, big := errors.AsType[*http.MaxBytesError](err); big {
			return tooLarge(maxHook)
		}
		return media.Errorf(media.CodeInvalid, "the webhook call cannot be read")
	}
	_ = deadline.SetReadDeadline(time.Time{})
	return hooks.Notify(r.Context(), provider, Hook{Header: r.Header, Query: query, Body: body})
}
