package ledger_test

import (
	"testing"

	"atelier/ledger"
	"atelier/media"
)

func TestParsePico(t *testing.T) {
	t.Parallel()
	for usd, want := range map[string]ledger.Pico{
		"0": 0, "0.25": 250_000_000_000, "5": 5_000_000_000_000, "007": 7_000_000_000_000,
		"0.0000000000001": 1, "0.1234567890123": 123_456_789_013, "4000000": 4_000_000_000_000_000_000,
	} {
		if got, err := ledger.ParsePico(usd); err != nil || got != want {
			t.Errorf("%s is %d, %v, want %d", usd, got, err, want)
		}
	}
	for _, usd := range []string{"", " ", "-1", "+1", "1/3", "1e9", "1e999999999", "0x10", "1_000", ".5", "5.", "1,5", "$5", "Inf", "NaN", "5000000", "99999999999999999999", "999999999999999999999"} {
		if got, err := ledger.ParsePico(usd); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%q is %d, %v", usd, got, err)
		}
	}
}

func FuzzParsePico(f *testing.F) {
	for _, s := range []string{"0", "0.25", "1e9", "1/3", "99999999999999999999.9", "-1", "0.0000000000000000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ledger.ParsePico(s)
		if err != nil {
			return
		}
		if again, err := ledger.ParsePico(p.USD()); p < 0 || err != nil || again != p {
			t.Errorf("%q is %d, written %q, read %d, %v", s, p, p.USD(), again, err)
		}
	})
}

func TestUnitsAreWritten(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"$0.25": ledger.UnitMoney.Format(250_000_000_000), "$1": ledger.Unit("").Format(1_000_000_000_000),
		"1 image": ledger.UnitImages.Format(1), "2 images": ledger.UnitImages.Format(2), "0 tokens": ledger.UnitTokens.Format(0),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
