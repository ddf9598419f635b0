package learning

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// recording is a file whose duration is wanted. Only small parts of it are read, wherever in the
// file they are.
type recording struct {
	content io.ReadSeeker
	size    int64
	err     error // of the store; a malformed file is not an error
}

var recordings = []string{"mp4", "m4a", "m4v", "mov", "mp3", "wav", "flac"}

// durationOf returns the duration in seconds of a file of a type, if it is known.
func (s *Service) durationOf(
	ctx context.Context, sum *lyceum.FileSum, extension string,
) (seconds lyceum.Opt[int32], err error) {
	if !slices.Contains(recordings, extension) {
		return seconds, nil
	}
	content, err := s.files.Open(ctx, sum.Name)
	if err != nil {
		return seconds, err
	}
	defer content.Close()
	return readDuration(content, sum.Size, extension)
}

// readDuration returns the duration in seconds, at least 1, of a recording of a type, if its
// type and content state one.
func readDuration(content io.ReadSeeker, size int64, extension string) (seconds lyceum.Opt[int32], err error) {
	r := &recording{content: content, size: size}
	var length float64
	switch extension {
	case "mp4", "m4a", "m4v", "mov":
		length = r.mp4()
	case "mp3":
		length = r.mp3()
	case "wav":
		length = r.wav()
	case "flac":
		length = r.flac()
	}
	if length > 0 && length < math.MaxInt32 {
		seconds = lyceum.Some(max(1, int32(math.Round(length))))
	}
	return seconds, r.err
}

// at returns n bytes starting at an offset, or nil.
func (r *recording) at(from, n int64) []byte {
	if from < 0 || from > r.size-n {
		return nil
	}
	b := make([]byte, n)
	_, err := r.content.Seek(from, io.SeekStart)
	if err == nil {
		_, err = io.ReadFull(r.content, b)
	}
	if err != nil {
		r.err = errors.Join(r.err, err)
		return nil
	}
	return b
}

// mostChunks is the maximum number of parts of a file that are examined to find the one that
// states the duration.
const mostChunks = 100

// mp4 reads the duration from the mvhd box in the moov box (ISO/IEC 14496-12).
func (r *recording) mp4() float64 {
	at := int64(0)
	for range mostChunks {
		head := r.at(at, 8)
		if head == nil {
			return 0
		}
		size, begin := int64(binary.BigEndian.Uint32(head)), at+8
		if size == 1 {
			large := r.at(begin, 8)
			if large == nil {
				return 0
			}
			size, begin = int64(binary.BigEndian.Uint64(large)), begin+8
		}
		switch kind := string(head[4:]); {
		case kind == "moov":
			at = begin
		case kind == "mvhd":
			return r.mvhd(begin)
		case size < begin-at || size > r.size-at:
			return 0
		default:
			at += size
		}
	}
	return 0
}

func (r *recording) mvhd(at int64) float64 {
	b := r.at(at, 32)
	if b == nil {
		return 0
	}
	scale, units := binary.BigEndian.Uint32(b[12:]), uint64(binary.BigEndian.Uint32(b[16:]))
	unknown := units == math.MaxUint32
	if b[0] == 1 {
		scale, units = binary.BigEndian.Uint32(b[20:]), binary.BigEndian.Uint64(b[24:])
		unknown = units == math.MaxUint64
	}
	if scale == 0 || unknown {
		return 0
	}
	return float64(units) / float64(scale)
}

// wav divides the number of bytes of the data by the bytes per second.
func (r *recording) wav() float64 {
	at, rate := int64(12), uint32(0)
	for range mostChunks {
		head := r.at(at, 8)
		if head == nil {
			return 0
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		switch string(head[:4]) {
		case "fmt ":
			if b := r.at(at+8, 12); b != nil {
				rate = binary.LittleEndian.Uint32(b[8:])
			}
		case "data":
			if rate == 0 {
				return 0
			}
			return float64(min(size, r.size-at-8)) / float64(rate)
		}
		at += 8 + size + size%2
	}
	return 0
}

// flac reads the duration from the STREAMINFO block (RFC 9639), which is the first.
func (r *recording) flac() float64 {
	b := r.at(18, 8)
	if b == nil {
		return 0
	}
	said := binary.BigEndian.Uint64(b)
	rate, samples := said>>44, said&(1<<36-1)
	if rate == 0 {
		return 0
	}
	return float64(samples) / float64(rate)
}

// mp3Head is how much of an MP3 is searched for its first frame, in bytes.
const mp3Head = 64 << 10

// mp3 uses the number of frames that the first one states, or else assumes that all are of its
// size.
func (r *recording) mp3() float64 {
	at := int64(0)
	if tag := r.at(0, 10); tag != nil && string(tag[:3]) == "ID3" {
		at = 10 + int64(tag[6]&127)<<21 + int64(tag[7]&127)<<14 + int64(tag[8]&127)<<7 + int64(tag[9]&127)
	}
	b := r.at(at, min(mp3Head, max(0, r.size-at)))
	for len(b) >= 4 {
		f, is := readMP3Frame(b)
		if next := f.size; is && next < len(b) {
			_, is = readMP3Frame(b[next:])
		}
		if !is {
			b, at = b[1:], at+1
			continue
		}
		if frames := f.counted(b); frames > 0 {
			return float64(frames) * f.seconds
		}
		return float64(r.size-at) / float64(f.size) * f.seconds
	}
	return 0
}

// mp3Frame is a frame of an MP3 (ISO/IEC 11172-3 and 13818-3, layer III).
type mp3Frame struct {
	size    int // bytes
	seconds float64
	side    int // bytes between its header and the encoder's tag
}

// bitrates has the bit rates of MPEG 1 and 2, in kbit/s.
var bitrates = [2][15]int{
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}

func readMP3Frame(b []byte) (f mp3Frame, is bool) {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe6 != 0xe2 { // layer III only
		return f, false
	}
	version, bits, rate := b[1]>>3&3, int(b[2]>>4), int(b[2]>>2&3)
	if version == 1 || bits == 0 || bits == 15 || rate == 3 {
		return f, false
	}
	old, samples := 0, 1152
	sides := [2]int{32, 17}
	hertz := [3]int{44100, 48000, 32000}[rate]
	if version != 3 { // MPEG 2, or 2.5
		old, samples, hertz, sides = 1, 576, hertz/2, [2]int{17, 9}
		if version == 0 {
			hertz /= 2
		}
	}
	f.size = samples/8*bitrates[old][bits]*1000/hertz + int(b[2]>>1&1)
	f.seconds = float64(samples) / float64(hertz)
	if f.side = sides[0]; b[3]>>6 == 3 { // one channel
		f.side = sides[1]
	}
	return f, true
}

// counted returns the number of frames that the encoder states in the first one, or 0.
func (f *mp3Frame) counted(b []byte) uint32 {
	if said := tail(b, 4+f.side); len(said) >= 12 && said[7]&1 == 1 &&
		(bytes.HasPrefix(said, []byte("Xing")) || bytes.HasPrefix(said, []byte("Info"))) {
		return binary.BigEndian.Uint32(said[8:])
	}
	if said := tail(b, 36); len(said) >= 18 && bytes.HasPrefix(said, []byte("VBRI")) {
		return binary.BigEndian.Uint32(said[14:])
	}
	return 0
}

func tail(b []byte, from int) []byte { return b[min(from, len(b)):] }
