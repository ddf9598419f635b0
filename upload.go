package lyceum

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// UploadID numbers the uploads of a school.
type UploadID int32

var _ = product("upload")

// UploadTarget is the kind of object that a file is uploaded for, in the contract's words.
type UploadTarget string

// The contract's targets.
const (
	CourseUpload     UploadTarget = "course"
	CollectionUpload UploadTarget = "product_collection"
	DownloadUpload   UploadTarget = "digital_download"
	LectureUpload    UploadTarget = "lecture"
	MembershipUpload UploadTarget = "membership"
	CoachingUpload   UploadTarget = "coaching"
)

// UploadTargets lists every target.
func UploadTargets() []UploadTarget {
	return []UploadTarget{
		CourseUpload, CollectionUpload, DownloadUpload, LectureUpload, MembershipUpload, CoachingUpload,
	}
}

// UploadPurpose is what a file is uploaded as.
type UploadPurpose string

// The contract's purposes.
const (
	ThumbnailUpload  UploadPurpose = "thumbnail"  // a picture that everybody can see
	AttachmentUpload UploadPurpose = "attachment" // a file that learners with access get
)

// UploadPurposes lists every purpose.
func UploadPurposes() []UploadPurpose { return []UploadPurpose{ThumbnailUpload, AttachmentUpload} }

// Name returns the purpose as it appears in a sentence.
func (p UploadPurpose) Name() string {
	if p == AttachmentUpload {
		return "an attachment"
	}
	return "a thumbnail"
}

// Name returns the target as it appears in a sentence, such as "digital download".
func (t UploadTarget) Name() string { return strings.ReplaceAll(string(t), "_", " ") }

// Purposes lists what a file for the target can be.
func (t UploadTarget) Purposes() []UploadPurpose {
	switch t {
	case LectureUpload:
		return []UploadPurpose{AttachmentUpload}
	case DownloadUpload:
		return UploadPurposes()
	}
	return []UploadPurpose{ThumbnailUpload}
}

// Limits of uploads.
const (
	UploadLifetime = time.Hour      // within which the transfer must begin; the rest may take UnusedUpload longer
	MaxUpload      = 20 << 30       // bytes
	MaxExtension   = 10             // letters and digits
	UnusedUpload   = 24 * time.Hour // after which a file that nothing refers to is removed
)

// Upload is a file that was, or may be, sent to this server.
type Upload struct {
	ID         UploadID
	UUID       string // lower case
	TargetType UploadTarget
	TargetID   int32
	Purpose    UploadPurpose
	Extension  string // lower case
	CreatedAt  time.Time
	ExpiresAt  time.Time

	ReceivedAt  Opt[time.Time] // absent: the file was not received yet
	SizeInBytes Opt[int64]
	Checksum    Opt[string] // SHA-256 in lower-case hexadecimal
	Duration    Opt[int32]  // playing time in seconds; absent: unknown or not playable
	StoredAs    Opt[FileName]
}

// UploadFilter narrows uploads; absent fields match everything.
type UploadFilter struct {
	UUID      Opt[string]
	Picture   Opt[string] // thumbnails with this checksum
	Extension Opt[string]
	After     Opt[UploadID] // only ids greater than this one
}

// ContentName returns the name of the upload's content in a FileStore.
func (u *Upload) ContentName(school SchoolID) FileName {
	return FileName(fmt.Sprintf("%d/%s/%s", school, u.UUID[:2], u.UUID))
}

// ThumbnailName returns the beginning of the names of the upload's thumbnails of a given width
// in a FileStore. All names of an upload's contents begin with its ContentName.
func (u *Upload) ThumbnailName(school SchoolID, width int) FileName {
	return FileName(fmt.Sprintf("%s%s%d", u.ContentName(school), thumbnailMark, width))
}

const thumbnailMark = "-w" // in no other names of contents

// IsThumbnail reports whether n is the name of an upload's thumbnail, which can be generated
// again.
func (n FileName) IsThumbnail() bool { return strings.Contains(string(n), thumbnailMark) }

// ThumbnailWidths lists the widths in which pictures are available, in pixels.
func ThumbnailWidths() []int { return []int{160, 320, 640, 1280} }

// UploadPath returns the path of the permanent address of an upload, given its UUID as the
// name, or of pictures, given their checksum.
func UploadPath(school SchoolID, name, extension string) string {
	return fmt.Sprintf("/files/%d/%s.%s", school, name, extension)
}

// UploadAddress is a parsed permanent address of an upload.
type UploadAddress struct {
	School    SchoolID
	UUID      string // empty if Checksum is set
	Checksum  string // of pictures; empty if UUID is set
	Extension string
}

