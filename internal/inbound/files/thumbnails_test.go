package files_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	stdpng "image/png"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// halves returns a picture whose left half is red and whose right half is of another color.
func halves(w, h int, right color.Color) *image.NRGBA {
	p := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			if x < w/2 {
				p.Set(x, y, color.NRGBA{R: 255, A: 255})
			} else {
				p.Set(x, y, right)
			}
		}
	}
	return p
}

func encoded(t *testing.T, encode func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func asPNG(t *testing.T, p image.Image) string {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error { return stdpng.Encode(b, p) })
}

// turnedJPEG returns a JPEG with an Exif orientation.
func turnedJPEG(t *testing.T, p image.Image, orientation byte) string {
	t.Helper()
	plain := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, p, nil) })
	exif := "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(orientation)) + "\x00\x00\x00\x00\x00\x00"
	return plain[:2] + "\xff\xe1\x00" + string(rune(len(exif)+2)) + exif + plain[2:]
}

// pictureOf uploads a picture and returns the path of its permanent address.
func (s *shelf) pictureOf(t *testing.T, extension, content string) string {
	t.Helper()
	q := picture
	q.Extension = extension
	return s.sent(t, q, content)
}

var (
	red, green = color.NRGBA{R: 255, A: 255}, color.NRGBA{G: 255, A: 255}
	clear      = color.NRGBA{}
)

// near reports whether a pixel has a color, within the tolerance that JPEG needs.
func near(p image.Image, x, y int, want color.NRGBA) bool {
	got := color.NRGBAModel.Convert(p.At(x, y)).(color.NRGBA)
	far := func(a, b uint8) bool { return max(a, b)-min(a, b) > 40 }
	return !far(got.A, want.A) && (want.A == 0 || !far(got.R, want.R) && !far(got.G, want.G) && !far(got.B, want.B))
}

// TestThumbnails checks that a picture is available in certain widths, rotated as its orientation
// says, as a JPEG, or as a PNG if it is transparent.
func TestThumbnails(t *testing.T) {
	s := newShelf(t)
	opaque, holed := halves(700, 500, green), halves(700, 500, clear)
	inGIF := encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, opaque, nil) })
	for name, tc := range map[string]struct {
		extension, content string
		kind               string
		width, height      int
		left, right        color.NRGBA // of a row a quarter of the way down
	}{
		"a PNG":                    {"png", asPNG(t, opaque), "image/jpeg", 320, 229, red, green},
		"one that is seen through": {"png", asPNG(t, holed), "image/png", 320, 229, red, clear},
		"a GIF":                    {"gif", inGIF, "image/jpeg", 320, 229, red, green},
		"a JPEG":                   {"jpg", turnedJPEG(t, opaque, 1), "image/jpeg", 320, 229, red, green},
		"one turned around":        {"jpeg", turnedJPEG(t, opaque, 3), "image/jpeg", 320, 229, green, red},
		"one in a mirror":          {"jpeg", turnedJPEG(t, opaque, 2), "image/jpeg", 320, 229, green, red},
		"one that stands":          {"jpg", turnedJPEG(t, halves(500, 700, green), 6), "image/jpeg", 320, 229, red, red},
	} {
		permanent := s.pictureOf(t, tc.extension, tc.content)
		w := s.follow(http.MethodGet, permanent+"?width=320")
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != tc.kind || w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" || w.Header().Get("Content-Security-Policy") != "sandbox" {
			t.Errorf("%s: %d %s %v", name, w.Code, w.Body, w.Header())
			continue
		}
		again := s.follow(http.MethodGet, permanent+"?width=320")
		if !bytes.Equal(again.Body.Bytes(), w.Body.Bytes()) || again.Header().Get("ETag") != w.Header().Get("ETag") || again.Header().Get("ETag") == s.follow(http.MethodGet, permanent).Header().Get("ETag") {
			t.Errorf("%s: %v, and then %v", name, w.Header(), again.Header())
		}
		small, _, err := image.Decode(w.Body)
		if err != nil {
			t.Fatal(name, err)
		}
		size, row := small.Bounds(), small.Bounds().Dy()/4
		if size.Dx() != tc.width || size.Dy() != tc.height || !near(small, 10, row, tc.left) || !near(small, tc.width-10, row, tc.right) {
			t.Errorf("%s: %v, %v and %v", name, size, small.At(10, row), small.At(tc.width-10, row))
		}
	}
	permanent := s.pictureOf(t, "png", asPNG(t, opaque))
	for query, says := range map[string]string{"width=321": "width must be one of 160, 320, 640, 1280", "width=": "width must be", "width=0320": "width must be", "width=160&width=160": "width must be"} {
		s.want(t, query, permanent+"?"+query, http.StatusBadRequest, says)
	}
	if got := s.follow(http.MethodGet, permanent+"?width=1280"); got.Body.String() != asPNG(t, opaque) || got.Header().Get("Content-Type") != "image/png" {
		t.Errorf("wider than it is: %d bytes, %v", got.Body.Len(), got.Header())
	}
	if got := s.follow(http.MethodHead, permanent+"?width=160"); got.Code != http.StatusOK || got.Body.Len() > 0 {
		t.Errorf("HEAD: %d", got.Code)
	}
	s.want(t, "of an attachment", s.sent(t, pattern, "%PDF-1")+"?width=160", http.StatusForbidden, "this file needs a link")
}

