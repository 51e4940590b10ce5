package value_test

import (
	"math"
	"testing"

	"atelier/draw/internal/value"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   any
		want float64
		ok   bool
	}{
		{1.5, 1.5, true},
		{3, 3, true},
		{"1,234.5", 1234.5, true},
		{" 12% ", 12, true},
		{"1,234,567 %", 1234567, true},
		{"1,00,000", 100000, true},
		{"−1,234.5", -1234.5, true},
		{"−", math.NaN(), true},
		{"12,5", 0, false},
		{"1.234,567", 0, false},
		{"1,234e2", 0, false},
		{"n/a", math.NaN(), true},
		{nil, math.NaN(), true},
		{math.Inf(1), math.NaN(), true},
		{1e-200, 0, true},
		{1e200, 0, false},
		{"twelve", 0, false},
		{true, 0, false},
	} {
		got, ok := value.Number(c.in)
		if ok != c.ok || got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("Number(%v) = %v, %v", c.in, got, ok)
		}
	}
}

func TestTextIsOneCleanLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[any]string{" a\n\tb\x00c ": "a b c", 2.5: "2.5", 1e21: "1000000000000000000000", "\xffx": "�x", nil: "", true: "true"} {
		if got := value.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFieldIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	for range 50 {
		if got := value.Field(map[string]any{"NAME": 1, "Name": 2, "nAme": 3}, "name"); got != 1 {
			t.Fatalf("Field = %v, want the first key in order", got)
		}
	}
	if got := value.Field(map[string]any{"b": 1, "A": 2}, "a", "b"); got != 1 {
		t.Errorf("an exact key must win: %v", got)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	got, err := value.Decode([]map[string]int{{"a": 1}})
	if err != nil || got.([]any)[0].(map[string]any)["a"] != 1.0 {
		t.Errorf("Decode = %v, %v", got, err)
	}
	if _, err := value.Decode("{"); err == nil {
		t.Error("broken JSON was taken")
	}
	if b, ok := value.Flag(" TRUE "); !b || !ok {
		t.Error("Flag does not read text")
	}
}
