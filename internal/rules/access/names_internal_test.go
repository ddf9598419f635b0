package access

import (
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestR34_LongNamesTakeNoRoom checks that names of any length typed by strangers are counted in
// the same small amount of memory.
func TestR34_LongNamesTakeNoRoom(t *testing.T) {
	const names, length, most = 1000, 60 << 10, 8 << 20
	tries, guard := NewTries(time.Now, Bounds{Minute: 20}), &guard{newMemory(time.Now, keptTopics{triesKept, addressesKept})}
	for what, count := range map[string]func(name string){
		"client ids, and addresses of forgotten passwords": func(name string) { tries.Take(1, name) },
		"addresses at the sign-in": func(name string) {
			c := &claim{school: 1, name: name, from: netip.MustParsePrefix("192.0.2.1/32"), device: "known"}
			if err := guard.begin(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		},
	} {
		before := heap()
		for n := range names {
			count(fmt.Sprint(n) + strings.Repeat("x", length))
		}
		if grown := heap() - before; grown > most {
			t.Errorf("%s: %d names take %d bytes, want %d at most", what, names, grown, most)
		}
	}
	runtime.KeepAlive(tries)
	runtime.KeepAlive(guard)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
