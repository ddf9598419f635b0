package console

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/lyceum-school/lyceum"
)

// upload is a form with a file as it was sent, as far as it was read.
type upload struct {
	values map[string]string
	file   []byte // nil: none was chosen
	last   string // the field that was read last
}

// readUpload reads a form with a file, which is bounded by largest. What came before
// an error is returned with it.
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

// tooLarge refuses a form whose file or list is too large.
func tooLarge(field string) error {
	message := fmt.Sprintf("is too large, so nothing was changed; a form has at most %d megabytes", MaxUpload>>20)
	if field != "file" {
		field = "list"
	}
	return lyceum.InvalidFields(lyceum.FieldError{Field: field, Message: message})
}
