package vision

import (
	"context"
	"fmt"
	"slices"

	"atelier/chat"
	"atelier/media"
)

// FittedImage is a smaller form of a picture that was made for a model before the run began.
// Its bytes are stored; it is not on record.
type FittedImage struct {
	// Ref is the picture's, Room what the form was made for.
	Ref  media.Ref `json:"ref"`
	Room chat.Room `json:"room"`
	// Output is the form, Reason why the picture had to change.
	Output media.Output `json:"output"`
	Reason string       `json:"reason"`
}

// TryOn makes the forms in which the model takes pictures, as the run will ask for them: each
// by itself, and smaller where together they are too large for a request. The error is that
// of the picture that cannot be shown.
func (v *Sights) TryOn(ctx context.Context, p chat.Profile, pictures []media.Output) error {
	once := slices.CompactFunc(slices.Clone(pictures), func(a, b media.Output) bool { return a.Ref == b.Ref })
	room := chat.Room{Images: len(once)}
	total, err := v.tryIn(ctx, p, once, room)
	if most := p.MaxTotalImageBytes; err == nil && most > 0 && total > most {
		room.MaxBytes = most / int64(len(once))
		_, err = v.tryIn(ctx, p, once, room)
	}
	return err
}

// tryIn makes the forms for a room, and gives their bytes together.
func (v *Sights) tryIn(ctx context.Context, p chat.Profile, pictures []media.Output, room chat.Room) (total int64, err error) {
	for i, o := range pictures {
		if p.Fits(o, room) {
			total += o.SizeBytes
			continue
		}
		f, err := p.Fit(ctx, v.Blobs, o, room)
		if err != nil {
			return total, fmt.Errorf("image %d: show it to agent %s: %w", i+1, v.Agent, err)
		}
		v.Fitted = append(v.Fitted, FittedImage{Ref: o.Ref, Room: room, Output: f.Output, Reason: f.Reason})
		total += f.Output.SizeBytes
	}
	return total, nil
}

// formOf gives the form of a picture: the one that was made before the run began, or a new one.
func (v *Sights) formOf(ctx context.Context, o media.Output, room chat.Room) (chat.Fitted, error) {
	p := v.profile()
	for _, f := range v.Fitted {
		if f.Ref != o.Ref || f.Room != room || !p.Fits(f.Output, room) {
			continue
		}
		if code := v.readable(ctx, f.Output.Digest); code == "" {
			f.Output.Origin = o.Origin
			return chat.Fitted{Output: f.Output, Reason: f.Reason}, nil
		}
	}
	return p.Fit(ctx, v.Blobs, o, room)
}
