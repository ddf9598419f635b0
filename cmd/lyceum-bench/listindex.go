package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"time"
)

// measureListIndex measures how much memory the indexes of long lists take, how long it takes
// to build them, and how long a start takes without them: they are built when first needed.
func measureListIndex(ctx context.Context, s settings) error {
	school, err := crowd(ctx, s, filepath.Join(s.keep, "learning-"+strconv.Itoa(s.users)))
	if err != nil {
		return err
	}
	fmt.Printf("## List index\n\nThe school of %d users of the part learning is started. A late page of each list is "+
		"requested until it is served from an index. Resident is the memory of the process then.\n\n"+
		"| | response ms | index made ms | then ms | rows | index MB | resident MB |\n"+
		"|---|---|---|---|---|---|---|\n", s.users)
	served, err := s.serve(ctx, school[len(school)-1])
	if err != nil {
		return err
	}
	defer func() { _ = served.stop() }()
	conn, err := dial(served.address)
	if err != nil {
		return err
	}
	defer conn.conn.Close()
	get := func(path string) (time.Duration, error) {
		begin := time.Now()
		status, _, err := conn.do(request(path, served.key), false)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%s is a %d", path, status)
		}
		return time.Since(begin), err
	}
	resident := func() int64 { return memory(served.command.Process.Pid) >> 20 }
	first, err := get("/v1/users")
	if err != nil {
		return err
	}
	fmt.Printf("| start, until it listens | %d | | %.1f | | | %d |\n",
		served.took.Milliseconds(), millis(first), resident())
	enrolled := fmt.Sprintf("/v2/products/courses/%d/enrollments?page=%d", crowdCourse, s.users/50)
	for _, list := range []struct{ name, path string }{
		{"v2: users by id", fmt.Sprintf("/v2/users?page=%d", s.users/50)},
		{"v2: users by name", fmt.Sprintf("/v2/users?page=%d&sort_by=name", s.users/50)},
		{"enrollments of the course", fmt.Sprintf("/v1/courses/%d/enrollments?page=%d", crowdCourse, s.users/40)},
		{"v2: enrollments of the course", enrolled},
	} {
		before, err := served.gauges(ctx)
		if err != nil {
			return err
		}
		begin := time.Now()
		slow, err := get(list.path)
		if err != nil {
			return err
		}
		after, err := served.listed(ctx, before["lyceum_list_index_lists"])
		if err != nil {
			return fmt.Errorf("%s: %w", list.path, err)
		}
		made := time.Since(begin) - slow
		fast, err := get(list.path)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f | %.0f | %.1f | %s | %.1f | %d |\n", list.name, millis(slow), millis(made), millis(fast),
			grouped(int(after["lyceum_list_index_rows"]-before["lyceum_list_index_rows"])),
			(after["lyceum_list_index_bytes"]-before["lyceum_list_index_bytes"])/1e6, resident())
	}
	fmt.Println()
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// listed waits until there are more than the given number of list indexes.
func (s *server) listed(ctx context.Context, than float64) (map[string]float64, error) {
	for begin := time.Now(); time.Since(begin) < indexWait; time.Sleep(time.Millisecond) {
		gauges, err := s.gauges(ctx)
		if err != nil || gauges["lyceum_list_index_lists"] > than && gauges["lyceum_list_index_building"] == 0 {
			return gauges, err
		}
	}
	return nil, errors.New("no index is made of the list")
}
