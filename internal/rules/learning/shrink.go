package learning

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/draw"
)

// frame is what the header of a picture states.
type frame struct {
	format        string
	width, height int  // as stored
	turn          byte // how it is turned for display: the Exif orientation, 1 to 8
	decoded       int  // maximum bytes of memory that it takes
}

// readFrame reads the header of a picture, given its size in bytes.
func readFrame(content io.ReadSeeker, size int64) (f frame, err error) {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return f, err
	}
	head := bufio.NewReader(io.LimitReader(content, maxPictureHeader))
	begin, _ := head.Peek(32) // if it is too short, that is noticed below
	config, format, err := image.DecodeConfig(head)
	if err != nil {
		return f, err
	}
	f = frame{format: format, width: config.Width, height: config.Height, turn: 1}
	each := 4 // bytes per pixel
	switch format {
	case "gif":
		each = 2
	case "png":
		if config.ColorModel == color.RGBA64Model || config.ColorModel == color.NRGBA64Model {
			each = 8
		}
		if begin[28] != 0 { // Adam7: each pass is a picture of its own
			each *= 2
		}
	case "webp":
		if each = 12; int64(binary.LittleEndian.Uint32(begin[4:]))+8 > size { // the decoder trusts it
			return f, io.ErrUnexpectedEOF
		}
	case "jpeg":
		if _, err := content.Seek(0, io.SeekStart); err != nil {
			return f, err
		}
		head.Reset(io.LimitReader(content, maxPictureHeader))
		each = f.readJPEG(head)
	}
	f.decoded = f.width * f.height * each
	_, err = content.Seek(0, io.SeekStart)
	return f, err
}

// readJPEG reads the orientation of a JPEG, and returns the bytes per pixel.
func (f *frame) readJPEG(head *bufio.Reader) (each int) {
	const worst = 20 // four components, none subsampled, with coefficients
	_, _ = head.Discard(2)
	for {
		var segment [4]byte
		if _, err := io.ReadFull(head, segment[:]); err != nil {
			return worst
		}
		size, marker := int(binary.BigEndian.Uint16(segment[2:]))-2, segment[1]
		if segment[0] != 0xff || size < 0 {
			return worst
		}
		switch marker {
		case 0xe1:
			exif := make([]byte, size)
			if _, err := io.ReadFull(head, exif); err != nil {
				return worst
			}
			if tiff, is := bytes.CutPrefix(exif, []byte("Exif\x00\x00")); is {
				f.turn = orientation(tiff)
			}
		case 0xc0, 0xc1, 0xc2:
			said := make([]byte, size)
			if _, err := io.ReadFull(head, said); err != nil || size < 6 || size < 6+3*int(said[5]) {
				return worst
			}
			return jpegPixel(said[6:6+3*int(said[5])], marker == 0xc2)
		default:
			if _, err := head.Discard(size); err != nil {
				return worst
			}
		}
	}
}

// jpegPixel returns the bytes per pixel of components, rounded up.
func jpegPixel(components []byte, progressive bool) int {
	samples, most := 0, 1
	for i := 1; i < len(components); i += 3 {
		samples += int(components[i]>>4) * int(components[i]&15)
		most = max(most, int(components[i]>>4)*int(components[i]&15))
	}
	each := (samples + most - 1) / most
	if progressive {
		each = (5*samples + most - 1) / most // a coefficient takes four bytes
	}
	switch full := samples*3 == len(components)*most; {
	case len(components) == 12:
		each += 8 // CMYK is converted
	case len(components) == 9 && full:
		each += 4 // they may be red, green and blue
	}
	return each
}

// orientation returns the Exif orientation, or 1 if there is none.
func orientation(tiff []byte) byte {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return 1
		}
		if turn := order.Uint16(entries[8:]); order.Uint16(entries) == 0x0112 && 1 <= turn && turn <= 8 {
			return byte(turn)
		}
		entries = entries[12:]
	}
	return 1
}

// lies reports whether a picture is displayed with its sides exchanged.
func (f *frame) lies() bool { return f.turn > 4 }

// shownWidth returns the width at which a picture is displayed.
func (f *frame) shownWidth() int {
	if f.lies() {
		return f.height
	}
	return f.width
}

// sizeAt returns the sides, as stored, of a picture that is scaled to a displayed width.
func (f *frame) sizeAt(width int) (w, h int) {
	other := func(side, by int) int { return max(1, (side*width+by/2)/by) }
	if f.lies() {
		return other(f.width, f.height), width
	}
	return width, other(f.height, f.width)
}

// memory returns the maximum bytes that scaling the picture to a width takes.
func (f *frame) memory(width int) int {
	w, h := f.sizeAt(width)
	return f.decoded + f.width*f.height + 2*4*w*h // half its width and height in RGBA, and the result twice
}

// shrink scales a picture to a width and encodes it, as a JPEG if it is fully opaque, otherwise
// as a PNG.
func shrink(content io.Reader, f *frame, width int) (*bytes.Buffer, error) {
	picture, _, err := image.Decode(content)
	if err != nil {
		return nil, err
	}
	w, h := f.sizeAt(width)
	small := turned(scaled(picture, w, h), f.turn)
	var encoded bytes.Buffer
	if small.Opaque() {
		err = jpeg.Encode(&encoded, small, &jpeg.Options{Quality: 82})
	} else {
		err = png.Encode(&encoded, small)
	}
	return &encoded, err
}

// scaled scales a picture down. Each step halves it at most, so that every pixel counts, and
// needs no memory besides its result.
func scaled(picture image.Image, w, h int) *image.RGBA {
	for {
		from := picture.Bounds()
		to := image.Rect(0, 0, max(w, (from.Dx()+1)/2), max(h, (from.Dy()+1)/2))
		half := image.NewRGBA(to)
		draw.ApproxBiLinear.Scale(half, to, picture, from, draw.Src, nil)
		if to.Dx() == w && to.Dy() == h {
			return half
		}
		picture = half
	}
}

// turned turns a picture by its Exif orientation.
func turned(p *image.RGBA, turn byte) *image.RGBA {
	if turn == 1 {
		return p
	}
	w, h := p.Rect.Dx(), p.Rect.Dy()
	to := image.Rect(0, 0, w, h)
	if turn > 4 {
		to = image.Rect(0, 0, h, w)
	}
	shown := image.NewRGBA(to)
	for y := range to.Dy() {
		for x := range to.Dx() {
			fromX, fromY := x, y
			if turn > 4 {
				fromX, fromY = y, x
			}
			if turn == 2 || turn == 3 || turn == 7 || turn == 8 {
				fromX = w - 1 - fromX
			}
			if turn == 3 || turn == 4 || turn == 6 || turn == 7 {
				fromY = h - 1 - fromY
			}
			shown.SetRGBA(x, y, p.RGBAAt(fromX, fromY))
		}
	}
	return shown
}
