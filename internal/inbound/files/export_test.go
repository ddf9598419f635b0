package files

import (
	"io"
	"net/http"
)

// NewBody returns a reader of a request's body as the handler reads it for a file.
func NewBody(from io.Reader, w http.ResponseWriter) io.Reader {
	return &body{from: from, moving: http.NewResponseController(w)}
}
