package post

import (
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"time"

	"atelier/generate/money"
)

// Text decodes a JSON string or number as text, and anything else as "": providers disagree with their own
// documentation about such fields.
type Text string

// UnmarshalJSON never fails.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	var n json.Number
	switch {
	case json.Unmarshal(b, &s) == nil:
		*t = Text(s)
	case json.Unmarshal(b, &n) == nil:
		*t = Text(n)
	default:
		*t = ""
	}
	return nil
}

// Int returns the text as an integer; nil if it is not one.
func (t Text) Int() *int64 {
	n, err := strconv.ParseInt(string(t), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// Time returns the text as a time, in UTC if it has no zone; zero if it is not one.
func (t Text) Time() time.Time {
	at, err := time.Parse(time.RFC3339, string(t))
	if err != nil {
		at, _ = time.Parse(time.RFC3339, string(t)+"Z")
	}
	return at
}

// Percent returns a percentage such as "45%" as a fraction; -1 if it is not one.
func (t Text) Percent() float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(string(t)), "%"), 64)
	if err != nil || !(n >= 0 && n <= 100) {
		return -1
	}
	return n / 100
}

// DecodeFirst decodes a JSON object, or the first one of a list, like [Client.Decode]; false if there is none.
func DecodeFirst(body []byte, into any) bool {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	return decode(body, into) == nil
}

// decode decodes JSON. A field of another type than documented stays empty: an answer that may have been paid for is
// not lost over it.
func decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	if field, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && field.Field != "" {
		return nil
	}
	return err
}

// Amount returns a provider's number as exact decimal text, divided by per (100 for cents) and rounded to the given
// places; "" for an invalid amount: negative, too large, or malformed.
func Amount(number string, per int64, places int) string {
	const longest, digits = 400, 2 // limits of the text and of the exponent; no bill exceeds them
	_, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	if len(number) > longest || strings.ContainsAny(number, "/_xX") || len(strings.TrimLeft(exponent, "+-0")) > digits {
		return ""
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok || r.Sign() < 0 || r.Mul(r, big.NewRat(1, per)).Cmp(big.NewRat(maxAmount, 1)) > 0 {
		return ""
	}
	return money.Rounded(r, places)
}

// maxAmount is the largest amount that is accepted.
const maxAmount = 1_000_000_000
