package learning

import (
	"context"
	"image"
	_ "image/gif" // the accepted types of pictures
	_ "image/jpeg"
	_ "image/png"
	"io"

	"github.com/lyceum-school/lyceum"
	_ "golang.org/x/image/webp" // and of this
)

// Bounds of pictures, so that showing one needs little memory.
const (
	maxPictureSide   = 16_384     // pixels
	maxPicturePixels = 64_000_000 // 256 MB decoded
	maxPictureHeader = 4 << 20    // bytes before the dimensions of a picture
)

// namePicture replaces the upload address of a picture with one that is made from its content,
// so that a picture that is sent again has the same address. Addresses of anything but a picture
// of this school stay, and image may be nil.
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

// pictured rejects a file that is not a picture of the given type, or has too many pixels. It
// decodes no pixels.
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
