package files

import "time"

// Hurry sets the time limit of a store's requests.
func (s *S3) Hurry(d time.Duration) { s.patience = d }

// Cut makes a store send files in parts of 1 MiB.
func (s *S3) Cut() { s.partSize = 1 << 20 }
