// Package apiv1 is the v1 face: the paths, parameters, wrappers and error
// bodies of contract/v1.yaml.
//
// It parses, calls one rule and renders. It must not know SQL, decide anything
// about a school, or share code with the v2 face, which may change without v1
// noticing.
package apiv1
