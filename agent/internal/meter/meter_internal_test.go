package meter

import (
	"math/rand/v2"
	"testing"
	"time"
)

func at(seconds int) time.Time { return time.Unix(int64(seconds), 0) }

func TestMeter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spans [][2]int
		want  int
	}{
		"nothing":      {nil, 0},
		"one":          {[][2]int{{1, 4}}, 3},
		"twice told":   {[][2]int{{1, 4}, {1, 4}}, 3},
		"at once":      {[][2]int{{1, 4}, {2, 6}}, 5},
		"within":       {[][2]int{{1, 9}, {2, 6}}, 8},
		"around":       {[][2]int{{2, 6}, {1, 9}}, 8},
		"a wait":       {[][2]int{{1, 4}, {100, 101}}, 4},
		"out of order": {[][2]int{{100, 101}, {1, 4}, {50, 60}}, 14},
		"bridged":      {[][2]int{{1, 3}, {5, 7}, {2, 6}}, 6},
		"backwards":    {[][2]int{{4, 1}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := &Meter{}
			m := &Meter{Parent: up}
			for _, s := range tt.spans {
				m.Add(at(s[0]), at(s[1]))
			}
			for _, m := range []*Meter{m, up} {
				if got := m.Worked(at(1000)); got != time.Duration(tt.want)*time.Second {
					t.Errorf("worked %s, want %d s", got, tt.want)
				}
			}
		})
	}
}

// TestMeterCountsSeconds compares the meter with counting second by second.
func TestMeterCountsSeconds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		m, seconds := &Meter{}, map[int]bool{}
		for range r.IntN(30) {
			from := 1 + r.IntN(100)
			to := from + r.IntN(20)
			m.Add(at(from), at(to))
			for s := from; s < to; s++ {
				seconds[s] = true
			}
		}
		if got := m.Worked(at(0)); got != time.Duration(len(seconds))*time.Second {
			t.Fatalf("worked %s, want %d s: %v", got, len(seconds), m.spans)
		}
	}
}

// TestMeterSeesWhatIsUnderWay: work in progress counts up to the present, also for the parent.
func TestMeterSeesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	now := at(10)
	up := &Meter{}
	m := &Meter{Parent: up}
	m.Add(at(1), at(3))
	end := m.Begin(func() time.Time { return now })
	other := m.Begin(func() time.Time { return at(12) })
	for _, m := range []*Meter{m, up} {
		if got := m.Worked(at(15)); got != 7*time.Second {
			t.Errorf("worked %s, want 7 s", got)
		}
	}
	other()
	end()
	if got := up.Worked(at(15)); got != 2*time.Second {
		t.Errorf("worked %s, want 2 s", got)
	}
	done := m.During(func() time.Time { return now })
	now = at(12)
	done()
	if got := up.Worked(at(99)); got != 4*time.Second {
		t.Errorf("worked %s, want 4 s", got)
	}
}
