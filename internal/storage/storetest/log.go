package storetest

import (
	"bytes"
	"strings"
	"sync"
)

// Log collects what is logged, and may be read meanwhile.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Count returns how often the log contains a text.
func (l *Log) Count(text string) int { return strings.Count(l.String(), text) }
