package learning

import (
	"context"
	"reflect"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// Readdress makes the addresses of a school's files lead to this server, in every row: they keep
// the address that the server had when they were stored, or that of the server that an import
// came from. Questions of quizzes stay, because answers belong to their wording. A service that does
// not know the URL of the server changes nothing.
func (s *Service) Readdress(ctx context.Context, school lyceum.SchoolID) error {
	if s.base == "" {
		return nil
	}
	v := s.store.In(ctx, school)
	if _, some, err := v.Uploads.First(v, lyceum.UploadFilter{}); err != nil || !some {
		return err
	}
	here := func(t *lyceum.Tables, from lyceum.Source, row any) (bool, error) {
		texts := &readdressing{tables: t, from: from, base: s.base}
		texts.in(reflect.ValueOf(row).Elem())
		return texts.changed, texts.err
	}
	for _, rows := range referring(v.Tables) {
		if err := rows.change(s, v, here); err != nil {
			return err
		}
	}
	return nil
}

// readdressing replaces addresses of files in one row.
type readdressing struct {
	tables  *lyceum.Tables
	from    lyceum.Source
	base    string
	changed bool
	err     error
}

// in replaces addresses in all texts of a value, except behind pointers.
func (r *readdressing) in(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if !v.CanSet() || !strings.Contains(v.String(), "/files/") {
			return
		}
		if text := lyceum.ReplaceUploadAddresses(v.String(), r.here); text != v.String() {
			v.SetString(text)
			r.changed = true
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.in(v.Field(i))
		}
	case reflect.Slice:
		if v.CanSet() { // the members of a row that was read are not for changing
			v.Set(reflect.AppendSlice(reflect.Zero(v.Type()), v))
		}
		for i := range v.Len() {
			r.in(v.Index(i))
		}
	default:
	}
}

// here returns the address that a file has on this server, if it is one of the school.
func (r *readdressing) here(address string, a lyceum.UploadAddress) string {
	if r.err != nil || r.base+a.Path() == address && a.School == r.from.School() {
		return address
	}
	address, r.err = AddressHere(r.tables, r.from, r.base, address, a)
	return address
}

// AddressHere returns the address of a file on a server with the given URL, if the file is one of
// the school, or otherwise the address that it was given, which was parsed as a.
func AddressHere(
	t *lyceum.Tables, from lyceum.Source, base, address string, a lyceum.UploadAddress,
) (string, error) {
	u, found, err := findUpload(t, from, a)
	if err != nil || !found || !u.ReceivedAt.Present {
		return address, err
	}
	a.School = from.School()
	return base + a.Path(), nil
}
