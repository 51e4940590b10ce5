package ledger

import (
	"context"
	"math/big"

	"atelier/media"
)

// Pico is an amount of money in millionths of a millionth of a US dollar.
type Pico int64

// picoDigits is how many decimals of a dollar a [Pico] has.
const picoDigits = 12

// ParsePico reads decimal dollars. What is finer is rounded up: a budget is never
// overdrawn by rounding. The error has code media.CodeInvalid.
func ParsePico(usd string) (Pico, error) {
	r, ok := new(big.Rat).SetString(usd)
	if !ok || r.Sign() < 0 {
		return 0, media.Errorf(media.CodeInvalid, "%.20q is no amount of dollars: write it like 0.25", usd)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(picoDigits), nil)
	r.Mul(r, new(big.Rat).SetInt(scale))
	whole, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	const most = 1 << 62
	if !whole.IsInt64() || whole.Int64() > most {
		return 0, media.Errorf(media.CodeInvalid, "%.20q dollars are too many: at most 4 million", usd)
	}
	return Pico(whole.Int64()), nil
}

// USD writes the amount as decimal dollars, exactly.
func (p Pico) USD() string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(picoDigits), nil)
	s := new(big.Rat).SetFrac(big.NewInt(int64(p)), scale).FloatString(picoDigits)
	end := len(s)
	for end > 0 && s[end-1] == '0' {
		end--
	}
	if end > 0 && s[end-1] == '.' {
		end--
	}
	return s[:end]
}

// Limit is one budget that an operation counts against.
type Limit struct {
	// Name is unique: "run:ID", "day:OWNER:2026-11-21", "owner:OWNER".
	Name string
	// Most is what may be spent and reserved in all.
	Most Pico
}

// Budgets keeps what was spent and what is reserved.
type Budgets interface {
	// ReserveMoney holds an amount for an operation against every limit, all or none, in
	// one commit. The error has code media.CodeOverBudget and names the budget and what
	// is left. Reserving again for the same operation changes nothing. What is reserved
	// for an operation that has not begun a minute later is given back.
	ReserveMoney(ctx context.Context, operation string, amount Pico, limits []Limit) error
	// SettleMoney ends the operation's reservations and counts what was spent. Doing it
	// again changes nothing.
	SettleMoney(ctx context.Context, operation string, spent Pico) error
	// Budget tells what is spent and reserved under a name; zeros if nothing was.
	Budget(ctx context.Context, name string) (spent, reserved Pico, err error)
}
