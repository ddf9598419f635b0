// Package apiv2 implements the v2 API of contract/v2.yaml.
//
// It owns how v2 renders what the rules return, its status codes and its errors. It
// decides nothing, and must not know v1: v2 is in beta and may change without v1 noticing.
package apiv2
