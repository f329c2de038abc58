// Commands on sessions in a database.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Overview, SessionData } from '@everlong/viewer/data'
import { offline } from 'everlong'
import { readEdit } from 'everlong/internal'
import { createEngine } from 'everlong/node'
import { postgres } from 'everlong/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresForTests } from '../../engine/src/stores/testing/postgres-server.ts'
import { generateSession, serialize } from '../../engine/src/testing/index.ts'
import { placeOf } from './stores.ts'
import { everlong, report } from './testing/harness.ts'

const server = await postgresForTests()
const folder = mkdtempSync(join(tmpdir(), 'everlong-cli-stores-'))
const file = join(folder, 'sessions', 'chat.jsonl')
const records = [...generateSession({ seed: 3, turns: 20, boundaries: 2 })]
const url = (session = '') => `${server?.url}?tenant=acme${session === '' ? '' : `#${session}`}`

beforeAll(async () => {
  if (!server) return
  mkdirSync(join(folder, 'sessions'))
  writeFileSync(file, records.map(serialize).join(''))
  expect((await everlong(['copy', join(folder, 'sessions'), url()])).exitCode).toBe(0)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server?.stop()
})

describe.runIf(server)('a store URL in place of a path', () => {
  test.each([['inspect'], ['epochs'], ['context'], ['tree'], ['micro'], ['fsck'], ['recall', 'error']])(
    '%s shows what it shows of the file',
    async (command, ...words) => {
      const ofFile = await everlong([command, file, ...words])
      const ofStore = await everlong([command, url('chat'), ...words])
      const plain = (text: string, name: string) => text.replaceAll(name, 'NAME').replaceAll(/\s+/g, ' ')
      const name = `${server?.url.replace('postgres@', '')}#chat`
      expect(ofStore.exitCode).toBe(ofFile.exitCode)
      expect(plain(ofStore.stdout, name)).toBe(plain(ofFile.stdout, file))
    },
  )

  test('commands that append do so in the database, and can be undone there', async () => {
    const uuid = String(records.findLast(({ type }, at) => type === 'assistant' && at < records.length - 20)?.uuid)
    expect((await everlong(['pin', url('chat'), uuid])).stderr).toBe('')
    const before = await report('context', url('chat'))
    expect((await everlong(['rewind', url('chat'), uuid])).exitCode).toBe(0)
    expect(await report('context', url('chat'))).not.toEqual(before)
    expect((await everlong(['undo', url('chat')])).exitCode).toBe(0)
    expect(await report('context', url('chat'))).toEqual(before)
  })

  test('view shows what is added to the store while it is open, and undoes there', { timeout: 60_000 }, async () => {
    if (!server) return
    const store = postgres({ url: server.url, tenant: 'live' })
    const engine = createEngine({ store, model: offline() })
    const open = await engine.start({ id: 'talk' })
    const say = (turn: number) => {
      open.add({ role: 'user', content: `Step ${turn}. ${'More words about it. '.repeat(80)}` })
      open.add({ role: 'assistant', content: `Done. ${'This is what I found. '.repeat(200)}` })
    }
    for (let turn = 1; turn <= 8; turn++) say(turn)
    await open.stored()
    const ran = await everlong(['view', `${server.url}?tenant=live`, '--no-open'], {
      meanwhile: async (stdout) => {
        const [, origin = '', token = ''] = /^Open (http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)$/m.exec(stdout) ?? []
        const ask = async <T>(path: string, method = 'GET') => {
          const answer = await fetch(`${origin}${path}`, { method, headers: { authorization: `Bearer ${token}` } })
          return (await answer.json()) as T
        }
        const until = async <T>(look: () => Promise<T>, isThere: (value: T) => boolean): Promise<T> => {
          for (let value = await look(); ; value = await look()) if (isThere(value)) return value
        }
        const [row] = (await ask<Overview>('/api/overview')).sessions
        const session = () => ask<SessionData>(`/api/sessions/${row?.id}`)
        expect((await session()).items).toBe(16)
        say(9)
        await open.stored()
        await until(session, ({ items }) => items === 18)
        expect(await open.compact()).toMatchObject({ type: 'compacted' })
        await open.close()
        const { compactions } = await until(session, (found) => found.compactions.length === 1)
        await ask(`/api/sessions/${row?.id}/undo?uuid=${compactions[0]?.undo}`, 'POST')
        await until(session, (found) => found.compactions[0]?.isUndone === true)
        const other = await engine.start({ id: 'second' })
        other.add({ role: 'user', content: 'A new session.' })
        await other.close()
        await until(
          () => ask<Overview>('/api/overview'),
          ({ total }) => total === 2,
        )
      },
    })
    expect([ran.exitCode, ran.stderr.replace(/^Building the page.*\n/, '')]).toEqual([0, ''])
    const undos: unknown[] = []
    for await (const { record } of store.records('talk')) if (readEdit(record)?.type === 'undo') undos.push(record)
    expect(undos).toHaveLength(1)
    await store.close()
  })

  test('a copy goes back to files as it was', async () => {
    const back = join(folder, 'back')
    expect(await report('copy', url(), back)).toMatchObject({ sessions: 1, skipped: [] })
    const original = readFileSync(file, 'utf8')
    expect(readFileSync(join(back, 'chat.jsonl'), 'utf8').startsWith(original)).toBe(true)
    expect(await report('copy', url('chat'), back)).toMatchObject({ sessions: 0, skipped: ['chat'] })
  })

  test('what cannot be done is said in one line, without the password', async () => {
    const missing = await everlong(['inspect', url('nobody')])
    expect(missing).toMatchObject({ exitCode: 1, stdout: '' })
    expect(missing.stderr).toMatch(/^everlong: There is no session at postgres:\/\/127[^\n]*#nobody\.\n$/)
    const away = await everlong(['inspect', 'postgres://me:secret@127.0.0.1:1/app#chat'])
    expect(away.exitCode).toBe(1)
    expect(away.stderr).toMatch(/^everlong: PostgreSQL at 127\.0\.0\.1:1\/app cannot be reached[^\n]*\n$/)
    for (const mistyped of ['postgres:/me:secret@host/app', 'postgres:me:secret@host/app']) {
      const refused = await everlong(['inspect', mistyped])
      expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/^everlong: This is not the URL/)])
      expect(`${refused.stderr}${refused.stdout}`).not.toContain('secret')
    }
    expect((await everlong(['memory', url('chat'), '--write'])).stderr).toContain('Copy the session to a folder first')
  })

  test('nothing is left in the temporary folder', async () => {
    const temporary = join(folder, 'tmp')
    mkdirSync(temporary)
    const before = process.env.TMPDIR
    process.env.TMPDIR = temporary
    await everlong(['recall', url('chat'), 'error'])
    await everlong(['inspect', url('nobody')])
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    expect(readdirSync(temporary)).toEqual([])
  })
})

test.each([
  ['/w/sessions', undefined, '/w/sessions'],
  ['/w/sessions/chat.jsonl', 'chat', '/w/sessions/chat.jsonl'],
  ['postgres://me:secret@host/app', undefined, 'postgres://host/app'],
  ['postgres://me:secret@host:5/app?tenant=acme&sslmode=require#chat', 'chat', 'postgres://host:5/app#chat'],
  [
    'postgresql://host/app#chat%2Fsubagents%2Fagent-1',
    'chat/subagents/agent-1',
    'postgresql://host/app#chat/subagents/agent-1',
  ],
  ['postgres://host/app#50%25%C3%A9', '50%é', 'postgres://host/app#50%é'],
])('%s names the session %j', async (argument, session, name) => {
  const place = placeOf(argument)
  expect([place.session, place.name]).toEqual([session, name])
  await place.store.close()
})

test.each(['50%', '%zz', '%ff'])('a session that is encoded as %s is refused in one line', async (session) => {
  const { exitCode, stderr } = await everlong(['inspect', `postgres://me:secret@host/app#${session}`])
  const why = 'The session in this URL is not percent-encoded correctly: "%" is written as "%25".'
  expect([exitCode, stderr]).toEqual([1, `everlong: ${why}\n`])
})
