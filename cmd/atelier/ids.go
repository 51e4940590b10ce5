package main

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"atelier/ledger"
	"atelier/media"
)

// newest stands for the id of the newest run, conversation, operation or item.
const newest = "last"

// maxAmbiguous is how many rows are read for an ambiguous id prefix; at most one fewer is listed.
const maxAmbiguous = 10

// identified is a row that an id prefix can mean.
type identified struct{ id, about string }

// idStart matches the prefix of an id that this program makes, a UUIDv7.
var idStart = regexp.MustCompile(`^[0-9a-f]{1,8}(-[0-9a-f-]*)?$`)

const lastID = "ffffffff-ffff-ffff-ffff-ffffffffffff"

// findID returns the id of the row that text means: its own id, that of the newest row, or that of the only row whose id
// starts with it. Get reads a row by its complete id, list reads a page of the newest rows, and row describes a row.
func findID[T any](text, noun string, get func(id string) (T, error), list func(ledger.Page) (ledger.List[T], error), row func(T) identified) (string, error) {
	if text == newest {
		page, err := list(ledger.Page{Limit: 1})
		if err == nil && len(page.Items) == 0 {
			err = media.Errorf(media.CodeNotFound, "there is no %s yet, so %s does not name one", noun, newest)
		}
		if err != nil {
			return "", err
		}
		return row(page.Items[0]).id, nil
	}
	if _, err := get(text); media.CodeOf(err) != media.CodeNotFound {
		return text, err
	}
	var rows []identified
	if start := strings.ToLower(strings.TrimSpace(text)); len(start) < len(lastID) && idStart.MatchString(start) {
		page, err := list(ledger.Page{After: start + lastID[len(start):], Limit: maxAmbiguous})
		if err != nil {
			return "", err
		}
		for _, item := range page.Items {
			if r := row(item); strings.HasPrefix(r.id, start) {
				rows = append(rows, r)
			}
		}
	}
	if len(rows) == 0 {
		return "", media.Errorf(media.CodeNotFound, "not found: there is no %s %.64q: see `atelier %s`", noun, media.ErrorText(text), cmp.Or(mediaLists[noun], noun+"s list"))
	}
	return one(text, noun, rows)
}

// one returns the id of the only row, or text if there is none.
func one(text, noun string, rows []identified) (string, error) {
	switch len(rows) {
	case 0:
		return text, nil
	case 1:
		return rows[0].id, nil
	}
	var b strings.Builder
	for _, r := range rows[:min(len(rows), maxAmbiguous-1)] {
		b.WriteString("\n  " + r.id + "  " + cell(r.about))
	}
	if len(rows) >= maxAmbiguous {
		b.WriteString("\n  …")
	}
	return "", media.Errorf(media.CodeInvalid, "%q matches several %ss: type more of it%s", text, noun, b.String())
}

// runID returns the run that text means. A root run takes precedence over one of a sub-agent.
func (s *stores) runID(ctx context.Context, text string) (id string, err error) {
	for _, roots := range []bool{true, false} {
		id, err = findID(text, "run",
			func(id string) (ledger.Run, error) { return s.Ledger.Run(ctx, owner, id) },
			func(p ledger.Page) (ledger.List[ledger.Run], error) {
				return s.Ledger.ListRuns(ctx, owner, ledger.RunQuery{Roots: roots, Page: p})
			},
			func(r ledger.Run) identified {
				return identified{r.ID, localTime(r.CreatedAt) + "  " + short(r.Task, 60)}
			})
		if media.CodeOf(err) != media.CodeNotFound {
			break
		}
	}
	return id, err
}

func (s *stores) conversationID(ctx context.Context, text string) (string, error) {
	return findID(text, "conversation",
		func(id string) (ledger.Conversation, error) { return s.Ledger.Conversation(ctx, owner, id) },
		func(p ledger.Page) (ledger.List[ledger.Conversation], error) {
			return s.Ledger.ListConversations(ctx, owner, ledger.ConversationQuery{Page: p})
		},
		func(c ledger.Conversation) identified {
			return identified{c.ID, localTime(c.CreatedAt) + "  " + short(c.Title, 60)}
		})
}

func (s *stores) operationID(ctx context.Context, text string) (string, error) {
	return findID(text, "operation",
		func(id string) (ledger.Operation, error) {
			o, _, _, err := s.Ledger.Operation(ctx, owner, id)
			return o, err
		},
		func(p ledger.Page) (ledger.List[ledger.Operation], error) {
			return s.Ledger.ListOperations(ctx, owner, ledger.OperationQuery{Page: p})
		},
		func(o ledger.Operation) identified {
			return identified{o.ID, localTime(o.CreatedAt) + "  " + o.Model + "  " + short(promptOf(o), 60)}
		})
}