// pngHeader returns the beginning of a PNG of a size, without the pixels.
func pngHeader(width, height uint32, depth, kind byte) string {
	chunk := append([]byte("IHDR"), 0, 0, 0, 0, 0, 0, 0, 0, depth, kind, 0, 0, 0)
	binary.BigEndian.PutUint32(chunk[4:], width)
	binary.BigEndian.PutUint32(chunk[8:], height)
	return png[:12] + string(binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk)))
}

// TestPicturesWithoutThumbnails checks that the response says so if a picture cannot be decoded,
// and that a picture that would need too much memory is sent as it is.
func TestPicturesWithoutThumbnails(t *testing.T) {
	s := newShelf(t)
	whole := asPNG(t, halves(700, 500, green))
	for name, content := range map[string]string{"cut": whole[:len(whole)/2], "garbage": whole[:60] + strings.Repeat("x", 100), "without pixels": pngHeader(4000, 4000, 8, 2)} {
		permanent := s.pictureOf(t, "png", content)
		for range 2 {
			s.want(t, name, permanent+"?width=320", http.StatusNotFound, "this picture cannot be decoded")
		}
		s.want(t, name+", as it was sent", permanent, http.StatusOK, "PNG")
	}
	lying := "RIFF\xf0\xff\xff\xffWEBPVP8L\xe4\xff\xff\xff/\xff\xc7\xff\x00" + strings.Repeat("\x00", 64)
	s.want(t, "a length that is not there", s.pictureOf(t, "webp", lying)+"?width=160", http.StatusNotFound, "this picture cannot be decoded")
	huge := pngHeader(8000, 8000, 16, 6)
	s.want(t, "512 MB of pixels", s.pictureOf(t, "png", huge)+"?width=160", http.StatusOK, huge[1:4])
}

// TestThumbnailsAreKept checks that a thumbnail is made once, even for concurrent requests, and
// that it is removed along with its picture.
func TestThumbnailsAreKept(t *testing.T) {
	s := newShelf(t)
	permanent := s.pictureOf(t, "png", asPNG(t, halves(1500, 1000, green)))
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			width := learningWidths[n%len(learningWidths)]
			address := fmt.Sprintf("%s?width=%d", permanent, width)
			w := s.follow(http.MethodGet, address)
			for tries := 0; w.Code == http.StatusServiceUnavailable && tries < 20; tries++ { // it gave up waiting for the others
				w = s.follow(http.MethodGet, address)
			}
			if w.Code != http.StatusOK {
				t.Errorf("%d: %d %s", width, w.Code, w.Body)
			}
		})
	}
	all.Wait()
	names := s.kept(t)
	if len(names) != 1+len(learningWidths) {
		t.Fatalf("kept: %v", names)
	}
	long := time.Now().Add(-25 * time.Hour)
	for _, name := range names {
		if err := os.Chtimes(name, long, long); err != nil {
			t.Fatal(err)
		}
	}
	s.clock.Set(time.Now())
	if found, err := s.learning.CheckFiles(t.Context(), true, func(int64) {}); err != nil || len(found.Wrong) > 0 || found.Orphans > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	s.clock.Pass(25 * time.Hour)
	s.sweep(t)
	if left := s.kept(t); len(left) > 0 || s.uploads(t) > 0 {
		t.Errorf("left: %v", left)
	}
	s.want(t, "removed", permanent+"?width=160", http.StatusNotFound, "there is no such file")
}

