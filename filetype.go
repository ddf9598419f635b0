package lyceum

import (
	"bytes"
	"slices"
	"strings"
)

// begins lists how files with an extension begin, for types that always begin with one of a few
// sequences. A question mark matches any byte.
var begins = map[string][]string{
	"jpg": {"\xff\xd8\xff"}, "jpeg": {"\xff\xd8\xff"}, "png": {"\x89PNG\r\n\x1a\n"}, "gif": {"GIF8"},
	"webp": {"RIFF????WEBP"}, "avif": isoMedia, "heic": isoMedia, "heif": isoMedia, "bmp": {"BM"}, "psd": {"8BPS"},
	"tif": tiff, "tiff": tiff,
	"mp4": isoMedia, "m4a": isoMedia, "m4v": isoMedia, "webm": matroska, "mkv": matroska, "avi": {"RIFF????AVI "},
	"mov": {"????ftyp", "????moov", "????mdat", "????wide", "????free", "????skip", "????pnot"},
	"wav": {"RIFF????WAVE"}, "flac": {"fLaC"}, "ogg": {"OggS"}, "aif": aiff, "aiff": aiff, "mid": {"MThd"},
	"zip": zipped, "epub": zipped, "docx": zipped, "xlsx": zipped, "pptx": zipped, "odt": zipped, "ods": zipped,
	"odp": zipped, "gz": {"\x1f\x8b"}, "7z": {"7z\xbc\xaf\x27\x1c"}, "rar": {"Rar!\x1a\x07"}, "rtf": {`{\rtf`},
}

var (
	isoMedia = []string{"????ftyp"}
	matroska = []string{"\x1aE\xdf\xa3"}
	tiff     = []string{"II*\x00", "MM\x00*", "II+\x00", "MM\x00+"}
	aiff     = []string{"FORM????AIFF", "FORM????AIFC"}
	zipped   = []string{"PK"}
)

// texts are the extensions of text files.
var texts = []string{"txt", "csv", "md", "html", "json", "svg", "xml", "srt", "vtt", "css", "js"}

// LooksLike reports whether a file that begins with head can be of the type that its extension
// indicates.
func LooksLike(extension string, head []byte) bool {
	switch {
	case extension == "pdf":
		return bytes.Contains(head, []byte("%PDF-")) // other bytes may precede it
	case extension == "mp3":
		return bytes.HasPrefix(head, []byte("ID3")) || hasFrame(head)
	case slices.Contains(texts, extension):
		return isText(head) && (extension != "svg" || bytes.ContainsRune(head, '<'))
	}
	known, is := begins[extension]
	return !is || slices.ContainsFunc(known, func(begin string) bool { return beginsWith(head, begin) })
}

func beginsWith(head []byte, begin string) bool {
	if len(head) < len(begin) {
		return false
	}
	for i := range len(begin) {
		if begin[i] != '?' && begin[i] != head[i] {
			return false
		}
	}
	return true
}

// hasFrame reports whether an MPEG audio frame may begin anywhere in head, because some
// programs write other bytes before the first frame.
func hasFrame(head []byte) bool {
	for i := 1; i < len(head); i++ {
		if head[i-1] == 0xff && head[i] >= 0xe0 {
			return true
		}
	}
	return false
}

// isText reports whether head can be the beginning of text: it has no NUL bytes, or a UTF-16
// byte order mark.
func isText(head []byte) bool {
	marked := strings.HasPrefix(string(head), "\xff\xfe") || strings.HasPrefix(string(head), "\xfe\xff")
	return marked || !bytes.Contains(head, []byte{0})
}
