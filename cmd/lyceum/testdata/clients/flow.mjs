// Takes one OAuth library through the whole flow against a running sandbox.
//
//   node flow.mjs sandbox.json CLIENT VERSION
//
// The learner's cookies are kept in jar.json from one run to the next, as in a
// browser: who signs in again and again is held off.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import * as clients from './libraries.mjs'

const [file, name, version] = process.argv.slice(2)
const said = JSON.parse(readFileSync(file, 'utf8').split('\n')[0])
const app = said.oauth_apps[version]

const school = {
  version,
  issuer: `${said.base_url}/${version}`,
  base: said.base_url,
  authorize: `${said.auth_url}/secure/${said.school_id}/identity/oauth_provider/authorize`,
  token: `${said.base_url}/${version}/current_user/oauth2/token`,
  revoke: `${said.base_url}/${version}/current_user/oauth2/revoke`,
  me: `${said.base_url}/${version}/current_user/me`,
  id: app.client_id,
  secret: app.client_secret,
  redirect: app.redirect_url,
  scope: version === 'v1' ? 'name:read email:read' : 'profile:read',
  visit,
}

// visit does what a learner does in a browser: sign in, tick, authorize.
async function visit(address, answer = 'authorize') {
  const jar = new Map(existsSync('jar.json') ? JSON.parse(readFileSync('jar.json', 'utf8')) : [])
  const ask = async (url, form) => {
    const cookie = [...jar].map(([k, v]) => `${k}=${v}`).join('; ')
    const response = await fetch(url, { method: form ? 'POST' : 'GET', body: form, redirect: 'manual', headers: cookie ? { cookie } : {} })
    for (const line of response.headers.getSetCookie()) {
      const [pair] = line.split(';')
      const at = pair.indexOf('=')
      jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
    writeFileSync('jar.json', JSON.stringify([...jar]))
    return response
  }
  let response = await ask(address)
  for (let step = 0; step < 10; step++) {
    if (response.status === 303) {
      const to = new URL(response.headers.get('location'), said.auth_url)
      if (to.href.startsWith(school.redirect)) return to
      response = await ask(to)
      continue
    }
    assert.equal(response.status, 200)
    const page = await response.text()
    const form = new URLSearchParams()
    for (const [, key, value] of page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)) {
      form.set(key, value.replace(/&#(\d+);/g, (_, n) => String.fromCharCode(n)).replaceAll('&amp;', '&'))
    }
    if (page.includes('name="password"')) {
      form.set('email', said.learner.email)
      form.set('password', said.learner.password)
    } else {
      form.set('answer', answer)
    }
    const [, action] = page.match(/<form class="stack" method="post" action="([^"]*)"/)
    response = await ask(new URL(action, said.auth_url), form)
  }
  throw new Error('the pages lead in a circle')
}

async function me(token) {
  const response = await fetch(school.me, { headers: { authorization: `Bearer ${token}` } })
  return response.status === 200 ? await response.json() : response.status
}

const client = await clients[name](school)

// The whole way.
const first = await client.signIn()
assert.ok(first.access && first.refresh, 'no tokens')
assert.equal(first.expiresIn, 7200)
assert.equal((await me(first.access)).email, said.learner.email)
const next = await client.refresh(first.refresh)
assert.ok(next.access && next.access !== first.access, 'no new access token')
assert.equal((await me(next.access)).id, said.learner.id)

// What goes wrong is told as it is.
assert.equal(await client.wrong(), 'invalid_grant')

// What is given back is of no use.
if (client.revoke) await client.revoke(first.refresh)
else await fetch(school.revoke, { method: 'POST', body: new URLSearchParams({ token: first.refresh, client_id: school.id, client_secret: school.secret }) })
assert.equal(await me(next.access), 401)
console.log(`${name} ${version}: ok`)
