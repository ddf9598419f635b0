package access

import (
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// scopeOf describes a scope in the words a learner reads.
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
	// legacyScopes are v1's names that go on working in v2.
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

// ListScopes gives the scopes of a version, in the contract's order.
func ListScopes(version lyceum.InterfaceVersion) []lyceum.Scope {
	var list []lyceum.Scope
	for _, s := range scopesOf(version) {
		list = append(list, s.scope)
	}
	return list
}

// DescribeScope says in plain words what a scope of a version lets an app do.
func DescribeScope(version lyceum.InterfaceVersion, scope lyceum.Scope) string {
	for _, s := range scopesOf(version) {
		if s.scope == scope {
			return s.text
		}
	}
	return ""
}

// listed reads a parameter of scopes for a version; ok is false when one of
// them is in no list.
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

// Need is what a token must have for an operation: all scopes of one of the
// alternatives.
type Need []lyceum.Scopes

// oneOf needs any one of the scopes; allOf needs them together.
func oneOf(scopes ...lyceum.Scope) Need {
	var n Need
	for _, scope := range scopes {
		n = append(n, lyceum.Scopes{scope})
	}
	return n
}

func allOf(scopes ...lyceum.Scope) Need { return Need{lyceum.NewScopes(scopes...)} }

// All gives every scope that is named.
func (n Need) All() lyceum.Scopes {
	var all lyceum.Scopes
	for _, together := range n {
		all = append(all, together...)
	}
	return all
}

// met tells whether a token's scopes are enough.
func (n Need) met(scopes lyceum.Scopes) bool { return slices.ContainsFunc(n, scopes.Covers) }

// String words the need for a person.
func (n Need) String() string {
	var alternatives []string
	for _, together := range n {
		alternatives = append(alternatives, strings.ReplaceAll(together.String(), " ", " and "))
	}
	return strings.Join(alternatives, " or ")
}

// needs says which operation of which version needs which scope. An operation
// that is not in it is open to no app.
var needs = map[lyceum.InterfaceVersion]map[string]Need{
	lyceum.V1: {
		// Each scope opens its own field; one of them opens the operation.
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

// ScopesFor gives what a token must have for an operation.
func ScopesFor(version lyceum.InterfaceVersion, operation string) Need {
	return needs[version][operation]
}
