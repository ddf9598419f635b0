// One function for each library: it sets the library up as its documents say
// and gives what the flow wants of it.
import { OAuth2Client } from '@badgateway/oauth2-client'
import * as o4w from 'oauth4webapi'
import * as oidc from 'openid-client'
import PassportStrategy from 'passport-oauth2'
import { AuthorizationCode } from 'simple-oauth2'

export async function oauth4webapi(school) {
  const insecure = { [o4w.allowInsecureRequests]: true } // the sandbox is plain http on this machine
  const issuer = new URL(school.issuer)
  const server = await o4w.processDiscoveryResponse(issuer, await o4w.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }))
  const client = { client_id: school.id }
  const auth = o4w.ClientSecretBasic(school.secret)
  const exchange = async (answer, verifier) =>
    o4w.processAuthorizationCodeResponse(server, client, await o4w.authorizationCodeGrantRequest(server, client, auth, answer, school.redirect, verifier, insecure))
  const visit = async (verifier) => {
    const state = o4w.generateRandomState()
    const to = new URL(server.authorization_endpoint)
    to.search = new URLSearchParams({
      client_id: school.id, redirect_uri: school.redirect, response_type: 'code', required_scopes: school.scope, optional_scopes: 'courses:read',
      state, code_challenge: await o4w.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
    })
    return o4w.validateAuthResponse(server, client, await school.visit(to), state)
  }
  return {
    async signIn() {
      const verifier = o4w.generateRandomCodeVerifier()
      const t = await exchange(await visit(verifier), verifier)
      const about = await o4w.processIntrospectionResponse(server, client, await o4w.introspectionRequest(server, client, auth, t.access_token, insecure))
      if (!about.active) throw new Error('the token is not active')
      return { access: t.access_token, refresh: t.refresh_token, expiresIn: t.expires_in }
    },
    async refresh(token) {
      const t = await o4w.processRefreshTokenResponse(server, client, await o4w.refreshTokenGrantRequest(server, client, auth, token, insecure))
      return { access: t.access_token }
    },
    async wrong() {
      const answer = await visit(o4w.generateRandomCodeVerifier())
      return exchange(answer, o4w.generateRandomCodeVerifier()).catch((err) => err.error)
    },
    async revoke(token) {
      await o4w.processRevocationResponse(await o4w.revocationRequest(server, client, auth, token, insecure))
    },
  }
}

export async function openidClient(school) {
  const config = await oidc.discovery(new URL(school.issuer), school.id, school.secret, undefined, { algorithm: 'oauth2', execute: [oidc.allowInsecureRequests] })
  const visit = async (verifier) => {
    const state = oidc.randomState()
    const to = oidc.buildAuthorizationUrl(config, {
      redirect_uri: school.redirect, scope: school.scope, state, code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
    })
    return [await school.visit(to), state]
  }
  return {
    async signIn() {
      const verifier = oidc.randomPKCECodeVerifier()
      const [answer, state] = await visit(verifier)
      const t = await oidc.authorizationCodeGrant(config, answer, { pkceCodeVerifier: verifier, expectedState: state })
      const me = await oidc.fetchProtectedResource(config, t.access_token, new URL(school.me), 'GET')
      if (me.status !== 200) throw new Error(`the profile is a ${me.status}`)
      return { access: t.access_token, refresh: t.refresh_token, expiresIn: t.expires_in }
    },
    async refresh(token) {
      return { access: (await oidc.refreshTokenGrant(config, token)).access_token }
    },
    async wrong() {
      const [answer, state] = await visit(oidc.randomPKCECodeVerifier())
      return oidc.authorizationCodeGrant(config, answer, { pkceCodeVerifier: oidc.randomPKCECodeVerifier(), expectedState: state }).catch((err) => err.error)
    },
    revoke: (token) => oidc.tokenRevocation(config, token),
  }
}

