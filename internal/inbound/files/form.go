package files

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// maxFields is the maximum number of bytes before the file in a form, and after it.
const maxFields = 64 << 10

// wrongType is the error code for a body that is neither a file nor a form with a file.
const wrongType = "upload_body"

// formBoundary returns the boundary between the parts of a form, or nothing if the body is
// the file itself.
func formBoundary(r *http.Request) (boundary string, err error) {
	kind, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // an invalid type counts as that of a file
	switch {
	case kind == "multipart/form-data" && parameters["boundary"] != "":
		return parameters["boundary"], nil
	case strings.HasPrefix(kind, "multipart/"),
		kind == "application/x-www-form-urlencoded" && r.Method == http.MethodPost:
		return "", &lyceum.Error{
			Kind: lyceum.Invalid, Code: wrongType,
			Detail: "send the file as the body of the request, or in a form as multipart/form-data with a boundary",
		}
	}
	return "", nil
}

// form reads the file in a form. It ends without an error only if the form is complete and
// has no second file.
type form struct {
	from  io.Reader // the request's body
	left  int       // remaining bytes that may be read from it; negative: no limit
	parts *multipart.Reader
	file  *multipart.Part
	ended error // nil: the file continues
}

var (
	errNoFormFile = lyceum.Invalidf("the form has no file; send it as a part with a filename")
	errFormFiles  = lyceum.Invalidf("the form has more than one file, and this address accepts only one")
	errFields     = lyceum.Invalidf("the form has more than %d bytes besides its file", maxFields)
	errFormCut    = lyceum.Invalidf("the form ends too early, or is not one")
)

// openForm reads a form up to the start of its file.
func openForm(body io.Reader, boundary string) (*form, error) {
	f := &form{from: body, left: maxFields}
	f.parts = multipart.NewReader(bounded{f}, boundary)
	err := f.next()
	if err == io.EOF { // a truncated form fails with an error that wraps io.EOF
		err = errNoFormFile
	}
	f.left = -1
	return f, err
}

// next skips fields up to the next file. At the end of the form it returns io.EOF itself,
// not wrapped.
func (f *form) next() error {
	for {
		part, err := f.parts.NextPart()
		if err != nil {
			return formError(err)
		}
		if part.FileName() != "" {
			f.file = part
			return nil
		}
	}
}

// formError translates a form's error for the client.
func formError(err error) error {
	if _, own := errors.AsType[*lyceum.Error](err); own || err == io.EOF {
		return err
	}
	return errors.Join(errFormCut, err)
}

// Read reads from the file.
func (f *form) Read(p []byte) (int, error) {
	if f.ended != nil {
		return 0, f.ended
	}
	n, err := f.file.Read(p)
	if err == nil {
		return n, nil
	}
	if f.ended = formError(err); f.ended == io.EOF {
		f.left = maxFields
		if f.ended = f.next(); f.ended == nil {
			f.ended = errFormFiles
		}
	}
	return n, f.ended
}

// bounded reads the body of a form, up to its limits.
type bounded struct{ form *form }

func (b bounded) Read(p []byte) (int, error) {
	f := b.form
	if f.left < 0 {
		return f.from.Read(p)
	}
	if f.left == 0 {
		return 0, errFields
	}
	n, err := f.from.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}
