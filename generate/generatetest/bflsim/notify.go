package bflsim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"time"

	"atelier/generate"
	"atelier/generate/generatetest"
)

// Begun lists the names of all tasks, also of those whose answer was lost, oldest first.
func (s *Simulator) Begun() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.tasks))
}

// Notifications ends a task that has a webhook and lists the calls that are made for
// it, in order: its end, and the repeat after an answer that was lost. A task that is
// not there, or has no webhook, has none.
func (s *Simulator) Notifications(id string) []generate.Notification {
	s.mu.Lock()
	t, ok := s.tasks[id]
	var said map[string]any
	if ok {
		t.over, said = true, t.final()
	}
	s.mu.Unlock()
	if !ok || t.request.webhook == "" {
		return nil
	}
	body := map[string]any{"id": id, "status": said["status"], "result": said["result"], "timestamp": s.config.Now().Format(time.RFC3339)}
	if t.fault.Fault == generatetest.FaultTaskFailed {
		body["status"], body["error"], body["message"] = "Error", "generation_failed", "The worker ran out of memory."
	}
	raw, _ := json.Marshal(body) // texts and numbers
	header := map[string][]string{"Content-Type": {"application/json"}}
	if t.request.secret != "" {
		mac := hmac.New(sha256.New, []byte(t.request.secret))
		_, _ = mac.Write(raw) // a hash does not fail
		header["X-Bfl-Signature"] = []string{"sha256=" + hex.EncodeToString(mac.Sum(nil))}
	}
	once := generate.Notification{Header: header, Body: raw}
	if at, err := url.Parse(t.request.webhook); err == nil {
		once.Query = at.Query()
	}
	return []generate.Notification{once, once}
}
