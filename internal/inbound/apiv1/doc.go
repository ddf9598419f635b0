// Package apiv1 implements the v1 API: the paths, parameters, envelopes and error bodies
// of contract/v1.yaml.
//
// It parses, calls one rule and renders. It must not know SQL, decide anything about a
// school, or share code with the v2 face, which may change without v1 noticing.
package apiv1
