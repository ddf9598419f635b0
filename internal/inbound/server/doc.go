// Package server owns the listener and what every request passes: request id,
// size limits, credentials, rate limit, metrics, access log, and the mounting
// of the faces by their tables of operations.
//
// It must not know what an operation does. It alone may import the faces.
package server
