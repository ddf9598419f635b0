package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// bulkUsers is the number of users in the bulk job that is interrupted, in addition to those of
// the shop.
const bulkUsers = 600

// TestBulkJobSurvivesKills checks that a server that is killed repeatedly while it works on a
// bulk job processes each row once, and ends with the results that were predicted.
func TestBulkJobSurvivesKills(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		killDuringBulkJob(t, filepath.Join(t.TempDir(), "data"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		killDuringBulkJob(t, storetest.Postgres(t))
	})
}

// startedJob is a bulk job as a program sees it.
type startedJob struct {
	Job struct {
		ID       int32             `json:"id"`
		State    lyceum.BulkState  `json:"state"`
		Expected lyceum.BulkCounts `json:"expected"`
		Results  lyceum.BulkCounts `json:"results"`
	} `json:"bulk_job"`
}

func killDuringBulkJob(t *testing.T, place string) {
	s := openShop(t, place)
	ids := s.crowd(t)
	s.serve(t)
	var job startedJob
	body := map[string]any{"action": "give_access", "product_type": "course", "product_id": 1, "user_ids": ids}
	if status := s.insist(http.MethodPost, "/lyceum/v1/bulk_jobs", "prepare", body, &job); status != http.StatusCreated {
		t.Fatalf("prepared with %d: %+v", status, job)
	}
	path := fmt.Sprintf("/lyceum/v1/bulk_jobs/%d", job.Job.ID)
	look := func() bool {
		status, err := s.send(http.MethodGet, path, "", nil, &job)
		return err == nil && status == http.StatusOK
	}
	kills := s.killWhile(t, lyceum.BulkPreparing, look, &job)
	if job.Job.State != lyceum.BulkDraft || job.Job.Expected.Done != bulkUsers {
		t.Fatalf("prepared: %+v", job)
	}
	if status := s.insist(http.MethodPost, path+"/start", "start", struct{}{}, &job); status != http.StatusOK {
		t.Fatalf("started with %d", status)
	}
	kills += s.killWhile(t, lyceum.BulkRunning, look, &job)
	if kills == 0 || job.Job.State != lyceum.BulkFinished || job.Job.Results != job.Job.Expected {
		t.Errorf("after %d kills: %+v", kills, job)
	}
	t.Logf("%d kills in the middle of it", kills)
	s.server.kill(t)
	wantGivenOnce(t, s, ids)
}

// killWhile kills the server while a job is in a state, and restarts it. After five kills it
// lets that state last as long as it takes. It returns how often something was left to do.
func (s *shop) killWhile(t *testing.T, state lyceum.BulkState, look func() bool, job *startedJob) (kills int) {
	t.Helper()
	for range 5 {
		s.server.kill(t)
		s.serve(t)
		if !await(look) {
			t.Fatalf("the server does not answer: %+v", job)
		}
		if job.Job.State != state {
			return kills
		}
		kills++
	}
	for job.Job.State == state {
		before := job.Job
		if !await(func() bool { return look() && job.Job != before }) {
			t.Fatalf("it does not go on: %+v", job)
		}
	}
	return kills
}

// crowd adds users, and returns their ids and a few more.
func (s *shop) crowd(t *testing.T) (ids []lyceum.UserID) {
	t.Helper()
	store, err := openStore(t.Context(), s.place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var users []lyceum.User
	for n := range lyceum.UserID(bulkUsers) {
		id := n + 1000
		users = append(users, lyceum.User{ID: id, Email: fmt.Sprintf("crowd%d@example.com", n), Role: lyceum.Student, CreatedAt: storetest.Begin})
		ids = append(ids, id)
	}
	storetest.Write(t, store, s.school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, users...)
		return err
	})
	return append(ids, 999_999, 1000) // one that does not exist, and a duplicate
}

// wantGivenOnce checks that each user has the course once.
func wantGivenOnce(t *testing.T, s *shop, ids []lyceum.UserID) {
	t.Helper()
	store, err := openStore(t.Context(), s.place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	given := map[lyceum.UserID]int{}
	v := store.In(t.Context(), s.school)
	err = v.Entitlements.Each(v, lyceum.EntitlementFilter{}, func(e *lyceum.Entitlement) error {
		given[e.User]++
		return nil
	})
	if err != nil || len(given) != bulkUsers {
		t.Fatalf("%d users were given the course, want %d: %v", len(given), bulkUsers, err)
	}
	for _, id := range ids[:bulkUsers] {
		if given[id] != 1 {
			t.Errorf("user %d was given it %d times", id, given[id])
		}
	}
	if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}
