package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelier/agent/resolve"
	"atelier/api"
	"atelier/ledger"
	"atelier/media"
	"atelier/media/blob"
)

type mediaCmd struct {
	List      mediaListCmd      `cmd:"" help:"List media, newest first."`
	Show      mediaShowCmd      `cmd:"" help:"Show one item: its properties, how it was made, its cost, what it was made from and what was made from it."`
	Get       mediaGetCmd       `cmd:"" help:"Write one item to a file, with its AI label."`
	Verify    mediaVerifyCmd    `cmd:"" help:"Check all stored bytes against their digests, and that none are missing."`
	Thumbnail mediaThumbnailCmd `cmd:"" help:"Write a thumbnail of a picture to a file. It is made once and stored."`
	Rm        mediaRmCmd        `cmd:"" name:"rm" help:"Delete items. --undo restores them within a week; after that, media gc deletes their bytes."`
	GC        mediaGCCmd        `cmd:"" name:"gc" help:"Delete unused bytes: those of items deleted more than a week ago, previews, and bytes without a record that are older than a week."`
}

type pageFlags struct {
	Limit int    `help:"The maximum number of rows." default:"50"`
	After string `help:"Continue after this cursor, which the previous page printed."`
}

func (p pageFlags) page() (ledger.Page, error) {
	if p.After != "" && uuid.Validate(p.After) != nil {
		return ledger.Page{}, media.Errorf(media.CodeInvalid, "--after %s is not a cursor: use the one that the previous page printed", p.After)
	}
	if p.Limit < 1 {
		return ledger.Page{}, media.Errorf(media.CodeInvalid, "--limit is %d: give at least 1", p.Limit)
	}
	return ledger.Page{After: p.After, Limit: p.Limit}, nil
}

type mediaListCmd struct {
	Tree     string `name:"run" help:"Only items that this run or its sub-agents made or received." placeholder:"ID|last"`
	Modality string `help:"Only image, audio, video or document."`
	Deleted  bool   `help:"Only deleted items, which media rm --undo can restore."`
	pageFlags
}

func (c *mediaListCmd) Run(w *world) error {
	page, err := c.page()
	if err != nil {
		return err
	}
	q := ledger.MediaQuery{Deleted: c.Deleted, Page: page}
	if c.Modality != "" {
		m, err := media.ParseModality(c.Modality)
		if err != nil {
			return err
		}
		q.Modality = m
	}
	return w.withStores(func(s *stores) error {
		if q.Tree, err = s.treeID(w.ctx, c.Tree); err != nil {
			return err
		}
		list, err := s.Ledger.ListMedia(w.ctx, owner, q)
		if err != nil {
			return err
		}
		return printPage(w, list, []string{"REF", "TYPE", "SIZE", "BYTES", "DIGEST", "LABEL", "RUN", "MADE"}, func(r ledger.Record) []string {
			return []string{
				string(r.Ref), r.MIMEType, dimensions(r.Output), size(r.SizeBytes), r.Digest.String()[:19] + "…",
				short(r.Label, 40), r.Tree, localTime(r.CreatedAt),
			}
		})
	})
}

type mediaArg struct {
	Item string `arg:"" help:"A ref (img-7k3m9q2x), a record id, the start of an id, or last."`
	Tree string `name:"run" help:"The run that the ref belongs to. The default is the newest item with that ref." placeholder:"ID|last"`
}

func (a mediaArg) find(ctx context.Context, s *stores) (r ledger.Record, err error) {
	if a.Tree, err = s.treeID(ctx, a.Tree); err != nil {
		return r, err
	}
	found, err := s.mediaNamed(ctx, ledger.MediaQuery{Tree: a.Tree, Page: ledger.Page{Limit: 1}}, a.Item)
	if err != nil {
		return r, err
	}
	return found[0], nil
}

