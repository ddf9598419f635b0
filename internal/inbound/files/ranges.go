package files

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// mostRanges is how many ranges one request may ask for.
const mostRanges = 16

// byteRange is a part of a file, as its first byte and the one behind its last.
type byteRange struct{ from, to int64 }

// canonical replaces the Range of a request with one that net/http understands as RFC
// 9110 does: without a unit that is unknown, without ranges behind the end of the file,
// and with numbers that are not too large. It reports whether the Range can be
// satisfied: not if it cannot be read, has too many ranges, some that overlap, or none
// that is in the file.
func canonical(r *http.Request, size int64) bool {
	unit, set, found := strings.Cut(r.Header.Get("Range"), "=")
	if !found || !strings.EqualFold(strings.TrimSpace(unit), "bytes") || r.Method != http.MethodGet {
		r.Header.Del("Range") // of units that are unknown, and of HEAD, a server ignores it
		return true
	}
	var ranges []byteRange
	for text := range strings.SplitSeq(set, ",") {
		if len(ranges) > mostRanges {
			return false
		}
		if text = strings.Trim(text, " \t"); text == "" {
			continue
		}
		one, ok := parseRange(text, size)
		if !ok {
			return false
		}
		ranges = append(ranges, one)
	}
	ranges = slices.DeleteFunc(ranges, func(b byteRange) bool { return b.from >= b.to })
	if len(ranges) == 0 || len(ranges) > mostRanges || overlap(ranges) {
		return false
	}
	texts := make([]string, len(ranges))
	for i, b := range ranges {
		texts[i] = fmt.Sprintf("%d-%d", b.from, b.to-1)
	}
	r.Header.Set("Range", "bytes="+strings.Join(texts, ", "))
	return true
}

// parseRange reads 0-99, 100- or -100 of a file of a size. A range that is not in the
// file is empty.
func parseRange(text string, size int64) (b byteRange, ok bool) {
	first, last, found := strings.Cut(text, "-")
	if !found {
		return b, false
	}
	if first == "" {
		n, ok := parseByte(last)
		return byteRange{max(0, size-n), size}, ok
	}
	from, ok := parseByte(first)
	if last == "" || !ok {
		return byteRange{from, size}, ok
	}
	to, ok := parseByte(last)
	if !ok || to < from {
		return b, false
	}
	return byteRange{from, min(to, size-1) + 1}, true
}

// parseByte reads a number of digits; one that is too large counts as behind every file.
func parseByte(text string) (n int64, ok bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, _ = strconv.ParseInt(text, 10, 64) // what is too large becomes the largest
	return n, true
}

func overlap(ranges []byteRange) bool {
	sorted := slices.SortedFunc(slices.Values(ranges), func(a, b byteRange) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].from < sorted[i-1].to {
			return true
		}
	}
	return false
}

// refuseRange says what can be asked for of a file of a size.
func refuseRange(w http.ResponseWriter, size int64) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Range", fmt.Sprintf("bytes */%d", size))
	http.Error(w, fmt.Sprintf("Range must be such as bytes=0-99, bytes=100- or bytes=-100, within the %d bytes of the "+
		"file, or up to %d of these that do not overlap", size, mostRanges), http.StatusRequestedRangeNotSatisfiable)
}
