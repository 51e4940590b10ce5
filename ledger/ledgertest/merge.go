package ledgertest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/ledger"
	"atelier/media"
)

// versionSevenTime is the time of the rows of version 7.
const versionSevenTime = "2026-11-20T04:00:00.000000Z"

// VersionSeven returns statements that fill a database of schema version 7, in which every run tree that was given an
// item had a copy of its record.
func VersionSeven() (statements []string) {
	add := func(format string, args ...any) { statements = append(statements, fmt.Sprintf(format, args...)) }
	for _, r := range []struct{ id, forked string }{{"r1", ""}, {"r2", ""}, {"r3", ""}, {"r4", "r1"}, {"r9", ""}} {
		add(`INSERT INTO agent_runs (id, owner, tree_id, depth, agent, status, task, forked_from, created_at, updated_at)
			VALUES ('%s', 'ann', '%[1]s', 0, 'sage', 'succeeded', 'x', NULLIF('%s', ''), '%s', '%[3]s')`, r.id, r.forked, versionSevenTime)
	}
	for _, c := range []string{"c1", "c9"} {
		add(`INSERT INTO conversations (id, owner, title, created_at, updated_at) VALUES ('%s', 'ann', 'x', '%s', '%[2]s')`, c, versionSevenTime)
	}
	for _, d := range []struct{ id, conversation, run string }{{"d1", "c1", "r1"}, {"d2", "c1", "r2"}, {"d3", "c1", "r3"}, {"d9", "c9", "r9"}} {
		add(`INSERT INTO conversation_details (id, conversation_id, role, message, run_id, created_at, updated_at)
			VALUES ('%s', '%s', 'assistant', 'x', '%s', '%s', '%[4]s')`, d.id, d.conversation, d.run, versionSevenTime)
	}
	for _, bytes := range []string{"fox", "bluer", "upload"} {
		add(`INSERT INTO blobs (digest, size_bytes, mime_type, state, created_at, updated_at) VALUES ('%s', 3, 'image/png', 'stored', '%s', '%[2]s')`,
			media.DigestOf([]byte(bytes)), versionSevenTime)
	}
	for _, m := range []struct{ id, owner, tree, bytes, direction string }{
		{"m01", "ann", "r1", "fox", "output"},
		{"m02", "ann", "r2", "fox", "input"},
		{"m03", "ann", "r2", "bluer", "output"},
		{"m04", "ann", "r3", "fox", "input"},
		{"m05", "ann", "r3", "bluer", "input"},
		{"m06", "ann", "r1", "upload", "input"},
		{"m07", "ann", "r2", "upload", "input"}, // the same conversation
		{"m08", "ann", "r9", "upload", "input"}, // given again elsewhere
		{"m09", "ann", "r4", "upload", "input"}, // a fork
		{"m10", "bob", "rb", "fox", "input"},    // another owner's
		{"m11", "ann", "op", "fox", "input"},    // an edit outside of runs
	} {
		d := media.DigestOf([]byte(m.bytes))
		add(`INSERT INTO media (id, owner, tree_id, run_id, digest, ref, modality, mime_type, size_bytes, label, direction, promoted, created_at, updated_at)
			VALUES ('%s', '%s', '%s', '%[3]s', '%s', '%s', 'image', 'image/png', 3, '%[1]s', '%[6]s', %d, '%s', '%[8]s')`,
			m.id, m.owner, m.tree, d, media.RefOf(media.ModalityImage, d), m.direction, map[bool]int{true: 1}[m.id == "m04"], versionSevenTime)
	}
	for i, p := range []struct{ media, run, direction string }{{"m01", "r1", "output"}, {"m02", "r2", "input"}, {"m03", "r2", "output"}, {"m04", "r3", "input"}} {
		add(`INSERT INTO prompt_run_media (id, owner, media_id, run_id, direction, modality, mime_type, size_bytes, display_order, created_at, updated_at)
			VALUES ('p%d', 'ann', '%s', '%s', '%s', 'image', 'image/png', 3, %[1]d, '%[5]s', '%[5]s')`, i+1, p.media, p.run, p.direction, versionSevenTime)
	}
	add(`INSERT INTO agent_run_media (id, owner, media_id, run_id, source_prompt_run_media_id, modality, mime_type, size_bytes, display_order, created_at, updated_at)
		VALUES ('a1', 'ann', 'm04', 'r3', 'p4', 'image', 'image/png', 3, 1, '%s', '%[1]s')`, versionSevenTime)
	for i, m := range []string{"m01", "m04", "m11"} { // they are one item: one attachment stays
		add(`INSERT INTO conversation_detail_attachments (id, owner, media_id, conversation_detail_id, name, modality, mime_type, size_bytes, display_order, created_at, updated_at)
			VALUES ('t%d', 'ann', '%s', 'd3', 'x', 'image', 'image/png', 3, %[1]d, '%[3]s', '%[3]s')`, i+1, m, versionSevenTime)
	}
	add(`INSERT INTO media_lineage (id, child_media_id, parent_media_id, parent_ref, role, run_id, created_at)
		VALUES ('l1', 'm03', 'm02', '%s', 'input', 'r2', '%s')`, media.RefOf(media.ModalityImage, media.DigestOf([]byte("fox"))), versionSevenTime)
	add(`INSERT INTO operations (id, owner, tree_id, status, finished_at, created_at, updated_at) VALUES ('op', 'ann', 'op', 'succeeded', '%s', '%[1]s', '%[1]s')`, versionSevenTime)
	add(`INSERT INTO operations (id, owner, tree_id, status, held_by, held_until, created_at, updated_at) VALUES ('held', 'ann', 'held', 'running', 'a', '%s', '%[1]s', '%[1]s')`, versionSevenTime)
	add(`INSERT INTO operation_slots (operation_id, slot_index, status, media_id, created_at, updated_at) VALUES ('op', 1, 'succeeded', 'm11', '%s', '%[1]s')`, versionSevenTime)
	return statements
}

