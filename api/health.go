package api

import (
	"context"
	"net/http"

	"atelier/media"
)

// HealthService reports the state of the process.
type HealthService interface {
	// Ready returns nil if the process can work. Otherwise, the error states the reason for people.
	Ready(ctx context.Context) error
	// Health describes the configuration of the process.
	Health(ctx context.Context) (Health, error)
}

// Health describes the server's configuration.
type Health struct {
	Status  string   `json:"status" enum:"ok"`
	Version string   `json:"version"`
	Offline bool     `json:"offline" doc:"No provider has a key: offline models are used."`
	Notes   []string `json:"notes" nullable:"false" doc:"Messages about the configuration, for people."`
	Token   string   `json:"token,omitempty" doc:"The name of the request's access token, if the server requires one."`
}

// registerHealth registers the health checks; h may be nil.
func registerHealth(rt *routes, h HealthService, version string) {
	rt.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") })
	if h == nil {
		return
	}
	rt.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := h.Ready(r.Context()); err != nil {
			plain(w, http.StatusServiceUnavailable, media.ErrorText(err.Error()))
			return
		}
		plain(w, http.StatusOK, "ready")
	})
	handle(rt, on(http.MethodGet, "/api/health", "Get health", "health"), func(ctx context.Context, _ *struct{}) (*answer[Health], error) {
		v, err := h.Health(ctx)
		v.Status, v.Version, v.Notes, v.Token = "ok", version, append([]string{}, v.Notes...), IdentityOf(ctx).Name
		return found(v, err)
	})
}
