package learning

import (
	"context"
	"image"
	_ "image/gif" // pictures are of these types
	_ "image/jpeg"
	_ "image/png"
	"io"

	"github.com/lyceum-school/lyceum"
	_ "golang.org/x/image/webp" // and of this
)

// Bounds of pictures, so that whoever shows one needs little memory.
const (
	maxPictureSide   = 16_384     // pixels
	maxPicturePixels = 64_000_000 // 256 MB when it is shown
	maxPictureHeader = 4 << 20    // bytes before the size of a picture
)

// namePicture puts, in the place of the address that a picture was sent to, the one
// that is made of what is in it: a picture that is sent again has the same address. An
// address of anything but a picture of this school stays, and image may be nil.
func (s *Service) namePicture(tx lyceum.Tx, image *lyceum.Opt[string]) error {
	if image == nil || !image.Present || !s.ours(tx.School(), image.Value) {
		return nil
	}
	a, _ := lyceum.ParseUploadAddress(image.Value)
	u, found, err := findUpload(tx.Tables, tx, a)
	if found && u.ReceivedAt.Present && u.Purpose == lyceum.ThumbnailUpload {
		image.Value = s.base + lyceum.UploadPath(a.School, u.Checksum.Value, u.Extension)
	}
	return err
}

// pictured refuses a content that is not a picture of a type, or that is a picture of
// too many pixels. It reads no pixel.
func (s *Service) pictured(ctx context.Context, name lyceum.FileName, extension string) error {
	content, err := s.files.Open(ctx, name)
	if err != nil {
		return err
	}
	defer content.Close()
	config, format, err := image.DecodeConfig(io.LimitReader(content, maxPictureHeader))
	if failed := lyceum.KindOf(err); err != nil && failed == lyceum.Unavailable {
		return err
	}
	if extension == "jpg" {
		extension = "jpeg"
	}
	switch {
	case err != nil || format != extension || config.Width < 1 || config.Height < 1:
		return lyceum.Invalidf("this is not a picture of the type %s", extension)
	case max(config.Width, config.Height) > maxPictureSide, config.Width*config.Height > maxPicturePixels:
		return lyceum.Invalidf("a picture has at most %d million pixels and %d on a side; this one has %d x %d",
			maxPicturePixels/1_000_000, maxPictureSide, config.Width, config.Height)
	}
	return nil
}