// treeID returns the tree that text means: of a run, or of work outside of runs, which is known only by
// its operations and media. Empty text means all.
func (s *stores) treeID(ctx context.Context, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	id, missing := s.runID(ctx, text)
	if missing == nil {
		r, err := s.Ledger.Run(ctx, owner, id)
		if err == nil && r.Tree != id {
			err = media.Errorf(media.CodeInvalid, "run %s is a part of run %s: name that one", id, r.Tree)
		}
		return id, err
	}
	if media.CodeOf(missing) != media.CodeNotFound {
		return "", missing
	}
	if start := strings.ToLower(text); len(start) < len(lastID) && idStart.MatchString(start) {
		id, err := s.eachMedia(ctx, ledger.MediaQuery{}, text, "run", func(r ledger.Record) (string, bool) { return r.Tree, strings.HasPrefix(r.Tree, start) })
		if id != text {
			return id, err
		}
	}
	first := ledger.Page{Limit: 1}
	items, err := s.Ledger.ListMedia(ctx, owner, ledger.MediaQuery{Tree: text, Page: first})
	operations, failed := s.Ledger.ListOperations(ctx, owner, ledger.OperationQuery{Tree: text, Page: first})
	if len(items.Items)+len(operations.Items) == 0 {
		return "", cmp.Or(err, failed, missing)
	}
	return text, nil
}

// mediaLists maps the nouns of items to the commands that list them.
var mediaLists = map[string]string{"item": "media list", "deleted item": "media list --deleted"}

func nounOf(q ledger.MediaQuery) string {
	if q.Deleted {
		return "deleted item"
	}
	return "item"
}

var refStart = regexp.MustCompile(`^[a-z]{3}-[0-9a-z]*$`)

// mediaNamed returns the items of a query that text means, newest first: one by its id, or those with a ref.
func (s *stores) mediaNamed(ctx context.Context, q ledger.MediaQuery, text string) ([]ledger.Record, error) {
	ref, err := media.ParseRef(text)
	if start := strings.ToLower(strings.TrimSpace(text)); err != nil && refStart.MatchString(start) {
		q.RefPrefix = start
		if text, err = s.eachMedia(ctx, q, text, "ref", func(r ledger.Record) (string, bool) { return string(r.Ref), true }); err != nil {
			return nil, err
		}
		ref, err = media.ParseRef(text)
	}
	if err != nil {
		r, err := s.mediaRecord(ctx, q, text)
		return []ledger.Record{r}, err
	}
	q.Ref, q.RefPrefix = ref, ""
	list, err := s.Ledger.ListMedia(ctx, owner, q)
	if err == nil && len(list.Items) == 0 {
		noun := nounOf(q)
		err = media.Errorf(media.CodeNotFound, "there is no %s with the ref %s: see `atelier %s`", noun, ref, mediaLists[noun])
	}
	return list.Items, err
}

// mediaRecord returns the item of a query that text, which is no ref, means.
func (s *stores) mediaRecord(ctx context.Context, q ledger.MediaQuery, text string) (ledger.Record, error) {
	if q.Deleted && len(text) >= len(lastID) {
		return ledger.Record{Output: media.Output{ID: text}}, nil // the ledger reports whether it was deleted
	}
	id, err := findID(text, nounOf(q),
		func(id string) (ledger.Record, error) { return s.Ledger.MediaRecord(ctx, owner, id) },
		func(p ledger.Page) (ledger.List[ledger.Record], error) {
			q.Page = p
			return s.Ledger.ListMedia(ctx, owner, q)
		},
		func(r ledger.Record) identified { return identified{r.ID, string(r.Ref) + "  " + short(r.Label, 60)} })
	if err != nil || q.Deleted {
		return ledger.Record{Output: media.Output{ID: id}}, err
	}
	return s.Ledger.MediaRecord(ctx, owner, id)
}

// eachMedia searches the media of a query for the only name that fits: several records can share a ref or a tree.
func (s *stores) eachMedia(ctx context.Context, q ledger.MediaQuery, text, noun string, fits func(ledger.Record) (string, bool)) (string, error) {
	var rows []identified
	for q.Limit = ledger.MaxLimit; ; {
		list, err := s.Ledger.ListMedia(ctx, owner, q)
		if err != nil {
			return "", err
		}
		for _, r := range list.Items {
			id, ok := fits(r)
			if ok && len(rows) < maxAmbiguous && !slices.ContainsFunc(rows, func(have identified) bool { return have.id == id }) {
				rows = append(rows, identified{id, localTime(r.CreatedAt) + "  " + short(r.Label, 60)})
			}
		}
		if q.After = list.Next; q.After == "" {
			return one(text, noun, rows)
		}
	}
}