type mediaGetCmd struct {
	mediaArg
	Output string `short:"o" help:"The file to write; - is standard output. The default is the item's name, in the current folder." placeholder:"FILE"`

	Original bool `help:"Write the stored bytes unchanged, without the AI label."`
}

// Run writes one item to a file.
func (c *mediaGetCmd) Run(w *world) error {
	return w.withStores(func(s *stores) error {
		r, err := c.find(w.ctx, s)
		if err != nil {
			return err
		}
		if c.Original {
			r.Metadata = nil // without metadata, no label is written
		}
		return w.writeItem(s, r.Output, cmp.Or(c.Output, resolve.FileName(r.Output)))
	})
}

type mediaVerifyCmd struct{}

// verification is what media verify prints.
type verification struct {
	Checked int       `json:"checked"`
	Bytes   int64     `json:"size_bytes"`
	Bad     []badBlob `json:"bad"`
}

// badBlob is a blob that is damaged or missing.
type badBlob struct {
	Digest media.Digest `json:"digest"`
	Reason string       `json:"reason"`
}

// Run reads every blob and compares it with its digest, then looks for missing ones.
func (c *mediaVerifyCmd) Run(w *world) error {
	answer := verification{Bad: []badBlob{}}
	err := w.withStores(func(s *stores) error {
		for info, err := range s.Blobs.All(w.ctx) {
			if err != nil {
				return err
			}
			answer.Checked++
			answer.Bytes += info.SizeBytes
			if err := s.Blobs.Verify(w.ctx, info.Digest); err != nil {
				answer.Bad = append(answer.Bad, badBlob{info.Digest, err.Error()})
			}
		}
		return answer.addMissing(w.ctx, s)
	})
	if err != nil {
		return err
	}
	err = w.print(answer, func() {
		for _, b := range answer.Bad {
			w.line("%s  %s", b.Digest, b.Reason)
		}
		w.line("%d checked, %s, %d bad", answer.Checked, size(answer.Bytes), len(answer.Bad))
	})
	return cmp.Or(err, exitIf(len(answer.Bad) > 0, exitInternal))
}

// addMissing adds the blobs that the ledger needs and the store does not have.
func (v *verification) addMissing(ctx context.Context, s *stores) error {
	for page := (ledger.Page{Limit: ledger.MaxLimit}); ; {
		list, err := s.Ledger.ListBlobs(ctx, page)
		if err != nil {
			return err
		}
		for _, b := range list.Items {
			_, lost := s.Blobs.Stat(ctx, b.Digest)
			if media.CodeOf(lost) != media.CodeNotFound {
				continue
			}
			needed, err := s.Ledger.BlobReferenced(ctx, b.Digest, time.Now()) //nolint:forbidigo // the clock of the command line
			if err != nil {
				return err
			}
			if needed {
				v.Bad = append(v.Bad, badBlob{b.Digest, lost.Error()})
			}
		}
		if page.After = list.Next; page.After == "" {
			return nil
		}
	}
}

type mediaThumbnailCmd struct {
	mediaArg
	Size   int    `help:"The width in pixels: 16, 160, 320, 640, 1280 or 2048. Small pictures are not enlarged." default:"320"`
	Output string `short:"o" help:"The file to write; - is standard output." placeholder:"FILE" required:""`
}

// Run writes a thumbnail, with the AI label if its picture needs one. It makes a missing thumbnail.
func (c *mediaThumbnailCmd) Run(w *world) error {
	if !slices.Contains(api.Widths, c.Size) {
		return media.Errorf(media.CodeInvalid, "--size %d: thumbnails are %s pixels wide", c.Size,
			strings.Trim(strings.ReplaceAll(fmt.Sprint(api.Widths), " ", ", "), "[]"))
	}
	switch strings.ToLower(filepath.Ext(c.Output)) {
	case "", ".jpg", ".jpeg", ".png":
	default:
		return media.Errorf(media.CodeInvalid, "-o %s: a thumbnail is image/jpeg, or image/png if its picture is transparent: use the extension .jpg or .png", c.Output)
	}
	return w.withApp(appConfig{}, func(a *app) error {
		r, err := c.find(w.ctx, a.stores())
		if err != nil {
			return err
		}
		d, err := a.Thumbnail(w.ctx, r, c.Size)
		if err != nil {
			return err
		}
		b, err := a.Ledger.BlobOf(w.ctx, d)
		if err != nil {
			return err
		}
		o := r.Output
		o.Blob = b.Blob
		return w.writeItem(a.stores(), o, c.Output)
	})
}

