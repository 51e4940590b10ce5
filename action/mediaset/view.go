package mediaset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"atelier/action"
	"atelier/media"
	"atelier/media/wire"
)

// The default and maximum number of characters of a document that one call shows.
const (
	usualText = 8_000
	maxText   = 20_000
)

func viewAction() action.Action {
	return action.Action{
		Name: "View Agent Media",
		Description: "Shows you a media item of this run: a picture is attached to the results of this step, for one turn; " +
			"for a document, you get its text from Offset.",
		Tags: []string{"media"},
		Params: []action.Param{
			refParam(),
			{Name: "Offset", Type: "integer", Default: 0, Description: "For documents: the number of characters to skip."},
			{Name: "Limit", Type: "integer", Default: usualText, Description: fmt.Sprintf("For documents: the maximum number of characters to show, at most %d.", maxText)},
			{Name: "text", Direction: action.Output, ValueType: action.Other, Description: "The text of a document."},
			{Name: "nextOffset", Direction: action.Output, Type: "integer", Description: "The offset of the remaining text; missing at the end."},
			{Name: "totalCharacters", Direction: action.Output, Type: "integer", Description: "The length of the whole text."},
			{Name: "media", Direction: action.Output, ValueType: action.Other, Description: "The item that is shown."},
		},
		Run: view,
	}
}

func view(ctx context.Context, c *action.Call) (action.Result, error) {
	o, err := c.Media.Find(c.Text("RefId"))
	if err != nil {
		return action.Result{}, err
	}
	switch {
	case isText(o.MIMEType):
		return read(ctx, c, o)
	case o.Modality != media.ModalityImage:
		return action.Result{}, media.Errorf(media.CodeUnsupported, "%s is %s: only pictures and text can be viewed", o.Ref, o.MIMEType)
	case c.See == nil:
		return action.Result{}, media.Errorf(media.CodeUnsupported, "%s cannot be shown, because a program requested it and not a model", o.Ref)
	}
	if err := c.See(o); err != nil {
		return action.Result{}, err
	}
	c.Change(media.Change{Kind: media.ChangeView, Ref: o.Ref})
	return action.Result{
		Message: "The picture " + string(o.Ref) + " is attached to these results; it is shown for this turn only",
		Outputs: map[string]any{"media": referenceOf(o)},
	}, nil
}

// isText reports whether a type is a text document or a drawing that is text.
func isText(mime string) bool {
	switch mime {
	case "application/json", "application/xml", "application/javascript", "application/yaml", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "+json") || strings.HasSuffix(mime, "+xml")
}

// read returns a part of a text and keeps only that part in memory.
func read(ctx context.Context, c *action.Call, o media.Output) (action.Result, error) {
	from, limit := c.Int("Offset"), c.Int("Limit")
	if limit == 0 {
		limit = usualText
	}
	if from < 0 || limit < 1 || limit > maxText {
		return action.Result{}, invalid("View Agent Media: Offset must not be negative, and Limit must be 1 to %d", maxText)
	}
	r, err := c.Open(ctx, o)
	if err != nil {
		return action.Result{}, fmt.Errorf("view %s: %w", o.Ref, err)
	}
	piece, total, err := slice(wire.NameReader(r), from, limit)
	if err = errors.Join(err, r.Close()); err != nil {
		return action.Result{}, fmt.Errorf("view %s: %w", o.Ref, err)
	}
	out := map[string]any{"text": piece, "totalCharacters": total, "media": referenceOf(o)}
	end := min(total, from+limit)
	message := fmt.Sprintf("Characters %d to %d of %d of %s", min(from+1, total), end, total, o.Ref)
	if end < total {
		out["nextOffset"] = end
		message += fmt.Sprintf("; continue with Offset %d", end)
	}
	return action.Result{Message: message, Outputs: out}, nil
}

// slice reads a text to its end. It returns limit characters from an offset, and the total number of characters. Each
// byte that is not UTF-8 counts as one and becomes U+FFFD.
func slice(r io.Reader, from, limit int) (piece string, total int, err error) {
	var b strings.Builder
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		c, _, err := in.ReadRune()
		switch {
		case errors.Is(err, io.EOF):
			return b.String(), total, nil
		case err != nil:
			return "", total, err
		}
		if total >= from && total-from < limit {
			if c == 0 {
				c = utf8.RuneError
			}
			b.WriteRune(c)
		}
		total++
	}
}
