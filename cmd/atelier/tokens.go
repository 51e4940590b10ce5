package main

import (
	"path/filepath"
	"time"

	"atelier"
	"atelier/internal/token"
	"atelier/ledger"
	"atelier/media"
)

// tokensCmd manages the access tokens of a server that others can reach.
type tokensCmd struct {
	Create tokensCreateCmd `cmd:"" help:"Create a token and print its secret, which cannot be shown again."`
	List   tokensListCmd   `cmd:"" help:"List the tokens, without their secrets."`
	Revoke tokensRevokeCmd `cmd:"" help:"Delete a token. It is refused from the next request on."`
}

// tokens opens the tokens of the data folder.
func (w *world) tokens() (token.Store, error) {
	cfg, err := atelier.ConfigFromEnv(w.env)
	return token.Open(filepath.Join(cfg.Dir, token.Folder)), err
}

type tokensCreateCmd struct {
	Name  string `arg:"" help:"A name for the token, for example phone."`
	Scope string `help:"The permissions: read, run (also start, upload, change and delete) or admin (also the metrics)." enum:"read,run,admin" default:"run"`
	Owner string `help:"The owner of the runs and media that the token gives access to; local is the owner of the command line." default:"local"`
	Days  int    `help:"Days until it expires; 0 means never." default:"365"`
}

// tokenView is a token as JSON. Only its creation shows the secret.
type tokenView struct {
	token.Token
	Secret  string `json:"secret,omitempty"`
	Expired bool   `json:"expired,omitempty"`
}

func (c *tokensCreateCmd) Run(w *world) error {
	if c.Days < 0 || c.Days > 36500 {
		return media.Errorf(media.CodeInvalid, "--days is %d: give 0 to 36500", c.Days)
	}
	s, err := w.tokens()
	if err != nil {
		return err
	}
	t := token.Token{Name: c.Name, Owner: c.Owner, Scope: token.Scope(c.Scope), CreatedAt: time.Now().UTC().Truncate(time.Second)} //nolint:forbidigo // the clock of the command line
	if c.Days > 0 {
		t.ExpiresAt = t.CreatedAt.AddDate(0, 0, c.Days)
	}
	secret, err := s.Create(t)
	if err != nil {
		return err
	}
	return w.print(tokenView{Token: t, Secret: secret}, func() {
		w.line("%s", secret)
		w.note("this secret cannot be shown again. Programs send it as Authorization: Bearer; in a browser, enter it at /login. To revoke it: atelier tokens revoke %s", t.Name)
	})
}

type tokensListCmd struct{}

func (c *tokensListCmd) Run(w *world) error {
	s, err := w.tokens()
	if err != nil {
		return err
	}
	all, err := s.List()
	if err != nil {
		return err
	}
	now := time.Now() //nolint:forbidigo // the clock of the command line
	views := []tokenView{}
	for _, t := range all {
		views = append(views, tokenView{Token: t, Expired: t.Expired(now)})
	}
	return w.print(ledger.List[tokenView]{Items: views}, func() {
		for _, v := range views {
			end := "never expires"
			switch {
			case v.Expired:
				end = "expired " + localTime(v.ExpiresAt)
			case !v.ExpiresAt.IsZero():
				end = "expires " + localTime(v.ExpiresAt)
			}
			w.line("%s  %s  owner %s  %s", v.Name, v.Scope, v.Owner, end)
		}
		if len(views) == 0 {
			w.note("there are no tokens: create one with `atelier tokens create NAME`")
		}
	})
}

type tokensRevokeCmd struct {
	Name string `arg:"" help:"The token's name."`
}

func (c *tokensRevokeCmd) Run(w *world) error {
	s, err := w.tokens()
	if err != nil {
		return err
	}
	if err := s.Revoke(c.Name); err != nil {
		return err
	}
	return w.print(map[string]string{"revoked": c.Name}, func() { w.line("revoked %s", c.Name) })
}
