package oauth

import (
	"strings"
	"testing"
)

func TestBrowserOf(t *testing.T) {
	const webkit = " AppleWebKit/537.36 (KHTML, like Gecko) "
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0":                                  "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit + "Chrome/142.0.0.0 Safari/537.36":                   "Chrome on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit + "Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0":     "Edge on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + webkit + "Chrome/142.0.0.0 Safari/537.36 OPR/120.0.0.0":     "Opera on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML) Version/26.0 Safari/605":    "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/26.0 Mobile Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 CriOS/142.0 Mobile Safari/604.1":  "Chrome on iPhone",
		"Mozilla/5.0 (Linux; Android 16; Pixel 9)" + webkit + "Chrome/142.0.0.0 Mobile Safari/537.36":             "Chrome on Android",
		"Mozilla/5.0 (Linux; Android 16)" + webkit + "SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36":      "Samsung Internet on Android",
		"curl/8.14.1":                         "curl",
		"Mozilla/5.0 (X11; Linux) Lynx":       "Linux",
		"":                                    "",
		"\x00<script>":                        "",
		strings.Repeat("a", 8<<10) + "Linux;": "Linux",
	} {
		if got := browserOf(agent); got != want {
			t.Errorf("%.80q is %q, want %q", agent, got, want)
		}
	}
}
