package midjourney_test

import (
	"slices"
	"testing"
	"time"

	"atelier/generate/driver"
	"atelier/generate/generatetest"
)

// FuzzList: whatever a proxy answers about its jobs, the driver neither panics nor quotes media or the secret, and
// returns only named jobs.
func FuzzList(f *testing.F) {
	for _, s := range []string{
		`[{"id":"1","status":"SUBMITTED","state":"op-1"},{"id":2,"state":"op-1","status":"MODAL"},{"state":"op-1"}]`, `[null,7,{"state":["op-1"],"id":{}}]`, `null`, `{}`,
	} {
		f.Add(uint16(0), s)
		f.Add(uint16(204), s)
	}
	f.Fuzz(func(t *testing.T, status uint16, body string) {
		q := plain()
		q.Key = "op-1"
		found, err := driver.Find(t.Context(), fuzzed(t, generatetest.Answer{Status: 200 + int(status)%400, Body: body}), q, time.Time{})
		generatetest.Sane(t, driver.Update{}, err, "very-secret")
		if err != nil && len(found) > 0 || slices.Contains(found, driver.Handle{}) {
			t.Errorf("%q is %v, %v", body, found, err)
		}
	})
}

// TestFindLeavesOut: jobs that wait for a window, and all jobs if there is no key, belong to no call.
func TestFindLeavesOut(t *testing.T) {
	t.Parallel()
	const list = `[{"id":"1","status":"MODAL","state":"op-1"},{"id":"2","status":"SUCCESS","state":"op-1"},{"id":"3","status":"SUCCESS","state":""}]`
	d := fuzzed(t, generatetest.Answer{Status: 200, Body: list})
	for key, want := range map[string][]driver.Handle{"op-1": {{ID: "2"}}, "op-2": nil, "": nil} {
		q := plain()
		q.Key = key
		if found, err := driver.Find(t.Context(), d, q, time.Time{}); err != nil || !slices.Equal(found, want) {
			t.Errorf("%q: found %v, %v; want %v", key, found, err, want)
		}
	}
}
