// Package token stores the access tokens of a server in a folder: one file per token, with the
// SHA-256 of the secret instead of the secret itself. Several processes may use one folder.
package token

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"atelier/internal/disk"
	"atelier/media"
)

// Scope is what a token permits. Each scope includes the previous ones.
type Scope string

// The scopes.
const (
	ScopeRead  Scope = "read"
	ScopeRun   Scope = "run"
	ScopeAdmin Scope = "admin"
)

// Scopes returns all scopes, the narrowest first.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeRun, ScopeAdmin} }

// Token describes a token. Its secret is shown once, when it is created.
type Token struct {
	Name string `json:"name"`
	// Owner is the person whose runs and media the token can access.
	Owner     string    `json:"owner"`
	Scope     Scope     `json:"scope"`
	CreatedAt time.Time `json:"created_at"`
	// ExpiresAt is zero for a token that does not expire.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// Expired reports whether a token has expired at a given time.
func (t Token) Expired(now time.Time) bool { return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt) }

// record is a token as stored.
type record struct {
	Token
	SHA256 string `json:"sha256"`
}

// Folder is the name of the token folder in a data folder.
const Folder = "tokens"

// Store is a folder of tokens. It is safe for concurrent use, also by several processes.
type Store struct{ dir string }

// Open returns the store in a folder, which need not exist yet.
func Open(dir string) Store { return Store{dir} }

// prefix lets secret scanners recognize tokens.
const prefix = "atl_"

// word is the form of a name or an owner.
var word = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// Create saves a new token and returns its secret, which has 256 random bits. The error has code
// media.CodeInvalid for an invalid field and media.CodeConflict for a name that is in use.
func (s Store) Create(t Token) (secret string, err error) {
	switch {
	case !word.MatchString(t.Name):
		return "", media.Errorf(media.CodeInvalid, "the name %.80q: use 1 to 64 lower-case letters, digits, dots, dashes and underscores", t.Name)
	case !word.MatchString(t.Owner):
		return "", media.Errorf(media.CodeInvalid, "the owner %.80q: use 1 to 64 lower-case letters, digits, dots, dashes and underscores", t.Owner)
	case !slices.Contains(Scopes(), t.Scope):
		return "", media.Errorf(media.CodeInvalid, "the scope %.80q: use read, run or admin", t.Scope)
	}
	var random [32]byte
	_, _ = rand.Read(random[:]) // it never fails
	secret = prefix + base64.RawURLEncoding.EncodeToString(random[:])
	b, err := json.MarshalIndent(record{t, digest(secret)}, "", "  ")
	if err != nil {
		return "", media.Errorf(media.CodeInternal, "write a token: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", disk.Error("create the token folder", err)
	}
	err = disk.Create(s.path(t.Name), append(b, '\n'))
	switch {
	case errors.Is(err, fs.ErrExist):
		err = media.Errorf(media.CodeConflict, "the token %s already exists: revoke it first, or choose another name", t.Name)
	case err != nil:
		err = disk.Error("write a token", err)
	}
	return secret, err
}

func (s Store) path(name string) string { return filepath.Join(s.dir, name+".json") }

// List returns all tokens sorted by name, including expired ones.
func (s Store) List() ([]Token, error) {
	all, err := s.records()
	out := []Token{}
	for _, r := range all {
		out = append(out, r.Token)
	}
	return out, err
}

// Revoke deletes a token. The error has code media.CodeNotFound if there is no such token.
func (s Store) Revoke(name string) error {
	err := fs.ErrNotExist
	if word.MatchString(name) {
		err = os.Remove(s.path(name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return media.Errorf(media.CodeNotFound, "there is no token %.80q: see `atelier tokens list`", name)
	}
	if err != nil {
		return disk.Error("revoke a token", err)
	}
	return nil
}

// Find returns the token with the given secret. The error has code media.CodeUnauthorized if there
// is no such token, or if it has expired.
func (s Store) Find(secret string, now time.Time) (Token, error) {
	all, err := s.records()
	sum := []byte(digest(secret))
	for _, r := range all {
		if subtle.ConstantTimeCompare([]byte(r.SHA256), sum) != 1 {
			continue
		}
		if r.Expired(now) {
			return Token{}, media.Errorf(media.CodeUnauthorized, "the access token %s has expired", r.Name)
		}
		return r.Token, nil
	}
	return Token{}, cmp.Or(err, error(media.Errorf(media.CodeUnauthorized, "the access token is unknown or was revoked")))
}

// records reads all files; the error is that of the first damaged one, which does not affect the others. It is called for
// each request: there are few files, and a revocation takes effect with the next request.
func (s Store) records() (out []record, damaged error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, disk.Error("read the tokens", err)
	}
	for _, e := range entries {
		name, isToken := strings.CutSuffix(e.Name(), ".json")
		if !isToken {
			continue
		}
		b, err := os.ReadFile(s.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was just revoked
		}
		var r record
		if err == nil {
			err = json.Unmarshal(b, &r)
		}
		if err != nil || r.Name != name || len(r.SHA256) != hex.EncodedLen(sha256.Size) {
			damaged = cmp.Or(damaged, error(media.Errorf(media.CodeCorrupt, "the token file %s is damaged: delete it and create the token again", s.path(name))))
			continue
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b record) int { return cmp.Compare(a.Name, b.Name) })
	return out, damaged
}

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
