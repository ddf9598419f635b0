package learning

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func be(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }
func le(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) }

// box returns a box of an MP4.
func box(kind, content string) string { return be(uint32(8+len(content))) + kind + content }

// zeros returns n zero bytes.
func zeros(n int) string { return strings.Repeat("\x00", n) }

func movieHeader(scale, units uint32) string {
	return box("moov", box("udta", "x")+box("mvhd", zeros(12)+be(scale)+be(units)+zeros(80)))
}

// frames returns n frames of an MP3 with 128 kbit/s and 44100 Hz, of which the first contains a
// tag.
func frames(n int, first string) string {
	frame := "\xff\xfb\x90\x64" + zeros(413)
	return frame[:36] + first + frame[36+len(first):] + strings.Repeat(frame, n-1)
}

func TestDurations(t *testing.T) {
	const mp4 = "\x00\x00\x00\x10ftypisom\x00\x00\x00\x00"
	large := be(1) + "mdat" + zeros(4) + be(1000) + zeros(984)
	wav := "RIFF????WAVE" + "fmt " + le(16) + "\x01\x00\x02\x00" + le(44100) + le(176400) + "\x04\x00\x10\x00"
	flac := "fLaC\x80\x00\x00\x22" + zeros(10)
	for name, tc := range map[string]struct {
		extension, content string
		want               int32 // 0: unknown
	}{
		"mp4":                         {"mp4", mp4 + movieHeader(600, 754*600), 754},
		"mp4, rounded":                {"m4v", mp4 + movieHeader(1000, 1501), 2},
		"mp4, short":                  {"mp4", mp4 + movieHeader(1000, 10), 1},
		"mp4, at the end":             {"mov", mp4 + box("mdat", zeros(5000)) + movieHeader(1, 60), 60},
		"mp4, behind a large box":     {"m4a", mp4 + large + movieHeader(1, 61), 61},
		"mp4, 64 bits":                {"mp4", mp4 + box("moov", box("mvhd", "\x01"+zeros(19)+be(2)+be(0)+be(130)+zeros(80))), 65},
		"mp4, not said":               {"mp4", mp4 + movieHeader(600, 1<<32-1), 0},
		"mp4, in pieces":              {"mp4", mp4 + movieHeader(600, 0), 0},
		"mp4, no unit":                {"mp4", mp4 + movieHeader(0, 600), 0},
		"mp4, cut":                    {"mp4", (mp4 + movieHeader(600, 600))[:60], 0},
		"mp4, a box without an end":   {"mp4", mp4 + be(0) + "mdat" + zeros(100), 0},
		"mp4, a box that is too big":  {"mp4", mp4 + be(1<<31) + "mdat" + zeros(100), 0},
		"mp4, a negative box":         {"mp4", mp4 + be(1) + "mdat" + "\xff" + zeros(7) + zeros(100), 0},
		"mp4, boxes in boxes":         {"mp4", mp4 + strings.Repeat("\x00\x00\x00\x08moov", 1000), 0},
		"mp4, many boxes":             {"mp4", mp4 + strings.Repeat(box("free", ""), 1000) + movieHeader(1, 60), 0},
		"wav":                         {"wav", wav + "data" + le(176400*3) + zeros(176400*3), 3},
		"wav, after a list":           {"wav", wav + "LIST" + le(3) + zeros(4) + "data" + le(176400) + zeros(176400), 1},
		"wav, whose end is missing":   {"wav", wav + "data" + le(1<<31) + zeros(176400*2), 2},
		"wav, without a format":       {"wav", "RIFF????WAVEdata" + le(8) + zeros(8), 0},
		"wav, cut":                    {"wav", wav, 0},
		"flac":                        {"flac", flac + "\x0a\xc4\x42\xf0\x00\x28\x6f\x70", 60}, // 44100 Hz, 2649968 samples
		"flac, not said":              {"flac", flac + "\x0a\xc4\x42\xf0\x00\x00\x00\x00", 0},
		"flac, no rate":               {"flac", flac + "\x00\x00\x00\xf0\x00\x28\x6f\x70", 0},
		"flac, cut":                   {"flac", flac, 0},
		"mp3, all alike":              {"mp3", frames(383, ""), 10},
		"mp3, behind a tag":           {"mp3", "ID3\x03\x00\x00\x00\x00\x02\x00" + zeros(256) + frames(383, ""), 10},
		"mp3, behind something":       {"mp3", "\xff\xfb\x90" + zeros(100) + frames(383, ""), 10},
		"mp3, counted":                {"mp3", frames(2, "Xing\x00\x00\x00\x01"+be(2297)), 60},
		"mp3, counted in another way": {"mp3", frames(2, "VBRI"+zeros(10)+be(2297)), 60},
		"mp3, not counted":            {"mp3", frames(383, "Info\x00\x00\x00\x00"), 10},
		"mp3, none":                   {"mp3", zeros(70000), 0},
		"mp3, a tag alone":            {"mp3", "ID3\x03\x00\x00\x7f\x7f\x7f\x7f", 0},
		"mp3, little":                 {"mp3", "\xff\xfb", 0},
		"nothing":                     {"mp4", "", 0},
		"another type":                {"pdf", mp4 + movieHeader(1, 60), 0},
	} {
		got, err := readDuration(bytes.NewReader([]byte(tc.content)), int64(len(tc.content)), tc.extension)
		if want := (lyceum.Opt[int32]{Value: tc.want, Present: tc.want > 0}); got != want || err != nil {
			t.Errorf("%s: %+v, %v, want %d", name, got, err, tc.want)
		}
	}
}

// FuzzDurations checks that no content makes readDuration fail or panic.
func FuzzDurations(f *testing.F) {
	f.Add("mp4", []byte("\x00\x00\x00\x10ftypisom\x00\x00\x00\x00"+movieHeader(600, 600)))
	f.Add("mp3", []byte(frames(3, "Xing\x00\x00\x00\x01\x00\x00\x00\x09")))
	f.Fuzz(func(t *testing.T, extension string, content []byte) {
		got, err := readDuration(bytes.NewReader(content), int64(len(content)), extension)
		if err != nil || got.Value < 0 || got.Present != (got.Value > 0) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
