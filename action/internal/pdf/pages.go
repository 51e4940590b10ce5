package pdf

import (
	"cmp"
	"maps"
	"slices"
)

// findPages walks the page tree; where it is damaged, every page object counts.
func (d *Document) findPages() {
	root := d.dict(d.trailer["Root"])
	if root == nil || root["Pages"] == nil {
		root = d.ofType("Catalog")
	}
	d.walk(root["Pages"], nil, map[ref]bool{}, 0)
	if len(d.pages) > 0 {
		return
	}
	for _, r := range d.sorted() {
		if p := d.dict(r); p["Type"] == name("Page") && len(d.pages) < maxPages {
			d.pages = append(d.pages, page{p, d.dict(p["Resources"])})
		}
	}
}

func (d *Document) sorted() []ref {
	return slices.SortedFunc(maps.Keys(d.objects), func(a, b ref) int { return cmp.Compare(a, b) })
}

func (d *Document) ofType(t name) dict {
	for _, r := range d.sorted() {
		if o := d.dict(r); o["Type"] == t {
			return o
		}
	}
	return nil
}

func (d *Document) walk(v any, inherited dict, seen map[ref]bool, depth int) {
	if r, ok := v.(ref); ok {
		if seen[r] {
			return
		}
		seen[r] = true
	}
	node := d.dict(v)
	if node == nil || depth > maxDepth || len(d.pages) >= maxPages {
		return
	}
	if r := d.dict(node["Resources"]); r != nil {
		inherited = r
	}
	kids, ok := d.resolve(node["Kids"]).(array)
	if !ok {
		if node["Type"] != name("Pages") {
			d.pages = append(d.pages, page{node, inherited})
		}
		return
	}
	for _, k := range kids {
		d.walk(k, inherited, seen, depth+1)
	}
}
