package bflsim

import (
	"encoding/json"
	"io"
	"net/http"

	"atelier/generate/generatetest"
)

// state is the body of a poll: every key is there.
func state(id, status string, result, details any) map[string]any {
	return map[string]any{"id": id, "status": status, "result": result, "progress": nil, "details": details, "preview": nil}
}

// final is the last state of a task.
func (t *task) final() map[string]any {
	switch t.fault.Fault {
	case generatetest.FaultModerated:
		return refusal(t.id, t.fault.Variant)
	case generatetest.FaultTaskFailed:
		return failure(t.id, t.fault.Variant)
	case generatetest.FaultEmpty:
		if t.fault.Variant%2 == 1 {
			return state(t.id, "Ready", map[string]any{"prompt": t.request.prompt}, nil)
		}
		return state(t.id, "Ready", nil, nil)
	default:
	}
	return state(t.id, "Ready", map[string]any{
		"sample": t.link, "prompt": t.request.read(), "seed": *t.request.seed, "start_time": 1763726400.25,
	}, nil)
}

// download gives a picture while its link lives. It wants no key: it is another service.
func (s *Simulator) download(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Key") == "" && s.shelf.Serve(w, r.PathValue("name"), s.config.Now()) {
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusForbidden)
	_, _ = io.WriteString(w, `<?xml version="1.0" encoding="utf-8"?><Error><Code>AuthenticationFailed</Code><Message>Server failed to authenticate the request.</Message></Error>`)
}

// write answers JSON.
func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// detail answers an error of one text.
func detail(w http.ResponseWriter, status int, text string) {
	write(w, status, map[string]string{"detail": text})
}
