package offline

import (
	"image"
	"io"

	"atelier/imaging"
)

// encode writes the picture in the wanted format, png, jpeg or webp, with its provenance label.
func encode(w io.Writer, img image.Image, format string, quality int) error {
	l := imaging.Label{SourceType: imaging.SourceAlgorithmic, Software: "atelier-offline", Description: "Picture " + Note + "."}
	switch format {
	case "jpeg":
		return imaging.EncodeJPEG(w, img, quality, l)
	case "webp":
		return imaging.EncodeWebP(w, img, quality, l)
	}
	return imaging.EncodePNG(w, img, l)
}
