package main

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"atelier/agent/resolve"
	"atelier/ledger"
	"atelier/media"
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
	JSON  bool   `help:"Print JSON."`
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
	JSON     bool `help:"Print one JSON object about the file."`
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

type mediaVerifyCmd struct {
	JSON bool `help:"Print JSON."`
}

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