type mediaRmCmd struct {
	Items []string `arg:"" name:"item" help:"Refs (img-7k3m9q2x), record ids, the starts of ids, or last."`
	Tree  string   `name:"run" help:"The run that the refs belong to. Required if several items have the same ref." placeholder:"ID|last"`
	Undo  bool     `help:"Restore items that were deleted within the last week."`
}

// removedView is an item that was deleted or restored.
type removedView struct {
	ID    string    `json:"id"`
	Ref   media.Ref `json:"ref"`
	Label string    `json:"label,omitempty"`
	// Until is when a deleted item can no longer be restored; zero for a restored one.
	Until time.Time `json:"restorable_until,omitzero"`
}

// Run deletes or restores items: all of them or none.
func (c *mediaRmCmd) Run(w *world) error {
	return w.withStores(func(s *stores) (err error) {
		if c.Tree, err = s.treeID(w.ctx, c.Tree); err != nil {
			return err
		}
		var records []ledger.Record
		for _, name := range c.Items {
			r, err := c.one(w.ctx, s, name)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(records, func(named ledger.Record) bool { return named.ID == r.ID }) {
				records = append(records, r)
			}
		}
		now := time.Now() //nolint:forbidigo // the clock of the command line
		err = s.Ledger.InTransaction(w.ctx, func(ctx context.Context) error {
			for _, r := range records {
				var err error
				if c.Undo {
					err = s.Ledger.RestoreMedia(ctx, owner, r.ID, now.Add(-blob.DefaultGrace))
				} else {
					err = s.Ledger.DeleteMedia(ctx, owner, r.ID)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i := 0; c.Undo && i < len(records); i++ {
			if records[i], err = s.Ledger.MediaRecord(w.ctx, owner, records[i].ID); err != nil {
				return err
			}
		}
		return c.print(w, records, now.Add(blob.DefaultGrace))
	})
}

// one returns the item that a name means. The same bytes, made in several runs, are several items.
func (c *mediaRmCmd) one(ctx context.Context, s *stores, name string) (ledger.Record, error) {
	q := ledger.MediaQuery{Tree: c.Tree, Deleted: c.Undo}
	found, err := s.mediaNamed(ctx, q, name)
	if err != nil {
		return ledger.Record{}, err
	}
	if len(found) == 1 {
		return found[0], nil
	}
	var ids []string
	for _, r := range found {
		ids = append(ids, r.ID)
	}
	e := media.Errorf(media.CodeInvalid, "%d items have the ref %s: use one of their ids: %s", len(ids), found[0].Ref, strings.Join(ids, ", "))
	e.Valid = ids
	return ledger.Record{}, e
}

func (c *mediaRmCmd) print(w *world, records []ledger.Record, until time.Time) error {
	views := []removedView{}
	for _, r := range records {
		v := removedView{ID: r.ID, Ref: r.Ref, Label: r.Label}
		if !c.Undo {
			v.Until = until.UTC()
		}
		views = append(views, v)
	}
	return w.print(ledger.List[removedView]{Items: views}, func() {
		for _, v := range views {
			if c.Undo {
				w.line("restored %s  %s", v.Ref, cell(v.Label))
				continue
			}
			w.line("deleted %s  %s", v.Ref, cell(v.Label))
			w.note("to restore it before %s: atelier media rm --undo %s; after that, media gc deletes its bytes", localTime(until), v.ID)
		}
	})
}

type mediaGCCmd struct {
	DryRun bool `name:"dry-run" help:"Print what would be deleted, and delete nothing."`
}

// collected is the result of a collection, or of its dry run.
type collected struct {
	Scanned    int   `json:"scanned"`
	Kept       int   `json:"kept"`
	Young      int   `json:"young"`
	Deleted    int   `json:"deleted"`
	FreedBytes int64 `json:"freed_bytes"`
	DryRun     bool  `json:"dry_run"`
}

// Run deletes the stored bytes that the ledger does not need and that are older than a week, and removes them from the
// ledger's inventory.
func (c *mediaGCCmd) Run(w *world) error {
	return w.withStores(func(s *stores) error {
		since := time.Now().Add(-blob.DefaultGrace) //nolint:forbidigo // the clock of the command line
		done, unused, err := s.unusedBlobs(w.ctx, since)
		if err != nil {
			return err
		}
		for _, i := range unused {
			deleted := c.DryRun
			if !deleted {
				if deleted, err = s.discard(w.ctx, i.Digest, since); err != nil {
					return err
				}
			}
			if !deleted {
				done.Kept++
				continue
			}
			done.Deleted++
			done.FreedBytes += i.SizeBytes
		}
		done.DryRun = c.DryRun
		verb := "deleted"
		if c.DryRun {
			verb = "would be deleted"
		}
		return w.print(done, func() {
			w.line("%d stored: %d needed, %d not examined because they are younger than a week, %d %s, %s", done.Scanned, done.Kept, done.Young, done.Deleted, verb, size(done.FreedBytes))
		})
	})
}

// unusedBlobs counts the blobs and returns those that the ledger does not need and that were stored before a time. If
// there may be another ledger that needs them, the error has code media.CodeConflict.
func (s *stores) unusedBlobs(ctx context.Context, since time.Time) (done collected, unused []blob.Info, err error) {
	const nothing = "Nothing was deleted; check ATELIER_DATA and ATELIER_DATABASE_URL"
	if _, err := os.Stat(s.Config.LedgerFile()); err == nil && s.Config.DatabaseURL != "" {
		return done, nil, media.Errorf(media.CodeConflict, "the data folder has another ledger, %s, which may need the stored items: move it away if it does not. %s", s.Config.LedgerFile(), nothing)
	}
	unknown := 0
	for i, err := range s.Blobs.All(ctx) {
		if err != nil {
			return done, nil, err
		}
		done.Scanned++
		if !i.ModTime.Before(since) {
			done.Young++
			continue
		}
		needed, err := s.Ledger.BlobReferenced(ctx, i.Digest, since)
		if err != nil {
			return done, nil, err
		}
		if needed {
			done.Kept++
			continue
		}
		unused = append(unused, i)
		switch _, err := s.Ledger.BlobOf(ctx, i.Digest); {
		case media.CodeOf(err) == media.CodeNotFound:
			unknown++
		case err != nil:
			return done, nil, err
		}
	}
	if old := done.Kept + len(unused); unknown > old/2 {
		return done, nil, media.Errorf(media.CodeConflict, "the ledger has no record of %d of the %d stored items that are older than a week: "+
			"it may belong to another data folder, or be new because the old one was lost. %s", unknown, old, nothing)
	}
	return done, unused, nil
}

// discard deletes a blob that is still unused, and removes it from the inventory.
func (s *stores) discard(ctx context.Context, d media.Digest, since time.Time) (deleted bool, err error) {
	if needed, err := s.Ledger.BlobReferenced(ctx, d, since); needed || err != nil {
		return false, err
	}
	if deleted, err = s.Blobs.DeleteOld(ctx, d, since); deleted {
		_, err = s.Ledger.ForgetBlob(ctx, d, "")
	}
	return deleted, err
}
