package sqlstore

import (
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// The first byte of a packed text says how it is packed.
const (
	packedPlain = 0 // followed by the text itself
	packedZstd  = 1 // followed by a frame that was compressed with the dictionary
)

// dictionary holds what events and the responses to them have in common. It must never change, or
// everything packed with it is lost: another dictionary needs another first byte.
//
//go:embed dictionary1.txt
var dictionary []byte

const (
	dictionaryID = 1
	// mostPacked is the size in bytes of the largest text that is compressed.
	mostPacked = 64 << 20
	packWindow = 64 << 10
)

// coder packs and unpacks. It is safe for concurrent use.
type coder struct {
	in  *zstd.Encoder
	out *zstd.Decoder
}

var coders = sync.OnceValue(func() coder {
	in, failed := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(packWindow),
		zstd.WithEncoderDictRaw(dictionaryID, dictionary))
	out, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(mostPacked),
		zstd.WithDecoderDictRaw(dictionaryID, dictionary))
	if err := errors.Join(failed, err); err != nil {
		panic(fmt.Sprintf("begin to pack: %v", err)) // the options are wrong
	}
	return coder{in, out}
})

// pack compresses a text, unless it is too large or would not get smaller.
func pack(text string) []byte {
	if len(text) <= mostPacked {
		packed := coders().in.EncodeAll([]byte(text), []byte{packedZstd})
		if len(packed) <= len(text) {
			return packed
		}
	}
	return append([]byte{packedPlain}, text...)
}

// unpack returns the text that was packed.
func unpack(packed []byte) (string, error) {
	if len(packed) == 0 {
		return "", errors.New("a packed text is empty")
	}
	switch packed[0] {
	case packedPlain:
		return string(packed[1:]), nil
	case packedZstd:
		text, err := coders().out.DecodeAll(packed[1:], nil)
		if err != nil {
			return "", fmt.Errorf("unpack: %w", err)
		}
		return string(text), nil
	}
	return "", fmt.Errorf("a text is packed in an unknown way, %d", packed[0])
}

// packedScanner scans a packed text and records its length.
type packedScanner struct {
	put  func(string) error
	size int
}

// Scan implements sql.Scanner.
func (p *packedScanner) Scan(src any) error {
	packed, ok := src.([]byte)
	if !ok {
		return wrong(src, "bytes")
	}
	text, err := unpack(packed)
	if err != nil {
		return err
	}
	p.size = len(text)
	return p.put(text)
}

func scanPacked(p *string) *packedScanner {
	return &packedScanner{put: func(text string) error {
		*p = text
		return nil
	}}
}

func packedColumn[T any](name string, at func(*T) *string) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return pack(*at(t)) },
		scan: func(t *T) sql.Scanner { return scanPacked(at(t)) },
		text: func(t *T) string { return *at(t) },
	}
}
