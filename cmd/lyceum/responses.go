package main

import (
	"os"
	"runtime/debug"
	"sync/atomic"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// responseSettings limit the memory of responses in progress.
type responseSettings struct {
	AnswerMemory       byteSize `help:"Memory limit for answers in progress, such as 128MB. A request beyond it waits up to 5 seconds and is then refused with 503." default:"128MB" placeholder:"SIZE"`
	AnswerMemorySchool byteSize `help:"The same limit for one school." default:"48MB" placeholder:"SIZE"`
	ResponseCache      byteSize `help:"Memory for responses that are sent again while the database is unchanged; 0 disables that. With PostgreSQL it is not used." default:"32MB" placeholder:"SIZE"`
}

// The range of --answer-memory and --answer-memory-school.
const (
	minResponseMemory = 16 << 20
	maxResponseMemory = 1 << 40
)

func (s *responseSettings) wrong() (wrong []lyceum.FieldError) {
	for _, setting := range []struct {
		flag string
		size byteSize
	}{{"--answer-memory", s.AnswerMemory}, {"--answer-memory-school", s.AnswerMemorySchool}} {
		if setting.size.bytes < minResponseMemory || setting.size.bytes > maxResponseMemory {
			wrong = append(wrong, lyceum.FieldError{
				Field: setting.flag, Message: "must be a size from 16MB to 1TB, such as 128MB",
			})
		}
	}
	if s.ResponseCache.bytes > maxResponseMemory {
		wrong = append(wrong, lyceum.FieldError{
			Field: "--response-cache", Message: "must be a size of at most 1TB, such as 32MB, or 0",
		})
	}
	if len(wrong) == 0 && s.AnswerMemorySchool.bytes > s.AnswerMemory.bytes {
		wrong = append(wrong, lyceum.FieldError{
			Field:   "--answer-memory-school",
			Message: "must not be more than --answer-memory, which is " + s.AnswerMemory.String(),
		})
	}
	return wrong
}

func (s *responseSettings) limits() access.LoadLimits {
	return access.LoadLimits{Process: s.AnswerMemory.bytes, School: s.AnswerMemorySchool.bytes}
}

// measureLoad adds metrics about the responses in progress.
func measureLoad(m *server.Metrics, load *access.Load) {
	server.Measure(m, func() *access.Load { return load }, []server.Figure[*access.Load]{
		{Name: "lyceum_answer_bytes", Help: "Memory used by answers in progress.", Value: (*access.Load).Bytes},
		{Name: "lyceum_answers_making", Help: "Expensive answers in progress.", Value: (*access.Load).Making},
		{Name: "lyceum_answers_waiting", Help: "Expensive answers waiting for their turn.", Value: (*access.Load).Waiting},
		{
			Name: "lyceum_answers_refused_total", Help: "Answers refused for lack of memory or because their turn did not come.",
			Rises: true, Value: (*access.Load).Refused,
		},
	})
}

// measureCache adds metrics about the response cache.
func measureCache(m *server.Metrics, cache *server.Cache) {
	type stats = server.CacheStats
	server.Measure(m, cache.Stats, []server.Figure[stats]{
		{
			Name: "lyceum_response_cache_hits_total", Help: "Responses sent again from the cache.", Rises: true,
			Value: func(s stats) int64 { return s.Hits },
		},
		{
			Name: "lyceum_response_cache_misses_total", Help: "Responses made that the cache could have had.", Rises: true,
			Value: func(s stats) int64 { return s.Misses },
		},
		{
			Name: "lyceum_response_cache_bytes", Help: "Memory used by the response cache.",
			Value: func(s stats) int64 { return s.Bytes },
		},
	})
}

// gcPercent lets a server's heap grow further between collections than Go's default: otherwise
// a small heap, in which every page of a list allocates, would be collected dozens of times a
// second.
const gcPercent = 400

// heapRoom keeps the heap from growing more because of the indexes and the large responses in
// it: what a page of a list allocates does not depend on their size.
type heapRoom struct{ indexes, responses atomic.Int64 }

func (r *heapRoom) forIndexes(bytes int64) {
	r.indexes.Store(bytes)
	r.leave()
}

func (r *heapRoom) forResponses(bytes int64) {
	r.responses.Store(bytes)
	r.leave()
}

func (r *heapRoom) leave() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const heap = 64 << 20 // of a server without indexes and large responses
	debug.SetGCPercent(int(max(gcPercent*heap/(heap+r.indexes.Load()+r.responses.Load()), 10)))
}
