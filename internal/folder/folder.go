// Package folder writes stored files into folders, where the actions of agents read them, and names them.
//
// Errors are those of the blob store and of the disk. It may import agent, blob, ledger, media and internal/disk.
package folder

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"atelier/media/blob"

	"atelier/agent/resolve"
	"atelier/internal/disk"
	"atelier/ledger"
	"atelier/media"
)

// Store creates folders.
type Store struct {
	// Dir is the parent directory of the folders.
	Dir   string
	Blobs *blob.Store
}

// Materialize writes files into a folder for runs and returns their names in it. The folder is named after its
// contents, so that runs with the same files share it. It is kept, because a run can be retried at any time.
func (s Store) Materialize(ctx context.Context, records []ledger.Record) (dir string, names []string, err error) {
	files, sum := map[string]media.Digest{}, sha256.New()
	for _, r := range records {
		name := Free(NameOf(r.Output), r.Digest, files)
		if _, there := files[name]; !there {
			_, _ = io.WriteString(sum, name+"\x00"+r.Digest.String()+"\x00") // a hash never fails
		}
		files[name], names = r.Digest, append(names, name)
	}
	dir = filepath.Join(s.Dir, hex.EncodeToString(sum.Sum(nil)[:16]))
	if _, err := os.Stat(dir); err == nil {
		return dir, names, nil
	}
	return dir, names, s.fill(ctx, dir, files)
}

// fill creates a folder with files atomically.
func (s Store) fill(ctx context.Context, dir string, files map[string]media.Digest) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return disk.Error("make the folder of the run", err)
	}
	temp, err := os.MkdirTemp(s.Dir, ".new-*")
	if err != nil {
		return disk.Error("make the folder of the run", err)
	}
	defer func() { _ = os.RemoveAll(temp) }() // after the rename nothing has this name
	for name, digest := range files {
		if err := s.write(ctx, digest, filepath.Join(temp, name)); err != nil {
			return err
		}
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, other := os.Stat(dir); other == nil {
			return nil // another request created it
		}
		return disk.Error("make the folder of the run", err)
	}
	return nil
}

func (s Store) write(ctx context.Context, d media.Digest, path string) error {
	in, err := s.Blobs.Open(ctx, d)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	return disk.Write(path, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

// NameOf returns the name under which agents see a file: its given name, without folders, and not hidden.
func NameOf(o media.Output) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(cmp.Or(o.FileName, resolve.FileName(o)), "_"))
	name = strings.TrimLeft(strings.TrimSpace(name), ".")
	if len(name) > 150 { // keep the extension, which shows the type
		ext := filepath.Ext(name)
		if len(ext) > 20 {
			ext = ""
		}
		name = strings.ToValidUTF8(name[:150-len(ext)], "") + ext
	}
	return cmp.Or(name, resolve.FileName(o))
}

// Free returns a name that no other file has; the same file keeps its own.
func Free(name string, d media.Digest, files map[string]media.Digest) string {
	ext := filepath.Ext(name)
	for n := 2; ; n++ {
		have, taken := files[name]
		if !taken || have == d {
			return name
		}
		base := strings.TrimSuffix(name, ext)
		if i := strings.LastIndex(base, " ("); i > 0 && n > 2 {
			base = base[:i]
		}
		name = base + " (" + strconv.Itoa(n) + ")" + ext
	}
}
