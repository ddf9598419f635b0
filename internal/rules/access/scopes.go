package access

import (
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// scopeText is a scope with its description for learners.
type scopeText struct {
	scope lyceum.Scope
	text  string
}

// The scopes of the contract, in its order.
var (
	v1Scopes = []scopeText{
		{"name:read", "See your name"},
		{"email:read", "See your email address"},
		{"courses:read", "See the courses you are enrolled in"},
		{"courses:update", "Update your enrollment in courses"},
	}
	v2Scopes = []scopeText{
		{"profile:read", "See your profile, including your name and email address"},
		{"profile:write", "Change your name, your phone number and whether you get marketing emails, and ask you to " +
			"confirm another email address"},
		{"products:read", "See the products you have access to"},
		{"courses:read", "See the courses you are enrolled in, with their lectures, comments, your progress and your " +
			"certificates"},
		{"courses:write", "Post, change and delete your comments, answer quizzes and mark lectures complete"},
		{"digital-downloads:read", "See digital downloads and their files"},
		{"product-collections:read", "See product collections and what is in them"},
		{"memberships:read", "See memberships and their tiers"},
		{"transactions:read", "See your transactions and purchases"},
	}
	// legacyScopes maps v1's names that still work in v2.
	legacyScopes = map[lyceum.Scope]lyceum.Scope{
		"name:read": "profile:read", "email:read": "profile:read", "courses:update": "courses:write",
	}
)

func scopesOf(version lyceum.InterfaceVersion) []scopeText {
	if version == lyceum.V1 {
		return v1Scopes
	}
	return v2Scopes
}

// ListScopes returns the scopes of a version, in the contract's order.
func ListScopes(version lyceum.InterfaceVersion) []lyceum.Scope {
	var list []lyceum.Scope
	for _, s := range scopesOf(version) {
		list = append(list, s.scope)
	}
	return list
}

// DescribeScope returns a plain-language description of what a scope of a version allows an app
// to do.
func DescribeScope(version lyceum.InterfaceVersion, scope lyceum.Scope) string {
	for _, s := range scopesOf(version) {
		if s.scope == scope {
			return s.text
		}
	}
	return ""
}

// listed parses a parameter of scopes for a version; ok is false if one of them does not exist
// in that version.
func listed(version lyceum.InterfaceVersion, text string) (scopes lyceum.Scopes, ok bool) {
	var list []lyceum.Scope
	for _, scope := range lyceum.ParseScopes(text) {
		if mapped, legacy := legacyScopes[scope]; legacy && version == lyceum.V2 {
			scope = mapped
		}
		if !slices.ContainsFunc(scopesOf(version), func(s scopeText) bool { return s.scope == scope }) {
			return nil, false
		}
		list = append(list, scope)
	}
	return lyceum.NewScopes(list...), true
}

// Need is what a token must have for an operation: all scopes of at least one of the
// alternatives.
type Need []lyceum.Scopes

// oneOf returns the need for any one of the scopes.
func oneOf(scopes ...lyceum.Scope) Need {
	var n Need
	for _, scope := range scopes {
		n = append(n, lyceum.Scopes{scope})
	}
	return n
}

func allOf(scopes ...lyceum.Scope) Need { return Need{lyceum.NewScopes(scopes...)} }

// All returns every scope in the need.
func (n Need) All() lyceum.Scopes {
	var all lyceum.Scopes
	for _, together := range n {
		all = append(all, together...)
	}
	return all
}

// met reports whether a token's scopes are enough.
func (n Need) met(scopes lyceum.Scopes) bool { return slices.ContainsFunc(n, scopes.Covers) }

// String returns the need in human-readable form.
func (n Need) String() string {
	var alternatives []string
	for _, together := range n {
		alternatives = append(alternatives, strings.ReplaceAll(together.String(), " ", " and "))
	}
	return strings.Join(alternatives, " or ")
}

// needs maps each operation of each version to the scopes that it needs. An operation that is
// missing is closed to all apps.
var needs = map[lyceum.InterfaceVersion]map[string]Need{
	lyceum.V1: {
		// Each scope opens its own field; either of them opens the operation.
		"getCurrentUser":                 oneOf("name:read", "email:read"),
		"listCurrentUserCourses":         oneOf("courses:read"),
		"showCurrentUserCourse":          oneOf("courses:read"),
		"showCurrentUserCourseProgress":  oneOf("courses:read"),
		"showCurrentUserLecture":         oneOf("courses:read"),
		"showCurrentUserVideo":           oneOf("courses:read"),
		"markCurrentUserLectureComplete": allOf("courses:read", "courses:update"),
	},
	lyceum.V2: {
		"listCurrentUserCourseComments": oneOf("courses:read"),
		"listCurrentUserComments":       oneOf("courses:read"),
		"createCurrentUserComment":      oneOf("courses:write"),
		"updateCurrentUserComment":      oneOf("courses:write"),
		"deleteCurrentUserComment":      oneOf("courses:write"),
		"showCurrentUserCertificate":    oneOf("courses:read"),
		"getCurrentUser":                oneOf("profile:read"),
		"updateCurrentUser":             oneOf("profile:write"),
		"listCurrentUserCourses":        oneOf("courses:read"),
		"showCurrentUserCourse":         oneOf("courses:read"),
		"showCurrentUserCourseProgress": oneOf("courses:read"),
		"showCurrentUserLecture":        oneOf("courses:read"),
		"showCurrentUserCompletion":     oneOf("courses:read"),
		"listCurrentUserAttachments":    oneOf("courses:read"),
		"showCurrentUserAttachment":     oneOf("courses:read"),
		"showCurrentUserVideo":          oneOf("courses:read"),
		"putCurrentUserCompletion":      oneOf("courses:write"),
		"listCurrentUserQuizzes":        oneOf("courses:read"),
		"showCurrentUserQuiz":           oneOf("courses:read"),
		"showCurrentUserQuizResponse":   oneOf("courses:read"),
		"putCurrentUserQuizResponse":    oneOf("courses:write"),
		"deleteCurrentUserCompletion":   oneOf("courses:write"),

		"listCurrentUserProducts":                   oneOf("products:read"),
		"listCurrentUserDigitalDownloads":           oneOf("digital-downloads:read"),
		"showCurrentUserDigitalDownload":            oneOf("digital-downloads:read"),
		"listCurrentUserDigitalDownloadAttachments": oneOf("digital-downloads:read"),
		"listCurrentUserProductCollections":         oneOf("product-collections:read"),
		"showCurrentUserProductCollection":          oneOf("product-collections:read"),
		"listCurrentUserCollectionProducts":         oneOf("product-collections:read"),
		"listCurrentUserMemberships":                oneOf("memberships:read"),
		"showCurrentUserMembership":                 oneOf("memberships:read"),
		"listCurrentUserTransactions":               oneOf("transactions:read"),
		"showCurrentUserTransaction":                oneOf("transactions:read"),
		"listCurrentUserPurchases":                  oneOf("transactions:read"),
		"showCurrentUserPurchase":                   oneOf("transactions:read"),
	},
}

// ScopesFor returns what a token must have for an operation.
func ScopesFor(version lyceum.InterfaceVersion, operation string) Need {
	return needs[version][operation]
}
