package files

import (
	"io"
	"net/http"
)

// NewBody returns the body of a request as it is read for a file.
func NewBody(from io.Reader, w http.ResponseWriter) io.Reader {
	return &body{from: from, moving: http.NewResponseController(w)}
}