// Merged checks that a store with the migrated rows of [VersionSeven] has each item once.
func Merged(t *testing.T, s ledger.Store) {
	t.Helper()
	f := &fixture{Store: s}
	ctx := t.Context()
	ids := func(who string, q ledger.MediaQuery) (got []string) {
		l, err := s.ListMedia(ctx, who, q)
		must(t, err)
		for _, r := range l.Items {
			got = append(got, r.ID)
		}
		return got
	}
	for name, d := range map[string]string{
		"all":     cmp.Diff([]string{"m08", "m06", "m03", "m01"}, ids("ann", ledger.MediaQuery{})),
		"bob's":   cmp.Diff([]string{"m10"}, ids("bob", ledger.MediaQuery{})),
		"of r3":   cmp.Diff([]string{"m03", "m01"}, ids("ann", ledger.MediaQuery{Tree: "r3"})),
		"of r2":   cmp.Diff([]string{"m06", "m03", "m01"}, ids("ann", ledger.MediaQuery{Tree: "r2"})),
		"of fork": cmp.Diff([]string{"m06"}, ids("ann", ledger.MediaQuery{Tree: "r4"})),
	} {
		if d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for old, want := range map[string]string{"m01": "m01", "m02": "m01", "m04": "m01", "m11": "m01", "m05": "m03", "m07": "m06", "m09": "m06"} {
		r, err := s.MediaRecord(ctx, "ann", old)
		if err != nil || r.ID != want || !r.Promoted && want == "m01" {
			t.Errorf("%s is %s, promoted %v, %v; want %s", old, r.ID, r.Promoted, err, want)
		}
	}
	if l, err := s.Leases(ctx, ledger.LeaseGeneration); err != nil || len(l) != 1 || l[0].Work != "held" || l[0].Holder != "a" || l[0].ExpiresAt.IsZero() {
		t.Errorf("leases %+v, %v", l, err)
	}
	if e := f.parents(t, "m03"); len(e) != 1 || e[0].ParentID != "m01" {
		t.Errorf("lineage %+v", e)
	}
	p, err := s.Provenance(ctx, "ann", "m01")
	must(t, err)
	if len(p.Children) != 1 || p.Children[0].ChildID != "m03" || len(p.Trees) != 4 || p.Trees[0].Tree != "r1" || p.Trees[1].Conversation != "c1" {
		t.Errorf("provenance %+v", p)
	}
	chosen, err := s.ListAgentMedia(ctx, "ann", "r3", ledger.Page{})
	must(t, err)
	seen, err := s.ListPromptMedia(ctx, "ann", "r2", ledger.Page{})
	must(t, err)
	attached, err := s.ListAttachments(ctx, "ann", "c1", ledger.MessageQuery{})
	must(t, err)
	_, slots, _, err := s.Operation(ctx, "ann", "op")
	must(t, err)
	if len(chosen.Items) != 1 || chosen.Items[0].MediaID != "m01" || seen.Items[0].MediaID != "m01" ||
		len(attached.Items) != 1 || attached.Items[0].MediaID != "m01" || slots[0].MediaID != "m01" {
		t.Errorf("links %+v, %+v, %+v, %+v", chosen, seen, attached, slots)
	}
}
