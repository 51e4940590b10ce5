package action_test

import (
	"context"
	"fmt"
	"html"
	"strings"

	"atelier/action"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// An action declares a Binary output and returns bytes; the interceptor stores them, and the model sees a ref. The same
// call accepts the ref in any form as an input.
func Example() {
	badge := action.Action{
		Name:        "Draw Badge",
		Description: "Draws a badge with a short text.",
		Params: []action.Param{
			{Name: "Text", Required: true, Description: "At most 20 characters."},
			{Name: "Colour", Default: "teal", Values: []string{"teal", "crimson"}, Description: "Of the badge."},
			{Name: "Badge", Direction: action.Output, ValueType: action.Binary, Format: action.FormatBytes, Description: "The badge, image/svg+xml."},
		},
		Run: func(_ context.Context, c *action.Call) (action.Result, error) {
			if len(c.Text("Text")) > 20 {
				return action.Result{}, media.Errorf(media.CodeInvalid, "Text has more than 20 characters: shorten it")
			}
			svg := `<svg xmlns="http://www.w3.org/2000/svg" width="160" height="40"><rect width="160" height="40" rx="8" fill="` + c.Text("Colour") + `"/>` +
				`<text x="80" y="26" text-anchor="middle" fill="white">` + html.EscapeString(c.Text("Text")) + `</text></svg>`
			return action.Result{Message: "Drew the badge.", Outputs: map[string]any{"Badge": []byte(svg)}}, nil
		},
	}
	blobs, err := blob.New(blob.Config{Driver: memblob.New()})
	check(err)
	codec, err := wire.NewCodec(wire.Config{Blobs: blobs, Keys: []wire.Key{{ID: "k1", Secret: []byte("at least sixteen bytes")}}})
	check(err)
	registry, err := action.NewRegistry(action.Config{Store: codec})
	check(err)
	check(registry.Register(badge))

	set := &media.Set{} // the items that this run has made
	ctx := media.WithScope(context.Background(), media.Scope{Owner: "me", Tree: "run-1"})
	out := registry.Invoke(ctx, "draw badge", map[string]any{"text": "new"}, action.Env{Media: set})
	seen := out.Outputs["Badge"].(map[string]any)
	fmt.Println(out.Code, out.Message, seen["mimeType"], seen["width"], seen["height"], seen["refId"] == string(set.List()[0].Ref))
	out = registry.Invoke(ctx, "Draw Badge", map[string]any{"Text": strings.Repeat("x", 21)}, action.Env{Media: set})
	fmt.Println(out.Code, out.Message)
	// Output:
	// SUCCESS Drew the badge. image/svg+xml 160 40 true
	// ERROR Text has more than 20 characters: shorten it
}

// check ends the example; a program handles each error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
