package step_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/journal/step"
	"atelier/media"
)

// TestFailureRoundTrip: a journalled error means the same to its reader as the original error.
func TestFailureRoundTrip(t *testing.T) {
	t.Parallel()
	limited := media.Errorf(media.CodeRateLimited, "the provider is busy")
	limited.Retryable, limited.RetryAfter = true, 3*time.Second
	unknown := media.Errorf(media.CodeUnknownRef, "unknown ref")
	unknown.Valid = []string{"img-00000001", "img-00000002"}
	for name, c := range map[string]struct {
		err   error
		after time.Duration
		valid []string
	}{
		"coded":       {media.Errorf(media.CodeInvalid, "bad input"), 0, nil},
		"retry after": {fmt.Errorf("ask model: %w", limited), 3 * time.Second, nil},
		"valid":       {unknown, 0, unknown.Valid},
		"uncoded":     {io.ErrUnexpectedEOF, 0, nil},
		"cancelled":   {context.Canceled, 0, nil},
		"joined":      {errors.Join(errors.New("first"), limited), 3 * time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := json.Marshal(step.FailureOf(c.err))
			if err != nil {
				t.Fatal(err)
			}
			var kept step.Failure
			if err := json.Unmarshal(b, &kept); err != nil {
				t.Fatal(err)
			}
			got := kept.Err()
			if media.CodeOf(got) != media.CodeOf(c.err) || media.Retryable(got) != media.Retryable(c.err) {
				t.Errorf("%s: code %s and retryable %v, want %s and %v", c.err, media.CodeOf(got), media.Retryable(got), media.CodeOf(c.err), media.Retryable(c.err))
			}
			if got.RetryAfter != c.after || !cmp.Equal(got.Valid, c.valid) || !strings.Contains(got.Error(), media.ErrorText(c.err.Error())) {
				t.Errorf("%q: after %s, valid %v; of %q", got, got.RetryAfter, got.Valid, c.err)
			}
		})
	}
}

// TestFailureWithoutMedia: a journalled message holds no media data.
func TestFailureWithoutMedia(t *testing.T) {
	t.Parallel()
	data := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 40)
	f := step.FailureOf(media.Errorf(media.CodeBadResponse, "unexpected answer: data:image/png;base64,%s", data))
	if strings.Contains(f.Message, data) {
		t.Errorf("the record contains the data: %s", f.Message)
	}
	if !strings.HasPrefix(f.Message, "unexpected answer") {
		t.Errorf("the record does not say what happened: %s", f.Message)
	}
}

// TestSavedFailure: failures in saved journals stay readable.
func TestSavedFailure(t *testing.T) {
	t.Parallel()
	var f step.Failure
	if err := json.Unmarshal([]byte(`{"code":"over_budget","message":"too much","retryable":true,"retry_after_ns":5,"valid":["a"]}`), &f); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(step.Failure{Code: media.CodeOverBudget, Message: "too much", Retryable: true, RetryAfter: 5, Valid: []string{"a"}}, f); diff != "" {
		t.Error(diff)
	}
}
