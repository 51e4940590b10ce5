package visual_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"atelier/action"
	"atelier/action/visual"
	"atelier/media"
)

// inputs holds the minimal parameters of each action.
var inputs = map[string]map[string]any{
	"Create SVG Chart":          {"ChartType": "line", "Labels": []string{"2023", "2024"}, "Series": []map[string]any{{"name": "s", "values": []any{1, nil}}}},
	"Create SVG Diagram":        {"Edges": "a -> b"},
	"Create SVG Network":        {"Edges": "a -> b"},
	"Create SVG Word Cloud":     {"Words": map[string]any{"sea": 3}},
	"Create SVG Sketch Diagram": {"Edges": "a -> b"},
	"Create Mermaid Diagram":    {"Code": "flowchart TD\nA-->B"},
	"Create SVG Infographic":    {"Figures": []any{map[string]any{"value": "1", "label": "l"}}},
}

// TestActions runs each action: it returns the declared outputs and the drawing as a media item, and refuses empty
// parameters as invalid.
func TestActions(t *testing.T) {
	t.Parallel()
	acts := visual.Actions()
	if len(acts) != len(inputs) {
		t.Fatalf("%d actions, want %d", len(acts), len(inputs))
	}
	for _, a := range acts {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			in := maps.Clone(inputs[a.Name])
			in["Title"] = "Größe & Co: 2024!"
			res, err := a.Run(t.Context(), &action.Call{Params: in})
			if err != nil {
				t.Fatal(err)
			}
			var outputs []string
			for _, p := range a.Params {
				if p.Direction != action.Output {
					continue
				}
				outputs = append(outputs, p.Name)
				if p.ValueType == action.Binary {
					item, _ := res.Outputs[p.Name].(map[string]any)
					data, _ := item["data"].([]byte)
					if !bytes.HasPrefix(data, []byte("<svg ")) || item["mimeType"] != "image/svg+xml" || item["label"] != in["Title"] || item["fileName"] != "gr-e-co-2024.svg" || item["description"] != res.Outputs["Description"] || item["description"] == "" {
						t.Errorf("%s = %v, %v, %v, %v", p.Name, item["mimeType"], item["label"], item["fileName"], item["description"])
					}
				}
			}
			if slices.Sort(outputs); !slices.Equal(outputs, slices.Sorted(maps.Keys(res.Outputs))) {
				t.Errorf("outputs %v, declared %v", slices.Sorted(maps.Keys(res.Outputs)), outputs)
			}
			if _, err := a.Run(t.Context(), &action.Call{Params: map[string]any{"Title": "T"}}); media.CodeOf(err) != media.CodeInvalid {
				t.Errorf("nothing to draw: %v", err)
			}
		})
	}
}

// TestWideChartsAdapt: a chart that has a layout for narrow pages says so.
func TestWideChartsAdapt(t *testing.T) {
	t.Parallel()
	a := visual.Actions()[0]
	for width, adapts := range map[float64]bool{800: true, 400: false} {
		in := maps.Clone(inputs[a.Name])
		in["Title"], in["Width"] = "T", width
		res, err := a.Run(t.Context(), &action.Call{Params: in})
		if err != nil {
			t.Fatal(err)
		}
		metadata, _ := res.Outputs["Chart"].(map[string]any)["metadata"].(map[string]any)
		if got, _ := metadata["adaptive"].(bool); got != adapts {
			t.Errorf("%v pixels wide: %v", width, metadata)
		}
	}
}
