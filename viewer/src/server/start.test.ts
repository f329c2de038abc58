import { appendFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { generateSession, serialize, session } from 'everlong/internal/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Overview, SessionData } from '../data/api.ts'
import { lossySession, ownSession, temporaryFolder } from '../testing/sessions.ts'
import { startViewer, type Viewer } from './start.ts'

const folder = temporaryFolder()
const inside = folder.write('given/project/one.jsonl', lossySession())
folder.write('given/project/two.jsonl', session().user('Second.').assistant('Yes.').text)
folder.write('given/project/one/subagents/agent-a1.jsonl', session().user('Look.').assistant('I looked.').text)
folder.write('given/no-session.jsonl', 'not json\n')
const outside = folder.write('secret.jsonl', session().user('Secret words.').assistant('Hidden.').text)
const page = new Map([
  ['/index.html', { type: 'text/html; charset=utf-8', bytes: Buffer.from('<title>page</title>') }],
  ['/assets/page.js', { type: 'text/javascript; charset=utf-8', bytes: Buffer.from('1') }],
])
let viewer: Viewer
beforeAll(async () => {
  viewer = await startViewer({
    paths: [`${folder.path}/given`],
    port: 0,
    env: { EVERLONG_CACHE_DIR: folder.path },
    page,
  })
})
afterAll(async () => {
  await viewer.close()
  folder.remove()
})

type Got = { readonly status: number; readonly text: string; readonly headers: Record<string, unknown> }

/** Not fetch(), which sets Host by itself. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  const own = { host: `127.0.0.1:${viewer.port}`, authorization: `Bearer ${viewer.token}` }
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port: viewer.port, path, method, headers: { ...own, ...headers } },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers }))
      },
    )
    asked.on('error', reject).end()
  })
}

const json = async <T>(path: string) => JSON.parse((await get(path)).text) as T
const idOf = async (path: string) =>
  (await json<Overview>('/api/overview')).sessions.find((row) => row.path === path)?.id ?? ''

describe('who may read', () => {
  test.each([
    ['another name for this machine', { host: 'evil.example:80' }],
    ['another port', { host: '127.0.0.1:1' }],
    ['no port', { host: '127.0.0.1' }],
    ['a page of another origin', { origin: 'http://evil.example' }],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }],
    ['a page without an origin', { origin: 'null' }],
  ])('%s is refused, page and data', async (_, headers) => {
    expect([(await get('/api/overview', headers)).status, (await get('/', headers)).status]).toEqual([403, 403])
  })

  test.each([
    ['no token', ''],
    ['another token', 'Bearer wrong'],
    ['a token of the same length', `Bearer ${'x'.repeat(32)}`],
    ['half a token', 'Bearer '],
  ])('%s gets no data', async (_, authorization) => {
    for (const path of ['/api/overview', '/api/events', '/api/sessions/0123456789abcdef'])
      expect((await get(path, { authorization })).status).toBe(401)
  })

  test('a token in the address or in a cookie is none', async () => {
    const headers = { authorization: '', cookie: `token=${viewer.token}` }
    expect((await get(`/api/overview?token=${viewer.token}`, headers)).status).toBe(401)
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is refused', async (method) => {
    expect((await get('/api/overview', {}, method)).status).toBe(405)
  })

  test('the page needs no token, runs only its own files, may be framed by nobody, and tells nobody where it was', async () => {
    const { status, headers } = await get('/', { authorization: '' })
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringContaining("default-src 'none'; script-src 'self'; style-src 'self'"),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(String(headers['content-security-policy'])).not.toMatch(/unsafe|\*|https?:/)
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  test('the address has the token after the #', () => {
    expect(viewer.url).toBe(`http://127.0.0.1:${viewer.port}/#token=${viewer.token}`)
    expect(viewer.token).toMatch(/^[\w-]{32}$/)
  })
})

describe('what can be read', () => {
  test('only sessions below the given paths', async () => {
    const { sessions } = await json<Overview>('/api/overview')
    expect(sessions.map(({ path }) => path.slice(folder.path.length)).toSorted()).toEqual([
      '/given/no-session.jsonl',
      '/given/project/one.jsonl',
      '/given/project/two.jsonl',
    ])
    const elsewhere = await startViewer({ paths: [outside], port: 0, env: {}, page })
    const [row] = (
      (await (
        await fetch(`http://127.0.0.1:${elsewhere.port}/api/overview`, {
          headers: { authorization: `Bearer ${elsewhere.token}` },
        })
      ).json()) as Overview
    ).sessions
    await elsewhere.close()
    expect((await get(`/api/sessions/${row?.id}`)).status).toBe(404)
  })

  test.each([
    '/api/sessions/../../secret.jsonl',
    '/api/sessions/..%2f..%2fsecret.jsonl',
    '/api/sessions/%2Fetc%2Fpasswd',
    '/api/sessions/',
    '/api/nothing',
    '/api/sessions/0123456789abcdef/items/-1',
    '/api/sessions/0123456789abcdef/compactions/1/nothing',
    '/api/sessions/0123456789abcdef',
    '/assets/../../../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/other.js',
  ])('%s is nothing', async (path) => {
    const { status, text } = await get(path)
    expect([404, 200]).toContain(status)
    // Addresses of the page give the page itself, and never a file.
    if (status === 200) expect(text).toBe('<title>page</title>')
  })

  test('facts about each session arrive, and why one has none', async () => {
    let overview = await json<Overview>('/api/overview')
    while (overview.read < overview.sessions.length) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      overview = await json<Overview>('/api/overview')
    }
    const one = overview.sessions.find(({ path }) => path === inside)
    expect(one?.facts).toMatchObject({
      compactions: 1,
      lost: 7,
      turns: 3,
      project: '/home/dev/project',
      agent: 'claude-code',
    })
    expect(one?.facts?.title).toBe(
      'Migrate the reports. Never drop the table orders_2019. Ask me before you push anything.',
    )
    expect(overview.sessions.find(({ path }) => path.endsWith('no-session.jsonl'))).toMatchObject({
      facts: null,
      trouble: 'It holds no conversation.',
    })
  })

  test('sub-agents beside a session can be opened, and have no row of their own', async () => {
    const [lane] = await json<{ session: string; entries: number }[]>(`/api/sessions/${await idOf(inside)}/agents`)
    expect(lane).toMatchObject({ kind: 'agent', place: 'folder', entries: 2 })
    expect((await json<SessionData>(`/api/sessions/${lane?.session}`)).items).toBe(2)
  })

  test('a search over everything says in which session and where', async () => {
    const { matches } = await json<{ matches: { session: string; uuid: string }[] }>('/api/search?words=checkpoint')
    expect(matches.length).toBeGreaterThan(0)
    const [{ session = '', uuid = '' } = {}] = matches
    expect(session).toBe(await idOf(inside))
    expect(await json(`/api/sessions/${session}/place?uuid=${uuid}`)).toEqual({ item: 4 })
  })
})

describe('the list', () => {
  const changes = async (since: number) => json<Overview>(`/api/overview?since=${since}`)

  test('sends only what changed since a version: a new session, then its facts, then that it is gone', async () => {
    const all = await changes(0)
    const path = folder.write('given/late.jsonl', session().user('Late.').assistant('Yes.').text)
    const names = ({ sessions }: Overview) => sessions.map((row) => [row.path, row.facts?.title])
    let seen: Overview = await changes(all.version)
    while (!names(seen).some(([name, title]) => name === path && title === 'Late.')) seen = await changes(all.version)
    expect(seen.sessions.filter((row) => row.path === path)).toHaveLength(1)
    expect(seen.total).toBe(all.total + 1)
    while (seen.read < seen.total) seen = await changes(0)
    expect(await changes(seen.version)).toMatchObject({ sessions: [], gone: [], version: seen.version })
    const id = seen.sessions.find((row) => row.path === path)?.id
    rmSync(path)
    let later = await changes(seen.version)
    while (later.gone.length === 0) later = await changes(seen.version)
    expect(later).toMatchObject({ gone: [id], sessions: [], total: all.total })
  })

  test('a page that shows the list hears of a new session', async () => {
    const events = await fetch(`http://127.0.0.1:${viewer.port}/api/events`, {
      headers: { authorization: `Bearer ${viewer.token}` },
    })
    const stream = events.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await stream?.read())?.value).toContain('event: hello')
    const path = folder.write('given/new.jsonl', session().user('New.').assistant('Yes.').text)
    let heard = ''
    while (!heard.includes('event: overview')) heard += (await stream?.read())?.value ?? ''
    await stream?.cancel()
    rmSync(path)
  })
})

describe('a session that changes', () => {
  test('grows on the page, and is an error once it is gone', async () => {
    const path = folder.write('given/live.jsonl', [...generateSession({ seed: 1, turns: 3 })].map(serialize).join(''))
    const id = await idOf(path)
    const before = await json<SessionData>(`/api/sessions/${id}`)
    const events = await fetch(`http://127.0.0.1:${viewer.port}/api/events?session=${id}`, {
      headers: { authorization: `Bearer ${viewer.token}` },
    })
    const stream = events.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await stream?.read())?.value).toContain('event: hello')
    appendFileSync(
      path,
      serialize({ type: 'user', uuid: 'new', parentUuid: null, message: { role: 'user', content: 'More.' } }),
    )
    let heard = ''
    while (!heard.includes('event: session')) heard += (await stream?.read())?.value ?? ''
    await stream?.cancel()
    expect((await json<SessionData>(`/api/sessions/${id}`)).items).toBe(before.items + 1)
    rmSync(path)
    const { status, text } = await get(`/api/sessions/${id}`)
    expect(status).toBe(410)
    expect(JSON.parse(text).error).toContain('ENOENT')
  })
})

describe('undo', () => {
  const asked: (readonly [path: string, uuid: string])[] = []
  let own: Viewer
  let path = ''
  beforeAll(async () => {
    path = await ownSession(join(folder.path, 'own/session.jsonl'))
    const undo = async (...words: readonly [string, string]) => {
      asked.push(words)
      return undefined
    }
    own = await startViewer({
      paths: [join(folder.path, 'own'), join(folder.path, 'given')],
      port: 0,
      env: {},
      page,
      undo,
    })
  })
  afterAll(() => own.close())
  const call = async (where: string, method: string, headers: Record<string, string> = {}) => {
    const all = { authorization: `Bearer ${own.token}`, ...headers }
    const answer = await fetch(`http://127.0.0.1:${own.port}${where}`, { method, headers: all })
    return { status: answer.status, body: (await answer.json()) as never }
  }
  const rowOf = async (wanted: string) => {
    const { sessions } = (await call('/api/overview', 'GET')).body as Overview
    const id = sessions.find((row) => row.path === wanted)?.id
    const { compactions } = (await call(`/api/sessions/${id}`, 'GET')).body as SessionData
    return { id, compaction: compactions[0] }
  }

  test('is offered for a compaction that Everlong wrote, and reaches whoever writes', async () => {
    const { id, compaction } = await rowOf(path)
    expect(compaction?.undo).toBe(compaction?.uuid)
    const where = `/api/sessions/${id}/undo?uuid=${compaction?.uuid}`
    expect(await call(where, 'POST')).toEqual({ status: 200, body: { undone: compaction?.uuid } })
    expect(asked).toEqual([[path, compaction?.uuid]])
  })

  test('is not offered for those of other agents, nor for anything else', async () => {
    asked.length = 0
    const other = await rowOf(inside)
    const { id } = await rowOf(path)
    expect(other.compaction?.undo).toBeNull()
    for (const where of [
      `/api/sessions/${other.id}/undo?uuid=${other.compaction?.uuid}`,
      `/api/sessions/${id}/undo?uuid=${other.compaction?.uuid}`,
      `/api/sessions/${id}/undo?uuid=held`,
      `/api/sessions/${id}/undo`,
      `/api/sessions/0123456789abcdef/undo?uuid=x`,
    ])
      expect([where, (await call(where, 'POST')).status]).toEqual([where, 404])
    expect(asked).toEqual([])
  })

  test('needs the token and a page of this server, and is never a GET', async () => {
    asked.length = 0
    const { id, compaction } = await rowOf(path)
    const where = `/api/sessions/${id}/undo?uuid=${compaction?.uuid}`
    expect((await call(where, 'POST', { authorization: 'Bearer no' })).status).toBe(401)
    expect((await call(where, 'POST', { origin: 'http://evil.example' })).status).toBe(403)
    expect((await call(where, 'GET')).status).toBe(405)
    expect((await call('/api/overview', 'POST')).status).toBe(405)
    expect(asked).toEqual([])
  })
})

test('without content nothing that was said leaves the server', async () => {
  const hidden = await startViewer({ paths: [`${folder.path}/given`], port: 0, env: {}, page, isContentHidden: true })
  const ask = async (path: string) => {
    const headers = { authorization: `Bearer ${hidden.token}` }
    const answer = await fetch(`http://127.0.0.1:${hidden.port}${path}`, { headers })
    return { status: answer.status, text: await answer.text() }
  }
  let list = JSON.parse((await ask('/api/overview')).text) as Overview
  while (list.read < list.total) list = JSON.parse((await ask('/api/overview')).text) as Overview
  const texts = [JSON.stringify(list)]
  for (const { id, facts } of list.sessions) {
    if (facts === null) continue
    const at = `/api/sessions/${id}`
    for (const part of [
      '',
      '/lost',
      '/window',
      '/agents',
      '/items?from=0&count=100',
      '/items/0',
      '/compactions/1',
      '/compactions/1/alternative',
    ])
      texts.push((await ask(`${at}${part}`)).text)
    expect((await ask(`${at}/find?words=orders`)).status).toBe(404)
  }
  expect((await ask('/api/search?words=orders')).status).toBe(404)
  await hidden.close()
  for (const said of [
    'orders_2019',
    'ClickHouse',
    'make import',
    'forgotten',
    '/home/dev',
    'staging',
    folder.path,
    'Second.',
    'one.jsonl',
  ])
    expect([said, texts.filter((text) => text.includes(said))]).toEqual([said, []])
  expect(list.sessions.map(({ facts }) => facts?.lost)).toContain(7)
})

test('a port that is in use is refused, and nothing stays behind', async () => {
  await expect(startViewer({ paths: [folder.path], port: viewer.port, env: {}, page })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
})
