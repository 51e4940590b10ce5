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
	"time"

	"atelier/internal/disk"
	"atelier/ledger"
	"atelier/ledger/postgres"
	"atelier/ledger/sqlite"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/fileblob"
	"atelier/media/wire"
	"atelier/run/durable"
)

// Stores holds the stored data: bytes, records and the signing key. A program that only reads can open Stores alone,
// without models or a catalogue.
type Stores struct {
	// Config is the configuration, with defaults.
	Config Config
	// Blobs holds the bytes by digest.
	Blobs *blob.Store
	// Ledger holds the records.
	Ledger Ledger

	key wire.Key
}

// Ledger is a store of records that knows its location.
type Ledger interface {
	ledger.Store
	// Place returns the file or the database, without a password.
	Place() string
}

// incompleteUploadTTL is how long an incomplete upload is kept. No upload takes this long.
const incompleteUploadTTL = 24 * time.Hour

// OpenStores opens the data folder and the database, and creates what is missing. The caller must close the Stores.
func OpenStores(ctx context.Context, c Config) (*Stores, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "open the data folder: %w (set ATELIER_DATA to a writable folder)", err)
	}
	driver := c.BlobDriver
	if driver == nil {
		if driver, err = fileblob.New(filepath.Join(c.Dir, "blobs")); err != nil {
			return nil, err
		}
	}
	blobs, err := blob.New(blob.Config{Driver: driver})
	if err != nil {
		return nil, err
	}
	if _, err := blobs.Sweep(ctx, incompleteUploadTTL); err != nil && ctx.Err() == nil {
		return nil, err
	}
	key, err := signingKey(filepath.Join(c.Dir, "wire.key"))
	if err != nil {
		return nil, err
	}
	s := &Stores{Config: c, Blobs: blobs, key: key}
	if c.DatabaseURL == "" {
		s.Ledger, err = sqlite.Open(ctx, sqlite.Config{Path: c.LedgerFile()})
	} else if s.Ledger, err = postgres.Open(ctx, postgres.Config{URL: c.DatabaseURL, Patience: max(c.DatabaseWait, 0)}); err != nil {
		err = media.Errorf(media.CodeOf(err), "%s: %w", databaseVariable, err)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the database.
func (s *Stores) Close() error { return s.Ledger.Close() }

// signingKey reads or creates the deployment's key for wire tokens. Two processes that start at the same time get the
// same key.
func signingKey(path string) (wire.Key, error) {
	for range 2 {
		b, err := os.ReadFile(path) //nolint:gosec // a fixed name in the data folder
		if err == nil {
			id, hexed, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
			secret, err := hex.DecodeString(hexed)
			if err != nil || len(secret) < 32 {
				return wire.Key{}, media.Errorf(media.CodeCorrupt, "the signing key %s is damaged: move it to another folder, and Atelier creates a new one", path)
			}
			return wire.Key{ID: id, Secret: secret}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return wire.Key{}, media.Errorf(media.CodeInvalid, "read the signing key: %w", err)
		}
		var secret [32]byte
		_, _ = rand.Read(secret[:]) // it never fails
		err = disk.Create(path, []byte("k1 "+hex.EncodeToString(secret[:])+"\n"))
		if err != nil && !errors.Is(err, fs.ErrExist) { // or another process was faster
			return wire.Key{}, disk.Error("create the signing key", err)
		}
	}
	return wire.Key{}, media.Errorf(media.CodeInternal, "read the signing key %s: it was removed while it was being created", path)
}

// Engine opens the durable engine next to the ledger: in the same database, or in a file in the same folder. The caller
// must close it. The runs of an Atelier open their own engine.
func (a *Atelier) Engine(ctx context.Context, takesOver bool) (*durable.Engine, error) {
	healthy := func(ctx context.Context) error {
		_, err := a.Ledger.Version(ctx)
		return err
	}
	if path := a.Config.LedgerFile(); a.Config.DatabaseURL == "" { // SQLite keeps using a file that was removed
		opened, err := os.Stat(path)
		if err != nil {
			return nil, disk.Error("find the ledger", err)
		}
		readable := healthy
		healthy = func(ctx context.Context) error {
			if now, err := os.Stat(path); err != nil || !os.SameFile(opened, now) {
				return media.Errorf(media.CodeUnavailable, "the ledger %s: %w: restore it", path, durable.ErrGone)
			}
			return readable(ctx)
		}
	}
	return durable.Open(ctx, durable.Config{
		Path: filepath.Join(a.Config.Dir, "engine.db"), DatabaseURL: a.Config.DatabaseURL,
		Leases: a.leases, Adopts: takesOver,
		Limit: a.Config.RunsAtOnce, Patience: max(a.Config.DatabaseWait, 0), Healthy: healthy,
	})
}