// Path returns the path of the address.
func (a *UploadAddress) Path() string {
	return UploadPath(a.School, cmp.Or(a.Checksum, a.UUID), a.Extension)
}

// Filter returns a filter for the uploads at the address: a single upload, or all uploads of
// the same picture.
func (a *UploadAddress) Filter() UploadFilter {
	if a.Checksum != "" {
		return UploadFilter{Picture: Some(a.Checksum), Extension: Some(a.Extension)}
	}
	return UploadFilter{UUID: Some(a.UUID), Extension: Some(a.Extension)}
}

// ParseUploadAddress parses the permanent address of an upload. Other parts of the URL, such as
// the host, do not matter, because no two uploads have the same UUID.
func ParseUploadAddress(address string) (a UploadAddress, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return a, false
	}
	path := fromFiles(u)
	school, name, _ := strings.Cut(strings.TrimPrefix(path, "/files/"), "/")
	n, err := strconv.ParseInt(school, 10, 32)
	if err != nil {
		return a, false
	}
	name, extension, _ := strings.Cut(name, ".")
	a = UploadAddress{School: SchoolID(n), UUID: name, Extension: extension}
	if IsChecksum(name) {
		a.UUID, a.Checksum = "", name
	}
	return a, a.Path() == path && (a.Checksum != "" || IsUUID(name)) && IsExtension(extension)
}

// fromFiles returns the path of a URL from /files/ on: what comes before belongs to the URL of a
// server.
func fromFiles(u *url.URL) string { return u.Path[max(0, strings.LastIndex(u.Path, "/files/")):] }

// uploadAddress matches the permanent address of an upload in a text.
var uploadAddress = regexp.MustCompile(
	`https?://[^\s"'<>()\\/]+(?:/[0-9A-Za-z._~-]+)*/files/[0-9]+/[0-9a-f-]{36,64}\.[a-z0-9]{1,10}`)

// ReplaceUploadAddresses replaces every permanent address of an upload in a text, of any server,
// with what replace returns.
func ReplaceUploadAddresses(text string, replace func(address string, a UploadAddress) string) string {
	return uploadAddress.ReplaceAllStringFunc(text, func(address string) string {
		if a, is := ParseUploadAddress(address); is {
			return replace(address, a)
		}
		return address
	})
}

// EachChecksum calls visit with everything in text that has the form of a SHA-256 in lower-case
// hexadecimal.
func EachChecksum(text string, visit func(checksum string)) {
	for begin := 0; begin < len(text); {
		end := begin
		for end < len(text) && isHex(text[end]) {
			end++
		}
		if end-begin == checksumLength {
			visit(text[begin:end])
		}
		begin = end + 1
	}
}

const checksumLength = 64

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// IsChecksum reports whether s is a SHA-256 in lower-case hexadecimal.
func IsChecksum(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return len(s) == checksumLength
}

// ParseChecksum parses a SHA-256 in lower-case hexadecimal.
func ParseChecksum(s string) (sum [32]byte, ok bool) {
	if !IsChecksum(s) {
		return sum, false
	}
	_, err := hex.Decode(sum[:], []byte(s))
	return sum, err == nil
}

// EachUUID calls visit with everything in text that has the form of a lower-case UUID.
func EachUUID(text string, visit func(uuid string)) {
	const dash = 8 // position of the first dash in a UUID
	for i := dash; i+28 <= len(text); i++ {
		if text[i] == '-' && text[i+5] == '-' && IsUUID(text[i-dash:i+28]) {
			visit(text[i-dash : i+28])
		}
	}
}

// IsUUID reports whether s is a lower-case UUID.
func IsUUID(s string) bool {
	for i := range len(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash && s[i] != '-' || !dash && !isHex(s[i]) {
			return false
		}
	}
	return len(s) == 36
}

// IsExtension reports whether s can be the extension of a stored file.
func IsExtension(s string) bool {
	for i := range len(s) {
		if (s[i] < 'a' || s[i] > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return 0 < len(s) && len(s) <= MaxExtension
}

// IsFileLink reports whether address is a link to a file, which expires.
func IsFileLink(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	rest, inFiles := strings.CutPrefix(fromFiles(u), "/files/")
	_, rest, _ = strings.Cut(rest, "/")
	return inFiles && strings.HasPrefix(rest, "links/") && u.Query().Has("signature")
}

// pictures are the extensions of pictures that can be uploaded.
var pictures = []string{"jpg", "jpeg", "png", "gif", "webp"}

// IsPicture reports whether extension is that of a picture that can be uploaded.
func IsPicture(extension string) bool { return slices.Contains(pictures, extension) }
