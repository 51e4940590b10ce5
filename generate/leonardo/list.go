package leonardo

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

var _ driver.Listed = (*Driver)(nil)

// pageSize is how many generations are asked for at once.
const pageSize = 50

// listed is a generation as the list of an account has it.
type listed struct {
	generation
	Created post.Text `json:"createdAt"`
	Model   string    `json:"modelId"`
	Prompt  string    `json:"prompt"`
	Without string    `json:"negativePrompt"`
	Width   post.Text `json:"imageWidth"`
	Height  post.Text `json:"imageHeight"`
}

// ListsKeys is false: the API takes nothing from its callers that it would show.
func (d *Driver) ListsKeys() bool { return false }

// List gives generations of the account that the key belongs to. The API does not promise
// that they are all, or in order.
func (d *Driver) List(ctx context.Context, from string) (driver.Listing, error) {
	after, user, _ := strings.Cut(from, " ")
	user, err := d.user(ctx, user)
	if err != nil {
		return driver.Listing{}, err
	}
	var got struct {
		Generations []listed `json:"generations"`
	}
	path := fmt.Sprintf("%s/generations/user/%s?offset=%s&limit=%d", apiPath, url.PathEscape(user), cmp.Or(after, "0"), pageSize)
	_, err = d.client.Do(ctx, post.Call{Path: path, Of: "the list of generations", Into: &got})
	seen, _ := strconv.Atoi(after)
	l := driver.Listing{Next: fmt.Sprintf("%d %s", seen+len(got.Generations), user)}
	for _, g := range got.Generations {
		l.Tasks = append(l.Tasks, g.task())
	}
	return l, err
}

// task is what the list tells of a generation.
func (g listed) task() driver.ListedTask {
	return driver.ListedTask{
		Task: driver.Handle{ID: g.ID}, Made: g.Created.Time(), Model: g.Model, Prompt: g.Prompt, NegativePrompt: g.Without,
		Seed: g.Seed.Int(), Width: g.Width.Whole(), Height: g.Height.Whole(), N: len(g.Images),
	}
}

// user is the id of the account, if it is not known yet.
func (d *Driver) user(ctx context.Context, known string) (string, error) {
	if known != "" {
		return known, nil
	}
	var got any
	_, err := d.client.Do(ctx, post.Call{Path: apiPath + "/me", Of: "the account", Into: &got})
	user := post.At(got, "user_details", 0, "user", "id")
	if err == nil && user == "" {
		err = media.Errorf(media.CodeUnsupported, "Leonardo does not tell whose key it is, so its generations cannot be listed")
	}
	return user, err
}
