package run

import (
	"context"
	"strings"

	"atelier/media"
)

// longestID is how long the id of a run may be, in bytes.
const longestID = 128

// checkID refuses what is no id of a run. A dot would be that of a part, see partID.
func checkID(id string) error {
	usable := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if id == "" || len(id) > longestID || strings.ContainsFunc(id, func(r rune) bool { return !usable(r) }) {
		return media.Errorf(media.CodeInvalid, "the run id %.80q cannot be used: give 1 to %d letters a to z, digits, - and _, or none for a new one", media.ErrorText(id), longestID)
	}
	return nil
}

// unused refuses the id of a run that there is, also somebody else's: its row, its log and
// its refs are not to be written to by another run.
func (s *Service) unused(ctx context.Context, id string) error {
	known, err := s.cfg.Ledger.HasRun(ctx, id)
	if err == nil && known {
		err = media.Errorf(media.CodeConflict, "there is a run with the id %.80q: give another one, or none for a new one", media.ErrorText(id))
	}
	return err
}
