package bfl_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// TestVerdicts: the categories of a refusal are the provider's reasons, each once. The status gives the stage of the
// refusal and is not a reason.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]generate.Safety{
		`{"id":"t","status":"Request Moderated"}`:                                         {Stage: "input"},
		`{"id":"t","status":"Content Moderated","details":null}`:                          {Stage: "output"},
		`{"id":"t","status":"Content Moderated","details":{"Moderation Reasons":[]}}`:     {Stage: "output"},
		`{"id":"t","status":"Content Moderated","details":{"Moderation Reasons":"hate"}}`: {Stage: "output"},
		`{"id":"t","status":"Request Moderated","details":{"Moderation Reasons":["Violence","","Violence","Derivative Works Filter"]}}`: {
			Stage: "input", Categories: []string{"Violence", "Derivative Works Filter"},
		},
	} {
		u, err := newFixedDriver(t, http.StatusOK, body).Poll(t.Context(), driver.Task{}, driver.Handle{ID: "t"})
		if err != nil || !u.Done || len(u.Items) != 1 || media.CodeOf(u.Items[0].Err) != media.CodeModerated {
			t.Errorf("%s: %+v, %v", body, u, err)
			continue
		}
		want.Blocked = true
		if diff := cmp.Diff(&want, u.Items[0].Safety); diff != "" {
			t.Errorf("%s (-want +got): %s", body, diff)
		}
	}
}
