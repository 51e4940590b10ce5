package main

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
)

type mediaCmd struct {
	List      mediaListCmd      `cmd:"" help:"List media, newest first."`
	Show      mediaShowCmd      `cmd:"" help:"Show one item: facts, how it was made and at what cost, what it was made from and what was made from it."`
	Get       mediaGetCmd       `cmd:"" help:"Write one item's bytes to a file."`
	Verify    mediaVerifyCmd    `cmd:"" help:"Check every stored byte string against its digest."`
	Thumbnail mediaThumbnailCmd `cmd:"" help:"Write a small form of a picture to a file; it is made once and kept."`
	Rm        mediaRmCmd        `cmd:"" name:"rm" help:"Delete items. For a week --undo brings them back; after it media gc deletes their bytes."`
	GC        mediaGCCmd        `cmd:"" name:"gc" help:"Delete stored bytes that nothing needs: those of items deleted a week ago, previews, and what was never recorded, a week after it came."`
}

type pageFlags struct {
	Limit int    `help:"How many rows at most." default:"50"`
	After string `help:"Go on after this cursor, which the list before printed."`
	JSON  bool   `help:"Print JSON."`
}

func (p pageFlags) page() (ledger.Page, error) {
	if p.After != "" && uuid.Validate(p.After) != nil {
		return ledger.Page{}, media.Errorf(media.CodeInvalid, "--after %s is no cursor: use the one that the list before printed", p.After)
	}
	if p.Limit < 1 {
		return ledger.Page{}, media.Errorf(media.CodeInvalid, "--limit is %d: ask for at least one row", p.Limit)
	}
	return ledger.Page{After: p.After, Limit: p.Limit}, nil
}

type mediaListCmd struct {
	Tree     string `name:"run" help:"Only items that this run tree made or was given." placeholder:"ID"`
	Modality string `help:"Only image, audio, video or document."`
	Deleted  bool   `help:"Only deleted items, which media rm --undo brings back."`
	pageFlags
}

// Run lists media.
func (c *mediaListCmd) Run(w *world) error {
	page, err := c.page()
	if err != nil {
		return err
	}
	q := ledger.MediaQuery{Tree: c.Tree, Deleted: c.Deleted, Page: page}
	if c.Modality != "" {
		m, err := media.ParseModality(c.Modality)
		if err != nil {
			return err
		}
		q.Modality = m
	}
	return w.withStores(func(s *stores) error {
		list, err := s.ledger.ListMedia(w.ctx, owner, q)
		if err != nil {
			return err
		}
		if c.JSON {
			return w.printJSON(list)
		}
		var rows [][]string
		for _, r := range list.Items {
			rows = append(rows, []string{
				string(r.Ref), r.MIMEType, dimensions(r.Output), size(r.SizeBytes), r.Digest.String()[:19] + "…",
				short(r.Label, 40), r.Tree, moment(r.CreatedAt),
			})
		}
		table(w.stdout, []string{"REF", "TYPE", "SIZE", "BYTES", "DIGEST", "LABEL", "RUN", "MADE"}, rows)
		if list.Next != "" {
			w.note("more: --after %s", list.Next)
		}
		return nil
	})
}

type mediaArg struct {
	Item string `arg:"" help:"A ref (img-7k3m9q2x) or a record id."`
	Tree string `name:"run" help:"The run tree in which the ref means something; the newest item otherwise." placeholder:"ID"`
}

func (a mediaArg) find(ctx context.Context, l ledger.Store) (ledger.Record, error) {
	ref, err := media.ParseRef(a.Item)
	if err != nil {
		return l.MediaRecord(ctx, owner, a.Item)
	}
	list, err := l.ListMedia(ctx, owner, ledger.MediaQuery{Tree: a.Tree, Ref: ref, Page: ledger.Page{Limit: 1}})
	if err != nil {
		return ledger.Record{}, err
	}
	if len(list.Items) == 0 {
		return ledger.Record{}, media.Errorf(media.CodeNotFound, "no media item has the ref %s here: see `atelier media list`", ref)
	}
	return list.Items[0], nil
}

type mediaGetCmd struct {
	mediaArg
	Output string `short:"o" help:"The file to write; - is standard output. Its own name in this folder otherwise." placeholder:"FILE"`
}

// Run copies one item's bytes out.
func (c *mediaGetCmd) Run(w *world) error {
	return w.withStores(func(s *stores) error {
		r, err := c.find(w.ctx, s.ledger)
		if err != nil {
			return err
		}
		in, err := s.blobs.Open(w.ctx, r.Digest)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		if c.Output == "-" {
			_, err := io.Copy(w.stdout, in)
			return err
		}
		name := c.Output
		if name == "" {
			name = agent.FileName(r.Output)
		}
		if err := writeFile(name, in); err != nil {
			return err
		}
		w.line("%s", name)
		return nil
	})
}

// writeFile copies in to a new file beside name and moves it there when it is whole.
func writeFile(name string, in io.Reader) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return media.Errorf(media.CodeInvalid, "write %s: it is a folder: add the name of a file", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".atelier-*")
	if err != nil {
		return diskError("write "+name, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if _, err := io.Copy(f, in); err != nil {
		_ = f.Close()
		return diskError("write "+name, err)
	}
	if err := f.Chmod(0o644); err != nil {
		_ = f.Close()
		return diskError("write "+name, err)
	}
	if err := f.Close(); err != nil {
		return diskError("write "+name, err)
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return diskError("write "+name, err)
	}
	return nil
}

type mediaVerifyCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run reads every blob and compares it with its digest.
func (c *mediaVerifyCmd) Run(w *world) error {
	type bad struct {
		Digest media.Digest `json:"digest"`
		Reason string       `json:"reason"`
	}
	var answer struct {
		Checked int   `json:"checked"`
		Bytes   int64 `json:"size_bytes"`
		Bad     []bad `json:"bad"`
	}
	answer.Bad = []bad{}
	err := w.withStores(func(s *stores) error {
		for info, err := range s.blobs.All(w.ctx) {
			if err != nil {
				return err
			}
			answer.Checked++
			answer.Bytes += info.SizeBytes
			if err := s.blobs.Verify(w.ctx, info.Digest); err != nil {
				answer.Bad = append(answer.Bad, bad{info.Digest, err.Error()})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = w.printJSON(answer)
	} else {
		for _, b := range answer.Bad {
			w.line("%s  %s", b.Digest, b.Reason)
		}
		w.line("%d checked, %s, %d bad", answer.Checked, size(answer.Bytes), len(answer.Bad))
	}
	if err == nil && len(answer.Bad) > 0 {
		return quiet{exitInternal}
	}
	return err
}
