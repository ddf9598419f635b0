package files

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// mostRanges is how many ranges a request may have.
const mostRanges = 16

// byteRange is a part of a file: from its first byte up to, but excluding, to.
type byteRange struct{ from, to int64 }

// canonical rewrites the Range header of a request so that net/http interprets it as RFC
// 9110 says: it drops unknown units and ranges beyond the end of the file, and clamps
// large numbers. It reports whether the ranges can be satisfied; they cannot if the header
// is malformed, or if it has too many ranges, overlapping ones, or none within the file.
func canonical(r *http.Request, size int64) bool {
	unit, set, found := strings.Cut(r.Header.Get("Range"), "=")
	if !found || !strings.EqualFold(strings.TrimSpace(unit), "bytes") || r.Method != http.MethodGet {
		r.Header.Del("Range") // ignored for unknown units and for HEAD
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

// parseRange parses 0-99, 100- or -100 for a file of the given size. A range outside of
// the file is empty.
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

// parseByte parses digits; a number that is too large means beyond the end of any file.
func parseByte(text string) (n int64, ok bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, _ = strconv.ParseInt(text, 10, 64) // a number that is too large becomes the maximum
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

// refuseRange responds with 416 and the size of the file.
func refuseRange(w http.ResponseWriter, size int64) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Range", fmt.Sprintf("bytes */%d", size))
	http.Error(w, fmt.Sprintf("Range must be like bytes=0-99, bytes=100- or bytes=-100, within the %d bytes of the "+
		"file, or up to %d of these that do not overlap", size, mostRanges), http.StatusRequestedRangeNotSatisfiable)
}
