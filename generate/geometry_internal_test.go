package generate

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestFreeSizeIsLegal: whatever is asked, what is sent is legal, what was legal is
// not changed, and the ratio stays near where the rule allows it.
func TestFreeSizeIsLegal(t *testing.T) {
	t.Parallel()
	c, err := LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gpt-image-2", "offline-1"} {
		m, _ := c.Lookup(name)
		rapid.Check(t, func(t *rapid.T) {
			ask := sides{rapid.IntRange(1, maxAskedSide).Draw(t, "w"), rapid.IntRange(1, maxAskedSide).Draw(t, "h")}
			got := m.Size.fitSize(ask)
			if !m.Size.legal(got.sides) {
				t.Fatalf("%s: %s becomes %s, which is not legal", name, ask, got)
			}
			if m.Size.legal(ask) && got.sides != ask {
				t.Fatalf("%s: legal %s becomes %s", name, ask, got)
			}
			if r := ask.ratio(); r <= 2.9 && r >= 1/2.9 && math.Abs(math.Log(got.ratio2()/r)) > 0.05 {
				t.Fatalf("%s: %s becomes %s, another ratio", name, ask, got)
			}
		})
	}
}

func (f fit) ratio2() float64 { return f.sides.ratio() }

// TestSnapIsStable: every size of the tables is its own nearest, and ratio tells the
// same cell.
func TestSnapIsStable(t *testing.T) {
	t.Parallel()
	c, err := LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Models() {
		for tier, row := range m.Size.Table {
			for ratio, text := range row {
				s, _ := parseSize(text)
				if got := m.Size.fitSize(s); got.sides != s || got.ratio != ratio || got.tier != tier {
					t.Errorf("%s: %s of %s %s becomes %+v", m.Name, s, ratio, tier, got)
				}
			}
		}
		for _, v := range m.Size.Values {
			s, _ := parseSize(v)
			if got := m.Size.fitSize(s); got.sides != s {
				t.Errorf("%s: %s becomes %s", m.Name, s, got)
			}
		}
	}
}

func TestTiesGoToTheLarger(t *testing.T) {
	t.Parallel()
	rule := SizeRule{Mode: "enum", Values: []string{"100x100", "400x400"}}
	if got := rule.fitSize(sides{200, 200}); got.w != 400 {
		t.Errorf("200x200 becomes %s, want the larger of two equally near", got)
	}
	rule = SizeRule{Mode: "enum", Values: []string{"200x100", "200x400"}}
	if got := rule.fitSize(sides{100, 100}); got.h != 400 {
		t.Errorf("1:1 becomes %s, want the larger of two equally near ratios", got)
	}
}

func TestDecimalIsExact(t *testing.T) {
	t.Parallel()
	m := Model{Prices: []Price{
		{Unit: "token_text_in", USD: "5"},
		{Unit: "token_image_out", USD: "30"},
	}}
	got := settle([]receipt{
		{model: m, usage: Usage{InputTokens: 1, OutputTokens: 2058, ImageOutputTokens: 2058}},
		{model: m, reportedUSD: "0.1"},
		{model: m, reportedUSD: "0.2"},
	})
	if got == nil || *got != "0.361745" {
		t.Errorf("settle gives %v, want 0.361745", got)
	}
	if got := settle([]receipt{{model: m, reportedUSD: "0.1"}, {model: m, usage: Usage{OutputTokens: 5}}}); got != nil {
		t.Errorf("an unpriced kind of token costs %s, want unknown", *got)
	}
	if got := settle([]receipt{{model: m, reportedUSD: "lots"}}); got != nil {
		t.Errorf("an unreadable amount costs %s, want unknown", *got)
	}
	if got := settle(nil); got != nil {
		t.Errorf("no call costs %s, want unknown", *got)
	}
	if got := decimal(big.NewRat(100, 1)); got != "100" {
		t.Errorf("100 is written %s", got)
	}
}
