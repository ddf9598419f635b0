package webtest

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// Screenshot saves what the tab shows as NAME.png in the folder that LYCEUM_PICTURES names, and
// does nothing if that is unset. It leaves the window with the given width and colour scheme.
func Screenshot(t testing.TB, tab context.Context, name string, width int64, dark bool) {
	t.Helper()
	folder := os.Getenv("LYCEUM_PICTURES")
	if folder == "" {
		return
	}
	height := int64(844)
	Look(t, tab, width, height, dark)
	if width < 2*Phone { // a phone's page is shown as a whole
		height = max(height, Eval[int64](t, tab, "document.documentElement.scrollHeight"))
		Look(t, tab, width, height, dark)
	}
	picture, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
	if err == nil {
		picture, err = small(picture)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// shades is how many colours a picture keeps: a page has few, and the others are the edges of
// its letters.
const shades = 256

// small reduces a picture to its most frequent colours, which saves two thirds of the bytes.
// Every other colour becomes the nearest of those.
func small(picture []byte) ([]byte, error) {
	seen, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	area, often := seen.Bounds(), map[color.RGBA]int{}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			often[at(seen, x, y)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(often), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(often[b], often[a]), cmp.Compare(rgb(a), rgb(b)))
	})
	var palette color.Palette
	for _, c := range frequent[:min(shades, len(frequent))] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	for _, c := range frequent {
		nearest[c] = uint8(palette.Index(c))
	}
	kept := image.NewPaletted(area, palette)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			kept.SetColorIndex(x, y, nearest[at(seen, x, y)])
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, kept)
	return out.Bytes(), err
}

func at(seen image.Image, x, y int) color.RGBA {
	return color.RGBAModel.Convert(seen.At(x, y)).(color.RGBA)
}

func rgb(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
