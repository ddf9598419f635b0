package console

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/lyceum-school/lyceum"
)

// upload is a submitted form with a file, as far as it could be read.
type upload struct {
	values map[string]string
	file   []byte // nil if none was chosen
	last   string // the last field that was read
}

// readUpload reads a form with a file, limited by largest. In case of an error, it also returns
// what it has read until then.
func readUpload(r *http.Request) (upload, error) {
	sent := upload{values: map[string]string{}}
	parts, err := r.MultipartReader()
	if errors.Is(err, http.ErrNotMultipart) {
		for name := range r.PostForm {
			sent.values[name] = r.PostForm.Get(name)
		}
		return sent, nil
	}
	for err == nil {
		part, next := parts.NextPart()
		if errors.Is(next, io.EOF) {
			return sent, nil
		}
		if next != nil {
			return sent, next
		}
		sent.last = part.FormName()
		var body []byte
		if body, err = io.ReadAll(part); err != nil {
			break
		}
		if part.FileName() != "" {
			sent.file = body
		} else {
			sent.values[sent.last] = string(body)
		}
	}
	return sent, err
}

// tooLarge returns the error for a form whose file or list is too large.
func tooLarge(field string) error {
	message := fmt.Sprintf("is too large, so nothing was changed; a form has at most %d megabytes", MaxUpload>>20)
	if field != "file" {
		field = "list"
	}
	return lyceum.InvalidFields(lyceum.FieldError{Field: field, Message: message})
}
