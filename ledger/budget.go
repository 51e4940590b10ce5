package ledger

import (
	"context"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"atelier/media"
)

// Pico is an amount of money in millionths of a millionth of a US dollar.
type Pico int64

// picoDigits is how many decimals of a dollar a [Pico] has.
const picoDigits = 12

// amountText is how amounts are written.
var amountText = regexp.MustCompile(`^[0-9]{1,20}(\.[0-9]{1,40})?$`)

// ParsePico reads decimal dollars. What is finer is rounded up: a budget is never
// overdrawn by rounding. The error has code media.CodeInvalid.
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

// ParseDollars reads an amount that a person wrote, with or without its sign; empty text is no
// amount. name says in the error where it stands; its code is media.CodeInvalid.
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

// USD writes the amount as decimal dollars, exactly.
func (p Pico) USD() string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(picoDigits), nil)
	s := new(big.Rat).SetFrac(big.NewInt(int64(p)), scale).FloatString(picoDigits)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Unit is what a budget counts.
type Unit string

// The units.
const (
	// UnitMoney counts in [Pico].
	UnitMoney Unit = "usd"
	// UnitTokens are tokens of chat models, in and out.
	UnitTokens Unit = "tokens"
	// UnitImages are pictures that models make.
	UnitImages Unit = "images"
)

// Write returns an amount for people: $0.25, 3 images.
func (u Unit) Write(amount int64) string {
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

// Amount is how much of each unit an act needs or used.
type Amount struct {
	Money          Pico
	Tokens, Images int64
}

// Of is the amount of one unit.
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
	// Unit is what it counts; it never changes for a name.
	Unit Unit
	// Most is what may be spent and reserved in all, in the unit.
	Most int64
	// Setting is what sets it, for errors; empty where nobody knows.
	Setting string
}

// Room is nil if an amount fits into the limit beside what is spent and reserved
// already; else the error is that of [Budgets].Reserve.
func (l Limit) Room(amount, spent, reserved int64) error {
	left := l.Most - spent - reserved
	if amount == 0 && l.Unit == UnitImages || left >= amount && left > 0 {
		return nil
	}
	name := l.Name
	if l.Setting != "" {
		name = l.Setting + " (" + l.Name + ")"
	}
	return media.Errorf(media.CodeOverBudget, "the budget %s has %s left of %s, and this needs %s: raise the budget or request less",
		name, l.Unit.Write(max(left, 0)), l.Unit.Write(l.Most), l.Unit.Write(amount))
}

// Balance is how a budget stands.
type Balance struct {
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
	// Spent and Reserved are in the unit.
	Spent    int64 `json:"spent"`
	Reserved int64 `json:"reserved"`
}

// Budgets keeps what was spent and what is reserved. An act is an operation or a call of
// a chat model, by its id.
type Budgets interface {
	// Reserve holds an amount for an act against every limit, all or none, in one commit.
	// The error has code media.CodeOverBudget and names the budget and what is left. An
	// amount of zero passes as long as something is left, except for images, where it
	// passes always. Reserving again for the same act changes nothing. What is reserved
	// for an act of which the ledger has no row a minute later is given back.
	Reserve(ctx context.Context, act string, amount Amount, limits []Limit) error
	// Settle ends the act's reservations and counts what was spent. Doing it again changes
	// nothing, nor does it for an act without reservations.
	Settle(ctx context.Context, act string, spent Amount) error
	// Budget tells what is spent and reserved under a name; zeros if nothing was, which is so
	// for a budget without a bound. Package run names those of money "run:ID" (the root run's
	// id), "day:OWNER:2026-11-21" (in UTC) and "owner:OWNER". Before one that counts something
	// else stands its unit: "tokens:owner:OWNER", "images:run:ID".
	Budget(ctx context.Context, name string) (Balance, error)
}
