package learning

import (
	"context"
	"errors"
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
// so that a picture that is sent again has the same address. Addresses of anything but an upload
// of this school stay. Unless it was the image before, it rejects what nobody could see: a file
// that was uploaded as an attachment, and a link that expires. Image may be nil.
func (s *Service) namePicture(tx lyceum.Tx, field string, image, before *lyceum.Opt[string]) error {
	if image == nil || !image.Present {
		return nil
	}
	fresh := before == nil || *image != *before
	refuse := func(message string) error {
		return lyceum.InvalidFields(lyceum.FieldError{Field: field, Message: message})
	}
	if fresh && lyceum.IsFileLink(image.Value) {
		return refuse("must be a permanent address, not a link that expires")
	}
	if !s.ours(tx.School(), image.Value) {
		return nil
	}
	a, _ := lyceum.ParseUploadAddress(image.Value)
	u, found, err := findUpload(tx.Tables, tx, a)
	switch {
	case err != nil || !found:
		return err
	case u.Purpose == lyceum.ThumbnailUpload && u.ReceivedAt.Present:
		image.Value = s.base + lyceum.UploadPath(a.School, u.Checksum.Value, u.Extension)
	case u.Purpose == lyceum.AttachmentUpload && fresh:
		return refuse("is the address of an upload as an attachment; upload the picture as a thumbnail")
	}
	return nil
}

// pictured rejects a file that is not a picture of the given type, or has too many pixels. It
// decodes no pixels.
func (s *Service) pictured(ctx context.Context, name lyceum.FileName, extension string) error {
	content, err := s.files.Open(ctx, name)
	if err != nil {
		return err
	}
	defer content.Close()
	read := &noted{ReadSeeker: content}
	config, format, err := image.DecodeConfig(io.LimitReader(read, maxPictureHeader))
	if read.err != nil {
		return read.err
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

// noted is a file that remembers why it could not be read, because decoders replace the error with
// that of a malformed picture. It does not try again.
type noted struct {
	io.ReadSeeker

	err error
}

func (n *noted) Read(p []byte) (int, error) {
	if n.err != nil {
		return 0, n.err
	}
	count, err := n.ReadSeeker.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = &lyceum.Error{Kind: lyceum.Unavailable, Detail: "this picture cannot be read now; try again later", Err: err}
	}
	return count, err
}
