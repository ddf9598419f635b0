// Package server owns the listener and everything that every request goes through: request id,
// size limits, credentials, rate limit, metrics, access log, and the routing to the faces by
// their tables of operations.
//
// It must not know what an operation does. Only this package may import the faces.
package server
