package sqlstore

import (
	"database/sql"
	"errors"

	"atelier/media"
)

// Failure adds a code to an error and wraps it once; nil stays nil and errors that
// have a code pass.
func Failure(d Dialect, what string, err error) error {
	if err == nil {
		return nil
	}
	var coded *media.Error
	if errors.As(err, &coded) {
		return err
	}
	if errors.Is(err, sql.ErrNoRows) {
		return media.Errorf(media.CodeNotFound, "%s: not found", what)
	}
	return d.Failure(what, err)
}

func (s *db) failure(what string, err error) error { return Failure(s.dialect, what, err) }

// needOwner refuses a read without scope.
func needOwner(owner string) error {
	if owner == "" {
		return media.Errorf(media.CodeForbidden, "the owner is missing: every ledger read requires one")
	}
	return nil
}

// need refuses a row without its required values, given as name, value pairs.
func need(what string, pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return media.Errorf(media.CodeInvalid, "%s: %s is empty: set it", what, pairs[i])
		}
	}
	return nil
}

// found is the error of a statement that has to change a row: not_found if it changed none.
func found(what, id string, rows int64, err error) error {
	if err == nil && rows == 0 {
		return media.Errorf(media.CodeNotFound, "%s: there is no %q", what, id)
	}
	return err
}
