package catalog

import (
	"bytes"
	"reflect"
	"testing"
)

// TestShippedFilesAreStrict: the shipped files have only known fields, which Load does not check, and decode to the
// same rows in strict mode.
func TestShippedFilesAreStrict(t *testing.T) {
	t.Parallel()
	loaded, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	strict := &Catalog{given: map[string]int{}}
	for _, name := range shippedFiles() {
		b, err := shipped.ReadFile(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := strict.read(bytes.NewReader(b)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !reflect.DeepEqual(loaded.rows, strict.rows) {
		t.Error("the rows mean something else when they are decoded strictly")
	}
}
