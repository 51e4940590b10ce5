package main

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"atelier/agent/report"
	"atelier/agent/resolve"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

type conversationsExportCmd struct {
	ID     string `arg:"" help:"The conversation's id, the start of its id, or last."`
	Output string `short:"o" help:"The file to write; - is standard output." placeholder:"FILE.html" required:""`
	JSON   bool   `help:"Print one JSON object."`
}

// Run writes a conversation as one page.
func (c *conversationsExportCmd) Run(w *world) error {
	w, err := resultFlags{Output: c.Output}.piped(w)
	if err != nil {
		return err
	}
	if ext := strings.ToLower(filepath.Ext(c.Output)); ext != ".html" && resolve.IsExtension(ext) {
		return media.Errorf(media.CodeInvalid, "-o %s: the file would be an HTML page: use the extension .html", c.Output)
	}
	return w.withRuns(appConfig{}, "", func(a *app, s *run.Service, _ string) error {
		head, err := a.stores().conversation(w.ctx, c.ID)
		if err != nil {
			return err
		}
		write := func(to io.Writer) error {
			b := bufio.NewWriterSize(to, 64<<10)
			page := report.Conversation{Title: head.Title, Begun: head.CreatedAt, Messages: a.messages(w.ctx, s, head.ID)}
			return cmp.Or(report.WriteConversation(w.ctx, b, page, resolve.Options{Mode: resolve.ModeDataURI, Codec: a.Codec}), b.Flush())
		}
		if c.Output == toStdout {
			return write(w.bytes)
		}
		if err := writeTo(c.Output, write); err != nil {
			return err
		}
		return w.print(map[string]any{"conversation_id": head.ID, "messages": head.Messages, "path": c.Output}, func() { w.line("%s: %s", c.Output, plural(head.Messages, "message")) })
	})
}

// messages reads a conversation for its page.
func (a *app) messages(ctx context.Context, s *run.Service, id string) iter.Seq2[report.Message, error] {
	return func(yield func(report.Message, error) bool) {
		for q, more := (ledger.MessageQuery{}), true; more; more = q.After != "" {
			page, err := a.Ledger.ListMessages(ctx, owner, id, q)
			if err != nil {
				yield(report.Message{}, err)
				return
			}
			for _, m := range page.Items {
				if v, err := a.message(ctx, s, m); !yield(v, err) || err != nil {
					return
				}
			}
			q.After = page.Next
		}
	}
}

// message returns a message with its items and, for an answer, the report.
func (a *app) message(ctx context.Context, s *run.Service, m ledger.Message) (report.Message, error) {
	v := report.Message{Who: "You", At: m.CreatedAt, Text: m.Text, Verbatim: true, Failure: m.Failure.Message}
	attached, err := a.stores().attachments(ctx, m)
	if err != nil {
		return v, err
	}
	items := map[media.Ref]media.Output{}
	for _, at := range attached {
		r, err := a.Ledger.MediaRecord(ctx, owner, at.MediaID)
		if media.CodeOf(err) == media.CodeNotFound {
			continue // deleted
		}
		if err != nil {
			return v, err
		}
		items[r.Ref] = r.Output
		v.Attached = append(v.Attached, r.Output)
	}
	res, err := s.Result(ctx, owner, m.RunID)
	if err != nil && media.CodeOf(err) != media.CodeNotFound {
		return v, err
	}
	v.Find = func(ref media.Ref) (media.Output, bool) {
		o, ok := items[ref]
		if !ok && res != nil {
			o, ok = res.Find(ref)
		}
		return o, ok
	}
	if m.Role == ledger.RoleUser {
		return v, nil
	}
	v.Who, v.Verbatim = m.Agent, false
	if res != nil && report.Has(res.Payload) {
		r := report.FromResult(res)
		v.Report = &r
	}
	return v, nil
}
