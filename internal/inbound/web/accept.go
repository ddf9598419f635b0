package web

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// WantsPage reports whether a request comes from a browser that expects a page: it is a GET or
// HEAD that accepts text/html explicitly, with at least the weight of application/json.
// Programs that accept anything (*/*) are not browsers.
func WantsPage(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	weight := map[string]float64{}
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		weight[kind] = 1
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			weight[kind] = q
		}
	}
	return weight["text/html"] > 0 && weight["text/html"] >= weight["application/json"]
}
