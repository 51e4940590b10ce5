package atelier

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"path/filepath"
	"sync"

	"atelier/api"
	"atelier/internal/token"
	"atelier/media"
)

// owner returns the owner of the request's token or of the scope of ctx, or the owner of the configuration.
func (s *Stores) owner(ctx context.Context) string {
	return cmp.Or(api.IdentityOf(ctx).Owner, media.ScopeOf(ctx).Owner, s.Config.Owner)
}

// tokens returns the access tokens of the server.
func (s *Stores) tokens() token.Store { return token.Open(filepath.Join(s.Config.Dir, token.Folder)) }

// NeedsTokens reports whether requests to an address require an access token. They do if other machines can reach the
// address, or if Config.PublicURL is set. The error has code media.CodeInvalid if tokens are required and none is
// valid.
func (s *Stores) NeedsTokens(at net.Addr) (bool, error) {
	tcp, ok := at.(*net.TCPAddr)
	if ok && tcp.IP.IsLoopback() && s.Config.PublicURL == "" {
		return false, nil
	}
	all, err := s.tokens().List()
	if err != nil {
		return true, err
	}
	for _, t := range all {
		if !t.Expired(now()) {
			return true, nil
		}
	}
	reason := "other machines can reach " + at.String()
	if s.Config.PublicURL != "" {
		reason = "ATELIER_PUBLIC_URL says that other machines can reach the server"
	}
	return true, media.Errorf(media.CodeInvalid, "%s, but there is no valid access token: create one with `atelier tokens create NAME`, or listen on 127.0.0.1 without ATELIER_PUBLIC_URL", reason)
}

// servedTokens implements the access tokens of the API.
type servedTokens struct{ store token.Store }

// Identify returns the identity of a secret.
func (s servedTokens) Identify(_ context.Context, secret string) (api.Identity, error) {
	t, err := s.store.Find(secret, now())
	return api.Identity{Name: t.Name, Owner: t.Owner, Scope: api.Scope(t.Scope)}, err
}

// deriveSecret returns a secret for one purpose. It is the same in every process of the data folder.
func (s *Stores) deriveSecret(purpose string) string {
	mac := hmac.New(sha256.New, s.key.Secret)
	_, _ = mac.Write([]byte("atelier " + purpose)) // a hash does not fail
	return hex.EncodeToString(mac.Sum(nil))
}

// hubs holds the event streams, one hub for each owner that follows events.
type hubs struct {
	server *server
	ctx    context.Context //nolint:containedctx // the hubs end with the server, not with a request

	mu  sync.Mutex // guards all
	all map[string]*api.Hub
}

// hubFor returns the hub of the owner of a request.
func (h *hubs) hubFor(ctx context.Context) *api.Hub {
	owner := h.server.owner(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	hub, ok := h.all[owner]
	if !ok {
		hub = api.NewHub(servedEvents{h.server.Atelier, owner, h.server.multiTenant})
		h.all[owner] = hub
		h.server.work.Go(func() { hub.Run(h.ctx) })
	}
	return hub
}

// ConversationOf returns the conversation of a run tree. If there are several owners, the error for a tree of another
// owner has code media.CodeNotFound.
func (s servedEvents) ConversationOf(ctx context.Context, tree string) (string, error) {
	for flushed := false; ; flushed = true {
		c, err := s.Ledger.ConversationOf(ctx, s.streamOwner, tree)
		if err != nil || c != "" || !s.multiTenant {
			return c, err
		}
		_, err = s.Ledger.Run(ctx, s.streamOwner, tree)
		if flushed || media.CodeOf(err) != media.CodeNotFound {
			return "", err
		}
		if known, failed := s.Ledger.HasRun(ctx, tree); known || failed != nil {
			return "", cmp.Or(failed, err)
		}
		if err := s.observer.Flush(ctx); err != nil { // the run has just started
			return "", err
		}
	}
}
