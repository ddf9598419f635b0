// Package lyceum is the vocabulary of an online school's back end: its nouns, typed ids, money,
// times, errors with a kind, and the interface of the store.
//
// It defines what these terms mean, and the rules that need neither a clock nor a store. It
// must not depend on HTTP, SQL, file formats or the caller's identity, and it imports only the
// standard library.
package lyceum
