package files

import "time"

// Hurry makes a store wait no longer than this for an answer.
func (s *S3) Hurry(d time.Duration) { s.patience = d }

// Cut makes a store send files in parts of a mebibyte.
func (s *S3) Cut() { s.partSize = 1 << 20 }
