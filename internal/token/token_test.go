package token_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/internal/token"
	"atelier/media"
)

var day = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// TestTokens: a token is created, found by its secret only, listed, expired and revoked.
func TestTokens(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tokens")
	s := token.Open(dir)
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Fatalf("an empty folder: %v %v", list, err)
	}
	phone := token.Token{Name: "phone", Owner: "local", Scope: token.ScopeRun, CreatedAt: day, ExpiresAt: day.Add(time.Hour)}
	secret, err := s.Create(phone)
	if err != nil || len(secret) < 40 {
		t.Fatal(secret, err)
	}
	other, err := s.Create(token.Token{Name: "backup", Owner: "bob", Scope: token.ScopeRead, CreatedAt: day})
	if err != nil || other == secret {
		t.Fatal(err)
	}
	if got, err := s.Find(secret, day); err != nil || got != phone {
		t.Errorf("%+v %v", got, err)
	}
	if list, err := s.List(); err != nil || len(list) != 2 || list[0].Name != "backup" || list[1] != phone {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := s.Create(phone); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("the same name: %v", err)
	}
	for name, given := range map[string]string{"none": "", "part": secret[:len(secret)-1], "more": secret + "A", "the name": "phone"} {
		if _, err := s.Find(given, day); media.CodeOf(err) != media.CodeUnauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Find(secret, day.Add(time.Hour)); media.CodeOf(err) != media.CodeUnauthorized || !strings.Contains(err.Error(), "expired") {
		t.Errorf("expired: %v", err)
	}
	if _, err := s.Find(other, day.Add(1000*time.Hour)); err != nil {
		t.Errorf("without an end: %v", err)
	}
	if err := s.Revoke("phone"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(secret, day); media.CodeOf(err) != media.CodeUnauthorized {
		t.Errorf("revoked: %v", err)
	}
	for _, name := range []string{"phone", "../tokens/backup", ""} {
		if err := s.Revoke(name); media.CodeOf(err) != media.CodeNotFound {
			t.Errorf("revoke %q: %v", name, err)
		}
	}
}

// TestNoSecretIsKept: the files have the mode 0600 and do not contain the secret.
func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tokens")
	secret, err := token.Open(dir).Create(token.Token{Name: "a", Owner: "local", Scope: token.ScopeRead})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	path := filepath.Join(dir, entries[0].Name())
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	b, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(b), strings.TrimPrefix(secret, "atl_")) {
		t.Errorf("%s %v", b, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := token.Open(dir).Create(token.Token{Name: "b", Owner: "local", Scope: token.ScopeRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := token.Open(dir).Find(secret, day); media.CodeOf(err) != media.CodeCorrupt {
		t.Errorf("a damaged file: %v", err)
	}
	if got, err := token.Open(dir).Find(other, day); err != nil || got.Name != "b" {
		t.Errorf("another token beside a damaged file: %+v, %v", got, err)
	}
}

// TestOneOfManyCreates: concurrent creations under one name make one token.
func TestOneOfManyCreates(t *testing.T) {
	t.Parallel()
	s := token.Open(t.TempDir())
	var all sync.WaitGroup
	var made atomic.Int32
	for range 20 {
		all.Go(func() {
			if _, err := s.Create(token.Token{Name: "a", Owner: "local", Scope: token.ScopeRun}); err == nil {
				made.Add(1)
			} else if media.CodeOf(err) != media.CodeConflict {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d were made", made.Load())
	}
}

// TestBadTokens: invalid names, owners and scopes are refused.
func TestBadTokens(t *testing.T) {
	t.Parallel()
	s := token.Open(t.TempDir())
	for name, bad := range map[string]token.Token{
		"no name": {Owner: "local", Scope: token.ScopeRun}, "a path": {Name: "../x", Owner: "local", Scope: token.ScopeRun}, "hidden": {Name: ".x", Owner: "local", Scope: token.ScopeRun},
		"no owner": {Name: "a", Scope: token.ScopeRun}, "no scope": {Name: "a", Owner: "local"}, "another scope": {Name: "a", Owner: "local", Scope: "root"},
	} {
		if _, err := s.Create(bad); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
