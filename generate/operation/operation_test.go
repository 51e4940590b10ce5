package operation_test

import (
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/operation"
	"atelier/media"
)

// letters name the statuses in the grids.
var letters = map[string]generate.Status{
	"-": generate.StatusNew, "q": generate.StatusQueued, "b": generate.StatusSubmitted, "r": generate.StatusRunning,
	"s": generate.StatusSucceeded, "p": generate.StatusPartial, "f": generate.StatusFailed,
	"m": generate.StatusModerated, "c": generate.StatusCancelled,
}

// grids has, for every subject, the status that follows each status (row) and event (column); a dot marks an impossible
// event.
var grids = map[operation.Subject]string{
	operation.SubjectOperation: `
  generate resume retry rejoin notify cancel abandon send name extra leave reject succeed succeed-in-part fail moderate
- q        .      .     .      .      .      .       .    .    .     .     .      .       .               .    .
q .        q      q     q      q      c      q       b    r    .     r     .      s       p               f    m
b .        b      b     b      b      c      b       b    r    .     r     .      s       p               f    m
r .        r      r     r      r      c      r       r    r    .     r     .      s       p               f    m
s .        s      q     s      q      .      s       s    s    .     .     .      .       .               .    .
p .        p      q     q      q      .      p       p    p    .     .     .      .       .               .    .
f .        f      q     q      q      .      f       f    f    .     .     .      .       .               .    .
m .        m      q     m      q      .      m       m    m    .     .     .      .       .               .    .
c .        c      q     q      c      c      c       c    c    .     .     .      .       .               .    .`,
	operation.SubjectAttempt: `
  generate resume retry rejoin notify cancel abandon send name extra leave reject succeed succeed-in-part fail moderate
- .        .      .     .      .      .      .       b    .    .     .     f      .       .               .    .
q .        .      .     .      .      .      .       .    .    .     .     .      .       .               .    .
b .        .      .     .      .      c      .       .    r    .     b     .      s       p               f    m
r .        .      .     .      .      c      .       .    r    .     r     .      s       p               f    m
s .        .      .     .      .      .      .       .    .    .     .     .      .       .               .    .
p .        .      .     .      .      .      .       .    r    .     .     .      .       .               .    .
f .        .      .     .      .      .      .       .    r    .     .     .      .       .               .    .
m .        .      .     .      .      .      .       .    r    .     .     .      .       .               .    .
c .        .      .     .      .      .      .       .    r    .     .     .      .       .               .    .`,
	operation.SubjectSlot: `
  generate resume retry rejoin notify cancel abandon send name extra leave reject succeed succeed-in-part fail moderate
- q        .      .     .      .      .      .       .    .    r     .     .      .       .               .    .
q .        .      .     .      .      c      .       .    .    .     r     .      s       .               f    m
b .        .      .     .      .      .      .       .    .    .     .     .      .       .               .    .
r .        .      .     .      .      c      .       .    .    .     r     .      s       .               f    m
s .        .      .     .      .      .      .       .    .    .     .     .      .       .               .    .
p .        .      .     .      .      .      .       .    .    .     .     .      .       .               .    .
f .        .      .     .      .      c      .       .    .    .     r     .      s       .               f    m
m .        .      .     .      .      c      .       .    .    .     r     .      s       .               f    m
c .        .      .     .      .      c      .       .    .    .     r     .      s       .               f    m`,
}

// TestEveryStatusAndEvent tests every subject, status and event.
func TestEveryStatusAndEvent(t *testing.T) {
	t.Parallel()
	seen := 0
	for subject, grid := range grids {
		lines := strings.Split(strings.TrimPrefix(grid, "\n"), "\n")
		events := strings.Fields(lines[0])
		reached := map[generate.Status]map[generate.Status]bool{}
		for _, line := range lines[1:] {
			cells := strings.Fields(line)
			from := letters[cells[0]]
			reached[from] = map[generate.Status]bool{from: true}
			for i, event := range events {
				seen++
				cell := cells[i+1]
				got, err := operation.Advance(subject, from, operation.Event(event))
				want, can := letters[cell]
				switch {
				case !can && (media.CodeOf(err) != media.CodeInternal || got != from):
					t.Errorf("%s: %s at %q becomes %q, %v; want an internal error and no change", subject, event, from, got, err)
				case can && (err != nil || got != want):
					t.Errorf("%s: %s at %q becomes %q, %v; want %q", subject, event, from, got, err, want)
				}
				reached[from][got] = true
			}
		}
		for _, from := range letters {
			for _, to := range letters {
				if err := operation.Check(subject, from, to); (err == nil) != reached[from][to] {
					t.Errorf("%s: check of %q to %q: %v", subject, from, to, err)
				}
			}
		}
	}
	if want := 3 * 9 * 16; seen != want {
		t.Errorf("%d cells, want %d", seen, want)
	}
}

func TestOver(t *testing.T) {
	t.Parallel()
	for letter, s := range letters {
		if s.Finished() != strings.Contains("spfmc", letter) {
			t.Errorf("%q: over is %t", s, s.Finished())
		}
	}
}
