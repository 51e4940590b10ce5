package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/act"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/operation"
	"atelier/media"
	"atelier/media/wire"
)

// TestOffersAreKeptWithTheOutput: at most 40 offers are kept, without overlong ids and without media; the next request
// finds them in the output.
func TestOffersAreKeptWithTheOutput(t *testing.T) {
	t.Parallel()
	h, d := newStudioGateway(t)
	d.OnStart = func(ctx context.Context, task driver.Task, n int) (driver.Update, error) {
		it := h.picture(ctx, t, uint8(n))
		it.Offers = []catalog.Offer{{ID: "", Label: "nothing"}, {ID: strings.Repeat("iVBORw0KGgo", 15)}, {ID: strings.Repeat("x ", 101)}, {ID: "up", Label: "Larger"}}
		for range 60 {
			it.Offers = append(it.Offers, catalog.Offer{ID: "more"})
		}
		if n == 1 {
			it.Tiles = &driver.Tiles{Columns: 2, Rows: 2}
		}
		return driver.Update{Done: true, Items: []driver.Item{it}}, nil
	}
	first := h.must(t, generate.Request{Model: "Studio"})
	if len(first.Slots) != 4 {
		t.Fatalf("%+v", first)
	}
	second := h.must(t, generate.Request{Model: "Studio", Method: generate.MethodVariation, Inputs: []media.Output{*first.Slots[3].Output}})
	for _, o := range append(first.Outputs(), second.Outputs()...) {
		raw, err := json.Marshal(o.Metadata)
		offers := driver.Offers(o)
		if err != nil || wire.NameMedia(string(raw)) != string(raw) || len(offers) != 40 || offers[1] != (catalog.Offer{ID: "up", Label: "Larger"}) {
			t.Errorf("%d offers: %.300s, %v", len(offers), raw, err)
		}
	}
	if offered := d.Tasks()[1].Offers(); len(offered) != 40 || d.Tasks()[1].Tile() != 4 {
		t.Errorf("%d offers, tile %d", len(offered), d.Tasks()[1].Tile())
	}
}

// oldLog is a log of a program whose rows had neither acts nor flags.
type oldLog struct{ *generatetest.Log }

func (b oldLog) Saved(ctx context.Context, operation string) (*operation.Saved, error) {
	s, err := b.Log.Saved(ctx, operation)
	if err != nil {
		return nil, err
	}
	var parts map[string]any
	if err := json.Unmarshal(s.Operation.Request, &parts); err != nil {
		return nil, err
	}
	row := parts["task"].(map[string]any)["Model"].(map[string]any)
	delete(row, "acts")
	delete(row, "flags")
	s.Operation.Request, err = json.Marshal(parts)
	return s, err
}

// TestOlderPlansHaveActsAndFlags: an interrupted operation of an older program is continued with the current row.
func TestOlderPlansHaveActsAndFlags(t *testing.T) {
	t.Parallel()
	h, d := newStudioGateway(t)
	got := h.must(t, generate.Request{
		Model: "Studio", Method: generate.MethodVariation, Inputs: []media.Output{h.storeStudioImage(t)}, Options: map[string]map[string]any{"studio": {"action": "enlarge"}},
	})
	h.log.Forget(got.Operation)
	rows, err := catalog.Load(strings.NewReader(studioRows))
	if err != nil {
		t.Fatal(err)
	}
	heir := h.successor(t, func(c *gateway.Config) {
		c.Drivers, c.Catalogue, c.Operations = []driver.Driver{d}, rows, oldLog{h.log}
	})
	if got, err := heir.Resume(t.Context(), got.Operation); err != nil || got.Status != generate.StatusSucceeded {
		t.Fatalf("%+v, %v", got, err)
	}
	task := d.Tasks()[1]
	if act, err := act.Of(task); err != nil || act.Name != "enlarge" || len(task.Model.Flags) != 8 {
		t.Errorf("%+v, %v, %d flags", act, err, len(task.Model.Flags))
	}
}
