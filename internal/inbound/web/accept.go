package web

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// WantsPage tells whether a request comes from a browser that is to show a
// page: it asks for something, and takes text/html by name no less gladly than
// application/json. Programs that take anything (*/*) are no browsers.
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