var learningWidths = lyceum.ThumbnailWidths()

// TestPicturesByContent checks that a product shows its picture at an address that depends only on
// the content: the same picture has the same address, and stays as long as a product shows it.
func TestPicturesByContent(t *testing.T) {
	s := newShelf(t)
	content := asPNG(t, halves(200, 100, green))
	by := lyceum.By{School: s.ours, Actor: "api_key:1", Key: 1}
	show := func(address string) lyceum.DigitalDownload {
		t.Helper()
		d, err := s.learning.DigitalDownloads().Update(t.Context(), by, learning.Edit[lyceum.DigitalDownloadID, lyceum.DigitalDownload]{
			ID: 1, Apply: func(d *lyceum.DigitalDownload) { d.ImageURL = lyceum.Some(address) },
		})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := s.pictureOf(t, "png", content)
	shown := show(base + first)
	s.clock.Pass(time.Hour)
	if again := show(base + s.pictureOf(t, "png", content)); again.ImageURL != shown.ImageURL || again.UpdatedAt != shown.UpdatedAt {
		t.Errorf("the same picture is at %s, changed %s", again.ImageURL.Value, again.UpdatedAt)
	}
	path := strings.TrimPrefix(shown.ImageURL.Value, base)
	if path == first || strings.Contains(path, "-") {
		t.Errorf("shown at %s, sent to %s", path, first)
	}
	s.want(t, "by its content", path, http.StatusOK, content)
	s.want(t, "where it was sent", first, http.StatusOK, content)
	if w := s.follow(http.MethodGet, path+"?width=160"); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/jpeg" {
		t.Errorf("a thumbnail: %d %v", w.Code, w.Header())
	}
	for name, wrong := range map[string]string{
		"of another school": strings.Replace(path, "/1/", "/2/", 1), "of another type": strings.Replace(path, ".png", ".jpg", 1),
		"of other content": strings.Replace(path, path[len("/files/1/"):][:8], "00000000", 1),
	} {
		s.want(t, name, wrong, http.StatusNotFound, "there is no such file")
	}
	w := s.follow(http.MethodGet, s.sent(t, pattern, "%PDF-1"))
	if w.Code != http.StatusForbidden {
		t.Fatal(w.Code)
	}
	for refused, want := range map[string]string{
		s.sent(t, pattern, "%PDF-2"): "image_url is the address of an upload as an attachment; upload the picture as a thumbnail",
		s.link(t, program):           "image_url must be a permanent address, not a link that expires",
	} {
		_, err := s.learning.DigitalDownloads().Update(t.Context(), by, learning.Edit[lyceum.DigitalDownloadID, lyceum.DigitalDownload]{
			ID: 1, Apply: func(d *lyceum.DigitalDownload) { d.ImageURL = lyceum.Some(base + refused) },
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", refused, err, want)
		}
	}
	secret := s.checksum(t, "pdf")
	s.want(t, "an attachment by its content", lyceum.UploadPath(s.ours, secret, "pdf"), http.StatusNotFound, "there is no such file")
	for range 3 {
		s.clock.Pass(25 * time.Hour)
		s.sweep(t)
	}
	s.want(t, "while it is shown", path, http.StatusOK, content)
	for _, stranger := range []string{"https://elsewhere.example.com" + first, "https://images.example.com/a.png"} {
		if d := show(stranger); d.ImageURL.Value != stranger {
			t.Errorf("%s became %s", stranger, d.ImageURL.Value)
		}
	}
	storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error {
		d, err := tx.DigitalDownloads.Get(tx, 1)
		if err != nil {
			return err
		}
		d.ImageURL = lyceum.None[string]()
		return tx.DigitalDownloads.Update(tx, d)
	})
	s.sweep(t)
	s.want(t, "and then", path, http.StatusNotFound, "there is no such file")
}

// checksum returns the checksum of the last file with an extension.
func (s *shelf) checksum(t *testing.T, extension string) (sum string) {
	t.Helper()
	v := s.store.In(t.Context(), s.ours)
	err := v.Uploads.Each(v, lyceum.UploadFilter{Extension: lyceum.Some(extension)}, func(u *lyceum.Upload) error {
		sum = u.Checksum.Value
		return nil
	})
	if err != nil || sum == "" {
		t.Fatal(sum, err)
	}
	return sum
}