function simple(bodyFormat, authorizationMethod) {
  return async (school) => {
    const at = (address) => new URL(address)
    const client = new AuthorizationCode({
      client: { id: school.id, secret: school.secret },
      auth: {
        tokenHost: at(school.token).origin, tokenPath: at(school.token).pathname, revokePath: at(school.revoke).pathname,
        authorizeHost: at(school.authorize).origin, authorizePath: at(school.authorize).pathname,
      },
      options: { bodyFormat, authorizationMethod },
    })
    const code = async () => (await school.visit(client.authorizeURL({ redirect_uri: school.redirect, required_scopes: school.scope, state: 'x y' }))).searchParams.get('code')
    return {
      async signIn() {
        const { token } = await client.getToken({ code: await code(), redirect_uri: school.redirect })
        return { access: token.access_token, refresh: token.refresh_token, expiresIn: token.expires_in }
      },
      async refresh(token) {
        const old = client.createToken({ refresh_token: token })
        return { access: (await old.refresh()).token.access_token }
      },
      wrong: async () => client.getToken({ code: await code(), redirect_uri: school.redirect + 'x' }).catch((err) => err.data.payload.error),
      revoke: (token) => client.createToken({ refresh_token: token }).revoke('refresh_token'),
    }
  }
}
export const simpleForm = simple('form', 'header')
export const simpleFormBody = simple('form', 'body')
export const simpleJSON = simple('json', 'header')
export const simpleJSONBody = simple('json', 'body')

export async function passport(school) {
  const run = (strategy, req) => new Promise((resolve, reject) => {
    const one = Object.create(strategy)
    one.redirect = (url) => resolve({ url })
    one.success = (user, info) => resolve({ user, info })
    one.fail = (info) => reject(new Error(JSON.stringify(info)))
    one.error = reject
    one.authenticate(req, {})
  })
  const sessions = {}
  const strategy = new PassportStrategy(
    { authorizationURL: school.authorize, tokenURL: school.token, clientID: school.id, clientSecret: school.secret, callbackURL: school.redirect, scope: school.scope, state: true, pkce: true, sessionKey: 'lyceum' },
    (access, refresh, params, profile, done) => done(null, { access, refresh, expiresIn: params.expires_in }),
  )
  const visit = async () => {
    const session = sessions
    const { url } = await run(strategy, { query: {}, session })
    return { query: Object.fromEntries((await school.visit(url)).searchParams), session }
  }
  return {
    signIn: async () => (await run(strategy, await visit())).user,
    refresh: (token) => new Promise((resolve, reject) => {
      strategy._oauth2.getOAuthAccessToken(token, { grant_type: 'refresh_token' }, (err, access) => (err ? reject(err) : resolve({ access })))
    }),
    async wrong() {
      const req = await visit()
      req.query.code += 'x'
      return run(strategy, req).catch((err) => err.code)
    },
  }
}

function badgatewayWith(authenticationMethod) {
  return async (school) => {
    const client = new OAuth2Client({
      server: school.base, clientId: school.id, clientSecret: school.secret, authorizationEndpoint: school.authorize, tokenEndpoint: school.token,
      revocationEndpoint: school.revoke, authenticationMethod,
    })
    const visit = async (codeVerifier) => school.visit(await client.authorizationCode.getAuthorizeUri({
      redirectUri: school.redirect, state: 'x', codeVerifier, extraParams: { required_scopes: school.scope },
    }))
    const verifier = 'a-verifier-that-is-long-enough-for-the-rfc-7636'
    return {
      async signIn() {
        const t = await client.authorizationCode.getTokenFromCodeRedirect(await visit(verifier), { redirectUri: school.redirect, state: 'x', codeVerifier: verifier })
        return { access: t.accessToken, refresh: t.refreshToken, expiresIn: Math.round((t.expiresAt - Date.now()) / 1000) }
      },
      refresh: async (token) => ({ access: (await client.refreshToken({ accessToken: 'x', refreshToken: token, expiresAt: 0 })).accessToken }),
      wrong: async () => client.authorizationCode.getTokenFromCodeRedirect(await visit(verifier), { redirectUri: school.redirect, state: 'x', codeVerifier: verifier + 'x' }).catch((err) => err.oauth2Code),
      revoke: (token) => client.revoke({ accessToken: 'x', refreshToken: token }, 'refresh_token'),
    }
  }
}
export const badgateway = badgatewayWith('client_secret_basic')
export const badgatewayBody = badgatewayWith('client_secret_post')
