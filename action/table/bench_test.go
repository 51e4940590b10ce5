package table

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"atelier/action"
	"atelier/action/file"
)

// BenchmarkImport imports a CSV file and queries one aggregate of all rows; with -short only a small one.
func BenchmarkImport(b *testing.B) {
	sizes := []int64{20 << 20, 200 << 20}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, size := range sizes {
		b.Run(fmt.Sprintf("%dMB", size>>20), func(b *testing.B) {
			dir := b.TempDir()
			if err := writeSales(filepath.Join(dir, "sales.csv"), size); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(size)
			for b.Loop() {
				f, err := file.Open(file.Config{Dir: dir})
				if err != nil {
					b.Fatal(err)
				}
				t := New(Config{Files: f, TempDir: b.TempDir()})
				_, err = t.query(b.Context(), &action.Call{Params: map[string]any{"SQL": "SELECT region, sum(price * quantity) FROM sales GROUP BY region"}})
				if err != nil {
					b.Fatal(err)
				}
				_ = t.Close()
				_ = f.Close()
			}
		})
	}
}

// writeSales writes typical rows until the file has the size.
func writeSales(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	written, _ := w.WriteString("order_id,date,region,product,quantity,price,paid,comment\n")
	for i := 0; int64(written) < size; i++ {
		n, err := fmt.Fprintf(w, "%d,2024-%02d-%02d,%s,Product %d,%d,%d.%02d,%s,delivered without remarks\n",
			100000+i, i%12+1, i%28+1, []string{"North", "South", "East", "West"}[i%4], i%300, i%17+1, i%900, i%100, []string{"yes", "no"}[i%2])
		if err != nil {
			return err
		}
		written += n
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
