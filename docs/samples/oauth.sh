#!/bin/sh
# Runs the whole OAuth flow of an app and its learner with curl: authorize,
# exchange, profile, refresh, revoke.
#
#   lyceum sandbox --json > sandbox.json &
#   until [ -s sandbox.json ]; do sleep 0.1; done
#   sh docs/samples/oauth.sh sandbox.json v1
#   sh docs/samples/oauth.sh sandbox.json v2
#
# With scopes it stops at the access token and prints that:
#
#   sh docs/samples/oauth.sh sandbox.json v2 'courses:read courses:write'
set -eu
file=${1-} version=${2-} asked=${3-}
optional=courses:read
[ -z "$asked" ] || optional=
case $version in
v1) scopes=${asked:-name:read email:read} ;;
v2) scopes=${asked:-profile:read} ;;
*) echo "oauth.sh takes a file and v1 or v2, such as: sh docs/samples/oauth.sh sandbox.json v1" >&2; exit 2 ;;
esac
if ! grep -q '"oauth_apps":' "$file"; then
  echo "oauth.sh: '$file' must be what lyceum sandbox --json prints once it is ready" >&2
  exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Reads a value from what the sandbox printed.
said() { sed "s/.*$1//; s/^\"\([^\"]*\)\".*/\1/" "$file"; }
base=$(said '"base_url":')
auth=$(said '"auth_url":')
email=$(said '"learner":{[^}]*"email":')
password=$(said '"learner":{[^}]*"password":')
client_id=$(said "\"$version\":{\"client_id\":")
client_secret=$(said "\"$version\":{[^}]*\"client_secret\":")
redirect=$(said "\"$version\":{[^}]*\"redirect_url\":")

# The learner's browser: it stores cookies and reads forms.
browse() { curl --silent --show-error --cookie "$work/jar" --cookie-jar "$work/jar" "$@"; }
hidden() { sed -n "s/.*name=\"$1\" value=\"\([^\"]*\)\".*/\1/p" "$work/page" | sed 's/&amp;/\&/g; s/&#43;/+/g'; }

# 1. The app sends the learner to the authorization page. state is returned
# unchanged. The challenge is the SHA-256 of a string that only the app knows
# (PKCE); the pair here is the example from RFC 7636.
verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM
browse --location --get --output "$work/page" "$auth/secure/1/identity/oauth_provider/authorize" \
  --data-urlencode "client_id=$client_id" --data-urlencode response_type=code \
  --data-urlencode "required_scopes=$scopes" ${optional:+--data-urlencode "optional_scopes=$optional"} \
  --data-urlencode state=af0ifjsldkj --data-urlencode "code_challenge=$challenge"

# 2. The learner signs in and sees the consent page.
browse --location --output "$work/page" "$auth/secure/1/identity/sign_in" \
  --data-urlencode "email=$email" --data-urlencode "password=$password" --data-urlencode "next=$(hidden next)"

# 3. The learner selects the optional scope and clicks Authorize. The browser is
# redirected to the app's Redirect URL with a code.
browse --output /dev/null --write-out '%{redirect_url}' "$auth/secure/1/identity/oauth_provider/authorize" \
  --data-urlencode "request=$(hidden request)" ${optional:+--data-urlencode "scope=$optional"} --data-urlencode answer=authorize > "$work/location"
[ -n "$asked" ] || echo "redirect: $(sed 's/code=[^&]*/code=…/' "$work/location")"
code=$(sed 's/.*[?&]code=\([^&]*\).*/\1/' "$work/location")

# 4. The app exchanges the code.
token() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/" "$work/tokens"; }
curl --silent --show-error --fail-with-body --output "$work/tokens" "$base/$version/current_user/oauth2/token" \
  --data-urlencode grant_type=authorization_code --data-urlencode "code=$code" --data-urlencode "code_verifier=$verifier" \
  --data-urlencode "redirect_uri=$redirect" --data-urlencode "client_id=$client_id" --data-urlencode "client_secret=$client_secret"
access=$(token access_token) refresh=$(token refresh_token)
if [ -n "$asked" ]; then echo "$access"; exit; fi
echo "tokens: $(sed 's/_token":"[^"]*"/_token":"…"/g' "$work/tokens")"

# 5. The app reads the learner's profile.
me() { curl --silent --show-error --header "Authorization: bearer $access" "$base/$version/current_user/me"; }
echo "me: $(me)"

# 6. Two hours later the app gets a new access token. This time it sends its
# credentials in the header; both ways are valid.
curl --silent --show-error --fail-with-body --output "$work/tokens" --user "$client_id:$client_secret" \
  "$base/$version/current_user/oauth2/token" --data-urlencode grant_type=refresh_token --data-urlencode "refresh_token=$refresh"
access=$(token access_token)
echo "me again: $(me)"

# 7. The app revokes everything.
curl --silent --show-error --fail-with-body --output /dev/null --user "$client_id:$client_secret" "$base/$version/current_user/oauth2/revoke" --data-urlencode "token=$refresh"
echo "me at last: $(me)"
