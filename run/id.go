package run

import (
	"context"
	"strings"

	"atelier/ledger"
	"atelier/media"
)

// longestID is the maximum length of a run's id, in bytes.
const longestID = 128

// checkID refuses an invalid run id. A dot would be that of a part, see partID.
func checkID(id string) error {
	usable := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if id == "" || len(id) > longestID || strings.ContainsFunc(id, func(r rune) bool { return !usable(r) }) {
		return media.Errorf(media.CodeInvalid, "the run id %.80q is invalid: use 1 to %d letters a to z, digits, - and _, or omit it for a new id", media.ErrorText(id), longestID)
	}
	return nil
}

// unused refuses the id of an existing run, also of another owner: a new run must not write to its
// row, log and refs.
func unused(ctx context.Context, l ledger.Store, id string) error {
	known, err := l.HasRun(ctx, id)
	if err == nil && known {
		err = media.Errorf(media.CodeConflict, "a run with the id %.80q already exists: give another id, or omit it for a new one", media.ErrorText(id))
	}
	return err
}
