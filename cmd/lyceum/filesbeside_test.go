package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// pixel is the beginning of a one-pixel picture, which is all that is ever examined.
const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde"

func sha256Of(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Files are copied from one school to another with their rows, and the addresses in rows then
// point to the copies.
func TestFilesAreExportedAndImported(t *testing.T) {
	t.Parallel()
	from, dir := filesOfSchool(t, pixel, pixel+"more"), t.TempDir()
	rows, beside := filepath.Join(dir, "uploads.csv"), filepath.Join(dir, "files")
	for range 2 {
		says(t, 0, `^$`, "export", "uploads", "--data", from, "--output", rows, "--files", beside)
	}
	kept := filesIn(t, beside)
	if len(kept) != 2 || kept["7c/7c0e2a4e-5a53-4b5e-9d3c-000000000001"] != pixel+"more" {
		t.Fatalf("%q", kept)
	}
	to := newSchool(t)
	school := func(args ...string) []string { return append(args, "--data", to) }
	says(t, 1, `(?s)line 2: file needs the folder that it is in; set it with --files\nline 3`, school("import", "uploads", rows)...)
	says(t, 0, `^2 uploads read, 2 good, 0 bad; `, school("import", "uploads", rows, "--files", beside, "--dry-run")...)
	says(t, 0, `2 uploads read: 2 created, 0 updated, 0 unchanged, 0 bad`, school("import", "uploads", rows, "--files", beside)...)
	says(t, 0, `2 uploads read: 0 created, 0 updated, 2 unchanged, 0 bad`, school("import", "uploads", rows, "--files", beside)...)
	says(t, 0, `2 uploaded files, all in order`, school("check", "--deep")...)
	again := filepath.Join(t.TempDir(), "again.csv")
	says(t, 0, ``, school("export", "uploads", "--output", again)...)
	if a, b := command(t, "export", "uploads", "--data", from), command(t, "export", "uploads", "--data", to); a != b {
		t.Errorf("rows differ:\n%s\n%s", a, b)
	}
	courses := write(t, dir, "courses.jsonl", `{"id":1,"name":"Pottery","is_published":true,"created_at":"2024-01-01","updated_at":"2024-01-01",`+
		`"image_url":"https://old.example.com/files/9/7c0e2a4e-5a53-4b5e-9d3c-000000000000.png",`+
		`"description":"<img src='http://127.0.0.1:1/files/2/7c0e2a4e-5a53-4b5e-9d3c-000000000001.png'> and https://old.example.com/files/9/7c0e2a4e-5a53-4b5e-9d3c-00000000000f.png `+
		`and https://old.example.com/files/9/`+sha256Of(pixel+"more")+`.png?width=320 but https://old.example.com/files/9/`+sha256Of("of another school")+`.png"}`)
	says(t, 0, `1 created`, school("import", "courses", courses, "--base-url", "https://new.example.com/")...)
	got := command(t, "export", "courses", "--data", to, "--format", "jsonl")
	for _, want := range []string{
		`"image_url":"https://new.example.com/files/1/7c0e2a4e-5a53-4b5e-9d3c-000000000000.png"`,
		`img src='https://new.example.com/files/1/7c0e2a4e-5a53-4b5e-9d3c-000000000001.png'`,
		`https://old.example.com/files/9/7c0e2a4e-5a53-4b5e-9d3c-00000000000f.png`, // the school does not have it
		`https://new.example.com/files/1/` + sha256Of(pixel+"more") + `.png?width=320`,
		`https://old.example.com/files/9/` + sha256Of("of another school") + `.png`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	says(t, 1, `--base-url must be a URL such as`, school("import", "courses", courses, "--base-url", "new.example.com")...)
	says(t, 1, `--files is for uploads, which have files; leave it out for courses`, school("import", "courses", courses, "--files", beside)...)
	t.Run("PostgreSQL", func(t *testing.T) {
		place := []string{"--database-url", storetest.Postgres(t), "--data", t.TempDir()}
		says(t, 0, ``, append([]string{"school", "create", "--name", "Fernwood", "--owner-email", "owner@example.com"}, place[:2]...)...)
		says(t, 0, ` 2 created, `, append([]string{"import", "uploads", rows, "--files", beside}, place...)...)
		says(t, 0, `2 uploaded files, all in order`, append([]string{"check", "--deep"}, place...)...)
	})
	if err := os.Remove(filepath.Join(from, "files/1/7c/7c0e2a4e-5a53-4b5e-9d3c-000000000001")); err != nil {
		t.Fatal(err)
	}
	says(t, 1, `the file of upload 2 is missing or was changed: 1/7c/`, "export", "uploads", "--data", from, "--files", t.TempDir())
}

// Each row whose file cannot be imported is named together with the problem, and the others are
// imported on request.
func TestR52_FilesThatAreNotImported(t *testing.T) {
	t.Parallel()
	to, dir := newSchool(t), t.TempDir()
	beside, outside := filepath.Join(dir, "files"), write(t, dir, "outside", pixel)
	write(t, beside, "good", pixel)
	write(t, beside, "text", "this is text")
	write(t, beside, "empty", "")
	for to, from := range map[string]string{outside: "link", "good": "inner", beside: "loop"} {
		if err := os.Symlink(to, filepath.Join(beside, from)); err != nil {
			t.Fatal(err)
		}
	}
	large, err := os.Create(filepath.Join(beside, "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	if err := large.Truncate(lyceum.MaxUpload + 1); err != nil {
		t.Fatal(err)
	}
	const header = "uuid,target_type,target_id,purpose,extension,file,size_in_bytes,sha256\n"
	text := header
	var want []string
	n := 0
	row := func(file, size, sum, wrong string) {
		n++
		text += fmt.Sprintf("7c0e2a4e-5a53-4b5e-9d3c-%012x,course,1,thumbnail,png,%s,%s,%s\n", n, file, size, sum)
		if wrong != "" {
			want = append(want, fmt.Sprintf("line %d: %s\n", n+1, wrong))
		}
	}
	const odd = "file must be a path in the folder of the files, with / between its parts and without .."
	row("good", "", "", "")
	row("none", "", "", "file is missing in the folder of the files")
	row("good/none", "", "", "file cannot be read")
	row("../outside", "", "", odd)
	row(outside, "", "", odd)
	row("a//b", "", "", odd)
	row(`..\outside`, "", "", odd)
	row("", "", "", "file must not be empty")
	row("link", "", "", "file is a symbolic link or in one; put the file itself there")
	row("inner", "", "", "file is a symbolic link or in one; put the file itself there")
	row("loop/good", "", "", "file is a symbolic link or in one; put the file itself there")
	row(".", "", "", odd)
	row("empty", "", "", "file is empty")
	row("large", "", "", "file has more than 21474836480 bytes")
	row("good", "7", "", "file has 33 bytes, and size_in_bytes says 7")
	row("good", "", "7", "sha256 must be a SHA-256, 64 hexadecimal digits in lower case")
	row("text", "", "", "file cannot be imported: this is not a file of the type png")
	row("good", "33", strings.Repeat("00", 32), "file cannot be imported: the SHA-256 of the received file is ")
	rows := write(t, dir, "rows.csv", text)
	status, said := ran(t, "import", "uploads", rows, "--files", beside, "--data", to, "--on-error", "skip")
	if status != 0 || !strings.Contains(said, fmt.Sprintf("%d uploads read: 1 created, 0 updated, 0 unchanged, %d bad", n, n-1)) {
		t.Errorf("%d %s", status, said)
	}
	for _, line := range want {
		if !strings.Contains(said, strings.TrimSuffix(line, "\n")) {
			t.Errorf("%s\nlacks %s", said, line)
		}
	}
	if got := filesIn(t, filepath.Join(to, "files")); len(got) != 1 {
		t.Errorf("%d files are kept", len(got))
	}
	refused := "https://old.example.com/files/9/7c0e2a4e-5a53-4b5e-9d3c-000000000011.png" // it was text
	course := write(t, dir, "course.jsonl", `{"id":1,"name":"Pottery","is_published":true,"created_at":"2024-01-01","updated_at":"2024-01-01","image_url":"`+refused+`"}`)
	says(t, 0, `1 created`, "import", "courses", course, "--base-url", "https://new.example.com", "--data", to)
	if got := command(t, "export", "courses", "--data", to); !strings.Contains(got, refused) {
		t.Error(got)
	}
	write(t, beside, "other", pixel+"other")
	for wrong, change := range map[string][2]string{
		"uuid is that of another file of this school":                            {",good,", ",other,"},
		"uuid must be a UUID in lower case":                                      {"7c0e", "7C0E"},
		"purpose must be thumbnail for the type course":                          {"thumbnail", "attachment"},
		"extension must be jpg, jpeg, png, gif or webp for a thumbnail":          {"png", "pdf"},
		"extension must be 1 to 10 lower-case letters and digits, such as png":   {"png", ".."},
		"target_id must be an integer from 1 to 2147483647, digits only":         {"course,1", "course,0"},
		"target_type must be course, product_collection, digital_download, lect": {"course", "school"},
	} {
		sum := "d41d8cd98f00b204e9800998ecf8427ed41d8cd98f00b204e9800998ecf8427e"
		line := strings.Replace("7c0e2a4e-5a53-4b5e-9d3c-000000000001,course,1,thumbnail,png,good,,"+sum+"\n", change[0], change[1], 1)
		says(t, 1, wrong, "import", "uploads", write(t, dir, "row.csv", header+line), "--files", beside, "--data", to)
	}
	says(t, 1, `the folder .*/nowhere cannot be read; set --files to a folder that exists`, "import", "uploads", write(t, dir, "new.csv", header+"7c0e2a4e-5a53-4b5e-9d3c-0000000000ff,course,1,thumbnail,png,good,,\n"), "--files", filepath.Join(dir, "nowhere"), "--data", to)
}

// mirrored starts a v1 server with a course that has a picture and files.
func mirrored(t *testing.T, attachments func(base string) string, file http.HandlerFunc) string {
	t.Helper()
	var base string
	responses := map[string]string{
		"/v1/users":                 `{"users":[],"meta":{"number_of_pages":0}}`,
		"/v1/courses":               `{"courses":[{"id":1}],"meta":{"number_of_pages":1}}`,
		"/v1/courses/1":             `{"course":{"id":1,"name":"Pottery","image_url":"BASE/files/3/7c0e2a4e-5a53-4b5e-9d3c-000000000000.png","author_bio":{"name":"Ann"},"lecture_sections":[{"id":1,"name":"One","position":1,"lectures":[{"id":5,"position":1}]}]}}`,
		"/v1/pricing_plans":         `{"pricing_plans":[],"meta":{"number_of_pages":1}}`,
		"/v1/transactions":          `{"transactions":[],"meta":{"number_of_pages":1}}`,
		"/v1/courses/1/enrollments": `{"enrollments":[],"meta":{"number_of_pages":1}}`,
		"/v1/webhooks":              `{"webhooks":[]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/files/") {
			if r.Header.Get("apiKey") != "" {
				t.Error("a request for a file has the API key")
			}
			file(w, r)
			return
		}
		text, there := responses[r.URL.Path]
		if r.URL.Path == "/v1/courses/1/lectures/5" {
			text, there = `{"lecture":{"id":5,"name":"One","attachments":[`+attachments(base)+`]}}`, true
		}
		if !there {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprint(w, strings.ReplaceAll(text, "BASE", base))
	}))
	t.Cleanup(server.Close)
	base = server.URL
	return base
}

// The other server's files are downloaded once, from nowhere else, and interrupted downloads
// are resumed.
func TestR51_MirrorDownloadsFiles(t *testing.T) {
	t.Parallel()
	pdf := "%PDF-1.7 " + strings.Repeat("page ", 100_000)
	var whole, parts, strange atomic.Int32
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		strange.Add(1)
		_, _ = w.Write([]byte("%PDF-1.7 of a stranger"))
	}))
	t.Cleanup(stranger.Close)
	n := 0
	from := mirrored(t, func(base string) string {
		n++ // as in links, which are new each time
		list := []string{
			`{"id":1,"kind":"pdf_embed","name":"a.pdf","url":"%[1]s/files/3/links/lectures/1?key=1&until=%[2]d&signature=%[2]d"}`,
			`{"id":2,"kind":"pdf_embed","name":"b.pdf","url":"%[3]s/b.pdf"}`,
			`{"id":3,"kind":"pdf_embed","name":"c.pdf","url":"%[1]s/files/away.pdf"}`,
			`{"id":4,"kind":"pdf_embed","name":"d.pdf","url":"%[1]s/files/none.pdf"}`,
			`{"id":5,"kind":"pdf_embed","name":"e.pdf","url":"%[1]s/files/text.pdf"}`,
			`{"id":6,"kind":"text","text":"read this"}`,
			`{"id":7,"kind":"file","name":"f.txt","url":"%[1]s/files/coded.txt"}`,
			`{"id":8,"kind":"pdf_embed","name":"g.pdf","url":"%[1]s/files/changed.pdf"}`,
			`{"id":9,"kind":"pdf_embed","name":"h.pdf","url":"%[1]s/files/replaced.pdf"}`,
		}
		return fmt.Sprintf(strings.Join(list, ","), base, n, stranger.URL)
	}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/files/3/7c0e2a4e-5a53-4b5e-9d3c-000000000000.png":
			http.ServeContent(w, r, "", storetest.Begin, strings.NewReader(pixel))
		case "/files/3/links/lectures/1":
			w.Header().Set("ETag", `"abc"`)
			w.Header().Set("Content-Disposition", `attachment; filename="a.PDF"`)
			if r.Header.Get("Range") != "" {
				parts.Add(1)
				http.ServeContent(w, r, "", storetest.Begin, strings.NewReader(pdf))
				return
			}
			whole.Add(1)
			w.Header().Set("Content-Length", fmt.Sprint(len(pdf)))
			_, _ = w.Write([]byte(pdf[:len(pdf)/2])) // and the connection breaks
		case "/files/coded.txt":
			if accepted := r.Header.Get("Accept-Encoding"); accepted != "identity" {
				t.Errorf("the encoding %q is accepted", accepted)
			}
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Length", "8")
			_, _ = w.Write([]byte("\x1f\x8bcoded."))
		case "/files/changed.pdf":
			w.Header().Set("Content-Length", fmt.Sprint(len(pdf)))
			if r.Header.Get("Range") != "" {
				w.Header().Set("ETag", `"new"`)
				_, _ = w.Write([]byte(strings.ReplaceAll(pdf, "page", "text")))
				return
			}
			w.Header().Set("ETag", `"old"`)
			_, _ = w.Write([]byte(pdf[:len(pdf)/2])) // and the connection breaks
		case "/files/replaced.pdf":
			if r.Header.Get("Range") != "" {
				w.Header().Set("ETag", `W/"new"`)
				http.ServeContent(w, r, "", storetest.Begin, strings.NewReader(strings.ReplaceAll(pdf, "page", "text")))
				return
			}
			w.Header().Set("ETag", `W/"old"`)
			w.Header().Set("Content-Length", fmt.Sprint(len(pdf)))
			_, _ = w.Write([]byte(pdf[:len(pdf)/2])) // and the connection breaks
		case "/files/away.pdf":
			http.Redirect(w, r, stranger.URL, http.StatusFound)
		case "/files/text.pdf":
			_, _ = w.Write([]byte("this is text"))
		default:
			http.NotFound(w, r)
		}
	})
	dir := newSchool(t)
	key := write(t, t.TempDir(), "key", "secret")
	args := []string{"mirror", "--data", dir, "--from", from, "--api-key-file", key}
	says(t, 1, `--base-url must be a URL such as`, append(args, "--download-files")...)
	says(t, 1, `--file-origins says where files are downloaded from; use it with --download-files`, append(args, "--file-origins", stranger.URL)...)
	says(t, 1, `"stranger" is not an origin such as https://cdn.example.com`, append(args, "--download-files", "--base-url", "https://new.example.com", "--file-origins", "stranger")...)
	args = append(args, "--download-files", "--base-url", "https://new.example.com")
	for range 2 {
		says(t, 1, `(?s)attachment 3: its file was not copied: its address leads to another one, which is not followed\nattachment 4: its file was not copied: the other server answers with 404\n`+
			`attachment 5: its file was not copied: file cannot be imported: this is not a file of the type pdf\n`+
			`attachment 7: its file was not copied: it is sent with the Content-Encoding gzip\n`+
			`attachment 8: its file was not copied: file cannot be imported: it changed while it was being copied; repeat the command\n`+
			`attachment 9: its file was not copied: file cannot be imported: it changed while it was being copied; repeat the command\n.* 6 refused`, args...)
	}
	if strange.Load() > 0 {
		t.Errorf("a stranger was asked %d times", strange.Load())
	}
	if whole.Load() != 3 || parts.Load() != 1 {
		t.Errorf("the file was asked for %d times from its begin, and %d times from where it broke off", whole.Load(), parts.Load())
	}
	says(t, 0, `2 uploaded files, all in order`, "check", "--deep", "--data", dir)
	rows := command(t, "export", "attachments", "--data", dir, "--format", "jsonl")
	for _, want := range []string{`"url":"https://new.example.com/files/1/`, stranger.URL + "/b.pdf", from + "/files/away.pdf"} {
		if !strings.Contains(rows, want) {
			t.Errorf("%s lacks %s", rows, want)
		}
	}
	if pictures := command(t, "export", "courses", "--data", dir); !strings.Contains(pictures, "https://new.example.com/files/1/"+sha256Of(pixel)+".png") {
		t.Error(pictures)
	}
	says(t, 1, ` 6 refused`, append(args, "--file-origins", stranger.URL)...)
	if strange.Load() != 1 {
		t.Errorf("an allowed origin was asked %d times", strange.Load())
	}
	store, err := openStore(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	v := store.In(t.Context(), 1)
	if all, err := v.Uploads.List(v, lyceum.UploadFilter{}, lyceum.Page{Number: 1, Size: 10}); err != nil || all.Total != 6 {
		t.Errorf("%d uploads, %v", all.Total, err) // three of them have no file: text, and what was changed
	}
}
