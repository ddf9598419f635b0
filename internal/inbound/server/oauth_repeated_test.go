package server_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// A parameter that is sent twice in different letter cases is rejected in both encodings, and the
// request does not use up the code.
func TestC2_C4_NamesInAnotherCase(t *testing.T) {
	inBothEncodings(t, func(t *testing.T, c *campus, encoding string) {
		client := c.ours.clients[lyceum.V1]
		code := c.learnerCode(t, c.ours, lyceum.V1)
		for _, name := range []string{"CODE", "Redirect_uri", "CLIENT_ID", "Client_Secret", "Grant_Type"} {
			twice := exchangeOf(client, code, func(pairs url.Values) { pairs.Set(name, "x") })
			wantError(t, c.token(t, lyceum.V1, "token", encoding, twice), http.StatusBadRequest, "invalid_request")
		}
		unknown := exchangeOf(client, code, func(pairs url.Values) { pairs.Set("Other", "x") })
		wantStatus(t, c.token(t, lyceum.V1, "token", encoding, unknown), http.StatusOK)
	})
}
