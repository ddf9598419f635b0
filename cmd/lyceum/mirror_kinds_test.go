package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMirrorTakesAnyKind checks that a school with attachments and questions of kinds that the
// contract does not have can be copied, exported and imported, and stays the same.
func TestMirrorTakesAnyKind(t *testing.T) {
	original, folder := newSchool(t), t.TempDir()
	file := func(name string, lines ...string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	attachment := func(id int, kind, quiz, questions string) string {
		return fmt.Sprintf(`{"id":%d,"lecture_id":1,"kind":%q,"quiz_id":%s,"questions":%s,"name":null,"url":null,"text":null,"position":null,"file_size":null,"file_extension":null,`+
			`"video_url":null,"video_content_type":null,"video_status":null,"url_thumbnail":null,"media_duration":null}`, id, kind, quiz, questions)
	}
	questions := `[{"question":"2, 3, …","question_type":"fill_blank","answers":["5"],"correct_answers":["5"],"graded":true},` +
		`{"question":"Pairs","question_type":"matching","answers":["a = b"],"correct_answers":["a = b"],"graded":true}]`
	files := map[string]string{
		"courses":          file("courses.csv", "id,name,is_published", "1,Pottery,true"),
		"lecture-sections": file("sections.csv", "id,course_id,name,is_published,position", "1,1,Wheel,true,1"),
		"lectures":         file("lectures.csv", "id,course_id,lecture_section_id,name,is_published,position", "1,1,1,Clay,true,1"),
		"attachments": file("attachments.jsonl",
			attachment(1, "pdf", "null", "null"), attachment(2, "pdf_embed", "null", "null"), attachment(3, "open_response_question", "null", "null"),
			attachment(4, "Embed-2", "null", "null"), attachment(5, "quiz", "9", questions)),
	}
	kinds := []string{"courses", "lecture-sections", "lectures", "attachments"}
	for _, kind := range kinds {
		command(t, "import", kind, files[kind], "--data", original)
	}

	served := serve(t, original)
	var out, errs bytes.Buffer
	copied := newSchool(t)
	if status := run(t.Context(), []string{"mirror", "--data", copied, "--from", served.base, "--api-key-file", file("key", served.key)}, nil, &out, &errs); status != 0 {
		t.Fatalf("mirror: %s", errs.String())
	}
	again := newSchool(t)
	for _, kind := range append([]string{"authors"}, kinds...) {
		exported := filepath.Join(folder, kind+"-copy.csv")
		command(t, "export", kind, "--data", copied, "--output", exported)
		command(t, "import", kind, exported, "--data", again)
	}
	// The copy is created later, and version 1 does not show when an attachment was created.
	exported := func(data string) string {
		return regexp.MustCompile(`,\d{4}-\d\d-\d\dT[^,]*Z,[^,]*Z,`).ReplaceAllString(command(t, "export", "attachments", "--data", data), ",,,")
	}
	want := exported(original)
	for name, dir := range map[string]string{"the copy": copied, "what was imported of it": again} {
		if got := exported(dir); got != want {
			t.Errorf("%s has the attachments\n%s, want\n%s", name, got, want)
		}
	}
	for _, word := range []string{",pdf_embed,", ",open_response_question,", ",Embed-2,", "fill_blank", "matching"} {
		if !strings.Contains(want, word) || strings.Contains(want, ",pdf,") {
			t.Errorf("%s is not in\n%s", word, want)
		}
	}
}
