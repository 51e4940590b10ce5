package catalog

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestFreeSizeIsLegal: for any requested size, the size sent is legal, a legal size is unchanged, and the ratio stays
// close where the rule allows it.
func TestFreeSizeIsLegal(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gpt-image-2", "offline-1"} {
		m, _ := c.Lookup(name)
		rapid.Check(t, func(t *rapid.T) {
			ask := Sides{rapid.IntRange(1, maxAskedSide).Draw(t, "w"), rapid.IntRange(1, maxAskedSide).Draw(t, "h")}
			got := m.Size.FitSize(ask)
			if !m.Size.allows(got.Sides) {
				t.Fatalf("%s: %s becomes %s, which is not legal", name, ask, got)
			}
			if m.Size.allows(ask) && got.Sides != ask {
				t.Fatalf("%s: legal %s becomes %s", name, ask, got)
			}
			if r := ask.Ratio(); r <= 2.9 && r >= 1/2.9 && math.Abs(math.Log(got.ratio2()/r)) > 0.05 {
				t.Fatalf("%s: %s becomes %s, another ratio", name, ask, got)
			}
		})
	}
}

func (f Fit) ratio2() float64 { return f.Sides.Ratio() }

// TestSnapIsStable: every size of the tables is its own nearest size, and its ratio and tier name the same cell.
func TestSnapIsStable(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Models() {
		for tier, row := range m.Size.Table {
			for ratio, text := range row {
				s, _ := ParseSize(text)
				if got := m.Size.FitSize(s); got.Sides != s || got.Ratio != ratio || got.Tier != tier {
					t.Errorf("%s: %s of %s %s becomes %+v", m.Name, s, ratio, tier, got)
				}
			}
		}
		for _, v := range m.Size.Values {
			s, _ := ParseSize(v)
			if got := m.Size.FitSize(s); got.Sides != s {
				t.Errorf("%s: %s becomes %s", m.Name, s, got)
			}
		}
	}
}

func TestTiesGoToTheLarger(t *testing.T) {
	t.Parallel()
	rule := SizeRule{Mode: "enum", Values: []string{"100x100", "400x400"}}
	if got := rule.FitSize(Sides{200, 200}); got.W != 400 {
		t.Errorf("200x200 becomes %s, want the larger of two equally near", got)
	}
	rule = SizeRule{Mode: "enum", Values: []string{"200x100", "200x400"}}
	if got := rule.FitSize(Sides{100, 100}); got.H != 400 {
		t.Errorf("1:1 becomes %s, want the larger of two equally near ratios", got)
	}
}
