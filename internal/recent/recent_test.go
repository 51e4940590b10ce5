package recent_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"atelier/internal/recent"
)

func TestValuesAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := recent.Cache[string, int]{For: time.Second, Limit: 2}
		n := 0
		want := func(key string, want int) {
			t.Helper()
			if got, err := c.Get(key, func() (int, error) { n++; return n, nil }); err != nil || got != want {
				t.Errorf("%s: %d, %v, want %d", key, got, err, want)
			}
		}
		want("a", 1)
		want("b", 2)
		time.Sleep(time.Second - time.Nanosecond)
		want("a", 1)
		time.Sleep(time.Nanosecond)
		want("a", 3)
		want("c", 4) // the cache is full: c becomes its only entry
		want("c", 4)
		want("a", 5)
		c.Drop()
		want("a", 6)
	})
}

func TestErrorsAreNotKept(t *testing.T) {
	t.Parallel()
	c := recent.Cache[string, int]{For: time.Hour, Limit: 2}
	broken := errors.New("broken")
	if _, err := c.Get("a", func() (int, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if got, err := c.Get("a", func() (int, error) { return 1, nil }); err != nil || got != 1 {
		t.Error(got, err)
	}
}

// TestDropWhileReading: a value that was read before a Drop is not kept after it.
func TestDropWhileReading(t *testing.T) {
	t.Parallel()
	c := recent.Cache[string, int]{For: time.Hour, Limit: 2}
	if got, err := c.Get("a", func() (int, error) { c.Drop(); return 1, nil }); err != nil || got != 1 {
		t.Error(got, err)
	}
	if got, err := c.Get("a", func() (int, error) { return 2, nil }); err != nil || got != 2 {
		t.Error(got, err)
	}
}
