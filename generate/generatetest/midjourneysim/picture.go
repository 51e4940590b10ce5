package midjourneysim

import (
	"bytes"
	"image"
	"image/color"
	"image/png"

	"atelier/internal/sim"
)

// grid draws four quadrants in different colours: red, green, blue and grey in the order of
// the tiles, each with a mark in its upper left corner. The seed determines the shade.
func grid(width, height int, seed uint64) sim.Picture {
	shade := uint8(100 + seed%100)
	palette := color.Palette{
		color.RGBA{R: shade, A: 255},
		color.RGBA{G: shade, A: 255},
		color.RGBA{B: shade, A: 255},
		color.RGBA{R: shade, G: shade, B: shade, A: 255},
		color.White,
		color.RGBA{R: uint8(seed >> 8), G: uint8(seed >> 16), B: uint8(seed >> 24), A: 255}, //nolint:gosec // The low bits are wanted.
	}
	m := image.NewPaletted(image.Rect(0, 0, width, height), palette)
	const white, mark = 4, 5
	for y := range height {
		row := m.Pix[y*m.Stride : y*m.Stride+width]
		for x := range row {
			tile := uint8(x*2/width + y*2/height*2) //nolint:gosec // 0 to 3.
			row[x] = tile
			if x%(width/2) < width/16 && y%(height/2) < height/16 {
				row[x] = white + (mark-white)*uint8((x^y)&1)
			}
		}
	}
	var buf bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, m); err != nil {
		panic(err) // a buffer does not fail, and the palette fits
	}
	return sim.Raw("image/png", buf.Bytes())
}
