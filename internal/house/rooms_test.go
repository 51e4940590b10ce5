package house_test

import (
	"cmp"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	maxMethods = 40
	maxFields  = 15
	maxFiles   = 25
	// behaves is the minimum number of methods of a type that is more than data.
	behaves = 10
)

// largeTypes are the types with behaviour beyond the bounds, with their methods and fields. They may shrink; no new
// entry may be added.
var largeTypes = map[string][2]int{
	"media/wire.scanner": {39, 17},
}

// ships reports whether code is part of the program that people install.
func (s source) ships() bool {
	for _, dir := range []string{"bench", "examples", "internal/house", "internal/everyday", "internal/pgtest"} {
		if s.dir() == dir || strings.HasPrefix(s.dir(), dir+"/") {
			return false
		}
	}
	return !s.test() && !strings.HasSuffix(s.dir(), "sim")
}

// sizes returns the number of methods and fields of each type, by package and name.
func sizes(list []source) (methods, fields map[string]int) {
	methods, fields = map[string]int{}, map[string]int{}
	for _, s := range list {
		if !s.ships() {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					methods[s.dir()+"."+receiver(d.Recv.List[0].Type)]++
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						if st, ok := t.Type.(*ast.StructType); ok {
							fields[s.dir()+"."+t.Name.Name] = countFields(st)
						}
					}
				}
			}
		}
	}
	return methods, fields
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func countFields(st *ast.StructType) (n int) {
	for _, f := range st.Fields.List {
		n += max(1, len(f.Names))
	}
	return n
}

// counts reports whether the lines of a package count as shipped: those for which ships reports true, except e2e,
// tools, the simulator, and api and workflow, which have their own bounds.
func (s source) counts() bool {
	room := packageOf(s.dir())
	return s.ships() && room != "api" && room != "workflow" && room != "e2e" && room != "tools" && s.dir() != "internal/sim"
}

// TestTableOfTheHouse limits the size of the whole program. The bounds are the actual values, rounded up; -v prints
// these. They may shrink.
func TestTableOfTheHouse(t *testing.T) {
	t.Parallel()
	const maxLines, maxOnce = 103_590, 36
	lines := 0
	uses, declared := map[string]int{}, map[string]int{}
	functions := map[string]bool{}
	for _, s := range sources(t) {
		if !s.counts() {
			continue
		}
		lines += strings.Count(s.text, "\n")
		ast.Inspect(s.file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				uses[s.dir()+"."+id.Name]++
			}
			return true
		})
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				name := s.dir() + "." + f.Name.Name
				declared[name]++
				functions[name] = !f.Name.IsExported() && declared[name] == 1
			}
		}
	}
	// Names that a package declares once can be counted without type information.
	once, all := 0, 0
	for name, unexported := range functions {
		if unexported {
			all++
			if uses[name] == 2 { // its declaration and one use
				once++
			}
		}
	}
	percent := 100 * once / all
	t.Logf("%d lines ship, %d %% of %d unexported functions have one use", lines, percent, all)
	if lines > maxLines {
		t.Errorf("%d lines ship, at most %d may: delete what a simpler idea replaces", lines, maxLines)
	}
	if percent > maxOnce {
		t.Errorf("%d %% of the unexported functions have one use, at most %d may: join what is one thought", percent, maxOnce)
	}
}

// TestRoomsStaySmall: no type and no package grows beyond what one can read in a sitting; -v prints those beyond the
// bounds.
func TestRoomsStaySmall(t *testing.T) {
	t.Parallel()
	list := sources(t)
	methods, fields := sizes(list)
	files := map[string]int{}
	for _, s := range list {
		if s.ships() {
			files[s.dir()]++
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(methods), func(a, b string) int { return cmp.Compare(methods[b], methods[a]) }) {
		m, f := methods[name], fields[name]
		known, large := largeTypes[name]
		switch {
		case m <= maxMethods && (m < behaves || f <= maxFields):
			if large {
				t.Errorf("%s is within the bounds now: take it out of the list", name)
			}
			continue
		case m > known[0] && m > maxMethods, f > known[1] && f > maxFields:
			t.Errorf("%s has %d methods and %d fields: split it, %d and %d are the bounds", name, m, f, maxMethods, maxFields)
		}
		t.Logf("%q: {%d, %d},", name, m, f)
	}
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		if n := files[dir]; n > maxFiles && dir != "cmd/atelier" {
			t.Errorf("%s has %d files: split it, %d is the bound", dir, n, maxFiles)
		}
	}
}
