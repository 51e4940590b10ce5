package knowledge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"atelier/action/database"
	"atelier/action/file"
	"atelier/media"
	"atelier/media/wire"
)

// maxSkipped is the maximum number of skipped documents in a report.
const maxSkipped = 50

// known is the state of one document in the index.
type known struct {
	path           string
	size, modified int64
	skipped        string
}

// Refresh checks the whole folder and indexes what has changed.
func (b *Base) Refresh(ctx context.Context) (Report, error) { return b.refresh(ctx, 0) }

// refresh checks the folder unless the last check was less than age ago.
func (b *Base) refresh(ctx context.Context, age time.Duration) (Report, error) {
	select {
	case b.refreshLock <- struct{}{}:
		defer func() { <-b.refreshLock }()
	case <-ctx.Done():
		return Report{}, explain(ctx.Err())
	}
	if b.cfg.Now().Sub(b.fresh) < age {
		return b.report, nil
	}
	had, err := b.known(ctx)
	if err != nil {
		return Report{}, err
	}
	var r Report
	seen := map[string]bool{}
	remaining := 0
	skipped, err := b.files.Walk(ctx, func(s file.Source) error {
		if len(seen) >= b.cfg.MaxDocuments {
			remaining++
			return nil
		}
		seen[s.Name] = true
		if k, ok := had[s.Name]; ok && k.size == s.Size && k.modified == s.Modified.UnixNano() {
			r.skip(s.Name, k.skipped)
			return nil
		}
		reason, err := b.index(ctx, s)
		r.Indexed++
		r.skip(s.Name, reason)
		return err
	})
	if err != nil {
		return Report{}, explain(err)
	}
	for _, s := range skipped {
		if s.Reason != "hidden" {
			r.skip(s.Path, s.Reason)
		}
	}
	if remaining > 0 {
		r.skip(fmt.Sprintf("%d documents", remaining), fmt.Sprintf("beyond the first %d", b.cfg.MaxDocuments))
	}
	for name := range had {
		if !seen[name] {
			r.Removed++
			if err := b.write(ctx, func(tx *sql.Tx) error { return remove(ctx, tx, name) }); err != nil {
				return Report{}, err
			}
		}
	}
	err = b.db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM document WHERE id IN (SELECT document FROM passage)), (SELECT count(*) FROM passage)").Scan(&r.Documents, &r.Passages)
	if err != nil {
		return Report{}, explain(err)
	}
	b.report, b.fresh = r, b.cfg.Now()
	return r, nil
}

func (r *Report) skip(name, reason string) {
	if reason != "" && len(r.Skipped) < maxSkipped {
		r.Skipped = append(r.Skipped, file.Skipped{Path: name, Reason: reason})
	}
}

// known reads the state of all indexed documents.
func (b *Base) known(ctx context.Context) (map[string]known, error) {
	all, err := database.List(ctx, b.db, "SELECT path, size, modified, skipped FROM document", func(scan func(...any) error) (k known, err error) {
		err = scan(&k.path, &k.size, &k.modified, &k.skipped)
		return k, err
	})
	out := map[string]known{}
	for _, k := range all {
		out[k.path] = k
	}
	return out, explain(err)
}

// index reads a document and replaces it in the index. It returns the reason why the document cannot be searched, or not
// to its end, if any.
func (b *Base) index(ctx context.Context, s file.Source) (reason string, err error) {
	doc, s, err := b.extract(ctx, s)
	switch code := media.CodeOf(err); {
	case code == media.CodeNotFound: // removed in the meantime
		return "", b.write(ctx, func(tx *sql.Tx) error { return remove(ctx, tx, s.Name) })
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		reason = file.Clip(err.Error(), 200)
	case strings.TrimSpace(doc.Text) == "":
		reason = "no text"
		if len(doc.Warnings) > 0 {
			reason = doc.Warnings[len(doc.Warnings)-1]
		}
	case doc.Truncated:
		reason = fmt.Sprintf("only its first %d characters are searched", b.cfg.MaxCharacters)
	}
	// Media in texts is not indexed.
	doc.Text, doc.Title = wire.NameMedia(doc.Text), wire.NameMedia(doc.Title)
	if doc.Title == "" {
		doc.Title = strings.TrimSuffix(path.Base(s.Name), path.Ext(s.Name))
	}
	return reason, b.write(ctx, func(tx *sql.Tx) error {
		if err := remove(ctx, tx, s.Name); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, "INSERT INTO document (path, size, modified, title, format, skipped) VALUES (?, ?, ?, ?, ?, ?)",
			s.Name, s.Size, s.Modified.UnixNano(), doc.Title, doc.Format, reason)
		if err != nil {
			return err
		}
		id, err := res.LastInsertId()
		if err != nil {
			return err
		}
		return add(ctx, tx, id, doc)
	})
}

// extract reads a document so that text and date match. A document that changes during reading is read again, and if it
// keeps changing, at the next refresh.
func (b *Base) extract(ctx context.Context, s file.Source) (doc file.Document, _ file.Source, err error) {
	for range 3 {
		if s.Size > b.cfg.MaxBytes {
			return doc, s, media.Errorf(media.CodeTooLarge, "larger than %d MiB", b.cfg.MaxBytes>>20)
		}
		doc, err = file.Extract(ctx, s, b.cfg.MaxCharacters)
		now, gone := b.files.Stat(ctx, s.Name)
		if gone != nil {
			return doc, s, gone
		}
		if now.Size == s.Size && now.Modified.Equal(s.Modified) {
			return doc, s, err
		}
		s = now
	}
	s.Size = -1 // not a real size, so the next refresh reads it again
	return doc, s, err
}

// write runs fn in one transaction.
func (b *Base) write(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	if err := fn(tx); err != nil {
		return explain(errors.Join(err, tx.Rollback()))
	}
	return explain(tx.Commit())
}

// remove removes a document from the index.
func remove(ctx context.Context, tx *sql.Tx, name string) error {
	for _, q := range []string{
		"DELETE FROM word WHERE rowid IN (SELECT p.id FROM passage p JOIN document d ON d.id = p.document WHERE d.path = ?)",
		"DELETE FROM passage WHERE document IN (SELECT id FROM document WHERE path = ?)",
		"DELETE FROM document WHERE path = ?",
	} {
		if _, err := tx.ExecContext(ctx, q, name); err != nil {
			return err
		}
	}
	return nil
}

// add indexes the passages of a document.
func add(ctx context.Context, tx *sql.Tx, id int64, doc file.Document) error {
	keep, err := tx.PrepareContext(ctx, "INSERT INTO passage (document, heading, start, text) VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer func() { _ = keep.Close() }() // the commit reports errors
	index, err := tx.PrepareContext(ctx, "INSERT INTO word (rowid, title, heading, text) VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer func() { _ = index.Close() }() // the commit reports errors
	for _, p := range passages(doc.Text) {
		res, err := keep.ExecContext(ctx, id, p.heading, p.start, p.text)
		if err != nil {
			return err
		}
		row, err := res.LastInsertId()
		if err != nil {
			return err
		}
		if _, err := index.ExecContext(ctx, row, segment(doc.Title), segment(p.heading), segment(p.text)); err != nil {
			return err
		}
	}
	return nil
}
