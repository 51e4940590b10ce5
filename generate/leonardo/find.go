package leonardo

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/url"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

var _ generate.Listed = (*Driver)(nil)

const (
	// pageSize and maxPages bound how far back the list is read: a thousand generations.
	pageSize = 50
	maxPages = 20
	// skew is how far the API's clock may be behind this one.
	skew = time.Minute
)

// seedOf is the seed of a task. Where it leaves the seed open, one is drawn from its key, so
// that its generation is known among the others by more than its words.
func seedOf(t generate.Task) *int64 {
	if t.Seed != nil || t.Key == "" || t.Model.MaxSeed <= 0 {
		return t.Seed
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.Key))
	seed := int64(h.Sum64() % uint64(t.Model.MaxSeed+1)) //nolint:gosec // Below MaxSeed, which is positive.
	return &seed
}

// listed is a generation as the list of an account has it.
type listed struct {
	generation
	Created string    `json:"createdAt"`
	Model   string    `json:"modelId"`
	Prompt  string    `json:"prompt"`
	Without string    `json:"negativePrompt"`
	Width   post.Text `json:"imageWidth"`
	Height  post.Text `json:"imageHeight"`
}

// Find looks through the generations of the account for those that are the task's: made
// since, with its seed, model, words, size and, where it is over, number of pictures.
// None says nothing: the API does not promise that its list is complete or in order.
func (d *Driver) Find(ctx context.Context, t generate.Task, since time.Time) ([]generate.Handle, error) {
	t.Seed = seedOf(t)
	if t.Seed == nil {
		return nil, nil
	}
	user, err := d.user(ctx)
	if err != nil {
		return nil, err
	}
	var found []generate.Handle
	for page, seen := 0, 0; page < maxPages; page++ {
		all, err := d.page(ctx, user, seen)
		if err != nil {
			return nil, err
		}
		recent := false
		for _, g := range all {
			ok := g.since(since.Add(-skew))
			recent = recent || ok
			if ok && g.of(t) {
				found = append(found, generate.Handle{ID: g.ID})
			}
		}
		if seen += len(all); !recent {
			break
		}
	}
	return found, nil
}

// since tells whether the generation was made at that time or later.
func (g listed) since(at time.Time) bool {
	made, err := time.Parse(time.RFC3339, g.Created)
	if err != nil {
		made, err = time.Parse("2006-01-02T15:04:05", g.Created) // the API writes no zone: it is UTC
	}
	return err == nil && !made.Before(at)
}

// of tells whether the generation is what the task asked for.
func (g listed) of(t generate.Task) bool {
	seed := g.Seed.Int()
	same := func(have post.Text, want int) bool {
		return want == 0 || have.Int() != nil && *have.Int() == int64(want)
	}
	return g.ID != "" && seed != nil && *seed == *t.Seed && g.Model == t.Model.APIModel &&
		strings.TrimSpace(g.Prompt) == strings.TrimSpace(t.Prompt) && strings.TrimSpace(g.Without) == strings.TrimSpace(t.NegativePrompt) &&
		same(g.Width, t.Width) && same(g.Height, t.Height) && (g.Status != "COMPLETE" || len(g.Images) == max(t.N, 1))
}

// user is the id of the account that the key belongs to.
func (d *Driver) user(ctx context.Context) (string, error) {
	var got struct {
		Details []struct {
			User struct {
				ID string `json:"id"`
			} `json:"user"`
		} `json:"user_details"`
	}
	if _, err := d.client.Do(ctx, post.Call{Path: apiPath + "/me", Of: "the account", Into: &got}); err != nil {
		return "", err
	}
	if len(got.Details) == 0 || got.Details[0].User.ID == "" {
		return "", media.Errorf(media.CodeUnsupported, "Leonardo does not tell whose key it is, so its generations cannot be listed")
	}
	return got.Details[0].User.ID, nil
}

// page is a part of the list, which begins after so many generations.
func (d *Driver) page(ctx context.Context, user string, offset int) ([]listed, error) {
	var got struct {
		Generations []listed `json:"generations"`
	}
	path := fmt.Sprintf("%s/generations/user/%s?offset=%d&limit=%d", apiPath, url.PathEscape(user), offset, pageSize)
	_, err := d.client.Do(ctx, post.Call{Path: path, Of: "the list of generations", Into: &got})
	return got.Generations, err
}
