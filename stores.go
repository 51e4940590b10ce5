package atelier

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"atelier/blob"
	"atelier/blob/fileblob"
	"atelier/ledger"
	"atelier/ledger/postgres"
	"atelier/ledger/sqlite"
	"atelier/media"
	"atelier/wire"
)

// Stores are what is kept: bytes, records and the signing key. A program that only reads opens
// them alone, which needs no model and no catalogue.
type Stores struct {
	// Config is the one that they were opened with, its defaults filled in.
	Config Config
	// Blobs has the bytes, by digest.
	Blobs *blob.Store
	// Ledger has the records.
	Ledger Ledger

	key wire.Key
}

// Ledger is a store of records that can say where it is.
type Ledger interface {
	ledger.Store
	// Place names the file or the database, without a password.
	Place() string
}

// halfUploads is how long what an upload left stays; no upload takes so long.
const halfUploads = 24 * time.Hour

// OpenStores opens the data folder and the database, and makes what is missing. The caller
// closes them.
func OpenStores(ctx context.Context, c Config) (*Stores, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "open the data folder: %w (set ATELIER_DATA to a folder that can be written)", err)
	}
	driver, err := fileblob.New(filepath.Join(c.Dir, "blobs"))
	if err != nil {
		return nil, err
	}
	blobs, err := blob.New(blob.Config{Driver: driver})
	if err != nil {
		return nil, err
	}
	if _, err := blobs.Sweep(ctx, halfUploads); err != nil && ctx.Err() == nil {
		return nil, err
	}
	key, err := signingKey(filepath.Join(c.Dir, "wire.key"))
	if err != nil {
		return nil, err
	}
	l, err := openLedger(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Stores{Config: c, Blobs: blobs, Ledger: l, key: key}, nil
}

// Close closes the database.
func (s *Stores) Close() error { return s.Ledger.Close() }

// openLedger opens PostgreSQL where the configuration names one, else a file in the data folder.
func openLedger(ctx context.Context, c Config) (Ledger, error) {
	if c.DatabaseURL == "" {
		return sqlite.Open(ctx, sqlite.Config{Path: c.LedgerFile()})
	}
	l, err := postgres.Open(ctx, postgres.Config{URL: c.DatabaseURL, Patience: max(c.DatabaseWait, 0)})
	if err != nil {
		return nil, media.Errorf(media.CodeOf(err), "%s: %w", databaseVariable, err)
	}
	return l, nil
}

// signingKey reads the deployment's key for wire tokens, or makes it. Two processes
// that start at once end up with the same one.
func signingKey(path string) (wire.Key, error) {
	for range 2 {
		b, err := os.ReadFile(path) //nolint:gosec // a fixed name in the data folder
		if err == nil {
			return parseKey(path, string(b))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return wire.Key{}, media.Errorf(media.CodeInvalid, "read the signing key: %w", err)
		}
		if err := makeKey(path); err != nil {
			return wire.Key{}, err
		}
	}
	return wire.Key{}, media.Errorf(media.CodeInternal, "read the signing key %s: it vanished while it was made", path)
}

func parseKey(path, text string) (wire.Key, error) {
	id, hexed, _ := strings.Cut(strings.TrimSpace(text), " ")
	secret, err := hex.DecodeString(hexed)
	if err != nil || len(secret) < 32 {
		return wire.Key{}, media.Errorf(media.CodeCorrupt, "the signing key %s is damaged: move it away, and a new one is made", path)
	}
	return wire.Key{ID: id, Secret: secret}, nil
}

// makeKey writes a whole key file and links it into place, so that only one wins.
func makeKey(path string) error {
	var secret [32]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return media.Errorf(media.CodeInternal, "make the signing key: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return DiskError("make the signing key", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString("k1 " + hex.EncodeToString(secret[:]) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return DiskError("make the signing key", err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return DiskError("make the signing key", err)
	}
	return nil
}

// DiskError gives an error of the file system its code: media.CodeDiskFull or, with advice,
// media.CodeInvalid. what says what was being done.
func DiskError(what string, err error) error {
	var own *media.Error
	switch {
	case errors.As(err, &own):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return media.Errorf(media.CodeDiskFull, "%s: no space left: free some, or set ATELIER_DATA to another disk: %w", what, err)
	}
	return media.Errorf(media.CodeInvalid, "%s: %w (choose a place that can be written)", what, err)
}
