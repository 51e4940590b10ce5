package ledger

import (
	"context"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"atelier/media"
)

// Pico is an amount of money in trillionths of a US dollar.
type Pico int64

// picoDigits is the number of decimals of a dollar in a [Pico].
const picoDigits = 12

// amountText is the format of amounts.
var amountText = regexp.MustCompile(`^[0-9]{1,20}(\.[0-9]{1,40})?$`)

// ParsePico parses decimal dollars. Finer amounts are rounded up, so that rounding never overdraws a budget. The error
// has code media.CodeInvalid.
func ParsePico(usd string) (Pico, error) {
	r, ok := new(big.Rat), amountText.MatchString(usd)
	if ok {
		r, ok = r.SetString(usd)
	}
	if !ok {
		return 0, media.Errorf(media.CodeInvalid, "%.20q is not an amount in dollars: write it like 0.25", usd)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(picoDigits), nil)
	r.Mul(r, new(big.Rat).SetInt(scale))
	whole, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	const most = 1 << 62
	if !whole.IsInt64() || whole.Int64() > most {
		return 0, media.Errorf(media.CodeInvalid, "%.20q dollars is too much: the maximum is 4 million", usd)
	}
	return Pico(whole.Int64()), nil
}

// PicoOf parses a stored amount; nil and one that cannot be parsed are 0.
func PicoOf(usd *string) Pico {
	if usd == nil {
		return 0
	}
	p, _ := ParsePico(*usd) // 0 with an error
	return p
}

// ParseDollars parses an amount that a person wrote, with or without a dollar sign; empty text means no amount. name
// identifies the value in the error, which has code media.CodeInvalid.
func ParseDollars(name, text string) (string, error) {
	usd := strings.TrimPrefix(strings.TrimSpace(text), "$")
	if usd == "" {
		return "", nil
	}
	if _, err := ParsePico(usd); err != nil {
		return "", media.Errorf(media.CodeInvalid, "%s: %w", name, err)
	}
	return usd, nil
}

// USD returns the exact amount in decimal dollars.
func (p Pico) USD() string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(picoDigits), nil)
	s := new(big.Rat).SetFrac(big.NewInt(int64(p)), scale).FloatString(picoDigits)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Unit is the unit of a budget.
type Unit string

// The units.
const (
	// UnitMoney counts in [Pico].
	UnitMoney Unit = "usd"
	// UnitTokens counts tokens of chat models, input and output.
	UnitTokens Unit = "tokens"
	// UnitImages counts pictures that models make.
	UnitImages Unit = "images"
)

// Format returns an amount for people: $0.25, 3 images.
func (u Unit) Format(amount int64) string {
	switch u {
	case UnitTokens, UnitImages:
		if amount == 1 {
			return "1 " + strings.TrimSuffix(string(u), "s")
		}
		return strconv.FormatInt(amount, 10) + " " + string(u)
	case UnitMoney:
	}
	return "$" + Pico(amount).USD()
}

// Amount is the amount of each unit that an act needs or used.
type Amount struct {
	Money          Pico
	Tokens, Images int64
}

// Of returns the amount of one unit.
func (a Amount) Of(u Unit) int64 {
	switch u {
	case UnitTokens:
		return a.Tokens
	case UnitImages:
		return a.Images
	case UnitMoney:
	}
	return int64(a.Money)
}

// Limit is one budget that an act counts against.
type Limit struct {
	// Name is unique, see [Budgets].Budget.
	Name string
	// Unit is what the budget counts; it never changes for a name.
	Unit Unit
	// Max is the maximum of the spent and reserved amounts together, in the unit.
	Max int64
	// Setting names the setting of the limit for errors; empty if unknown.
	Setting string
}

// CheckRemaining returns nil if the amount fits into the limit in addition to the spent and reserved amounts; otherwise
// it returns the error of [Budgets].Reserve.
func (l Limit) CheckRemaining(amount, spent, reserved int64) error {
	left := l.Max - spent - reserved
	if amount == 0 && l.Unit == UnitImages || left >= amount && left > 0 {
		return nil
	}
	name := l.Name
	if l.Setting != "" {
		name = l.Setting + " (" + l.Name + ")"
	}
	return media.Errorf(media.CodeOverBudget, "the budget %s has %s left of %s, and this needs %s: raise the budget or request less",
		name, l.Unit.Format(max(left, 0)), l.Unit.Format(l.Max), l.Unit.Format(amount))
}

// Balance is the state of a budget.
type Balance struct {
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
	// Spent and Reserved are in the unit.
	Spent    int64 `json:"spent"`
	Reserved int64 `json:"reserved"`
}

// Budgets stores spent and reserved amounts. An act is an operation or a call of a chat model, identified by its id.
type Budgets interface {
	// Reserve reserves an amount for an act in every limit, all or none, in one commit. The error has code
	// media.CodeOverBudget and names the budget and the remaining amount. A zero amount passes while something remains;
	// zero images always pass. A second reservation for the same act changes nothing. A reservation for an act that has
	// no row in the ledger a minute later is refunded.
	Reserve(ctx context.Context, act string, amount Amount, limits []Limit) error
	// Settle ends the act's reservations and counts the spent amount. For a settled act, or one without reservations,
	// it changes nothing.
	Settle(ctx context.Context, act string, spent Amount) error
	// Budget returns the spent and reserved amounts of a name: zeros if nothing was counted, which includes a budget
	// without a limit. Package run names those of money "run:ID" (the root run's id), "day:OWNER:2026-11-21" (in UTC)
	// and "owner:OWNER". Those of another unit are prefixed with it: "tokens:owner:OWNER", "images:run:ID".
	Budget(ctx context.Context, name string) (Balance, error)
}
