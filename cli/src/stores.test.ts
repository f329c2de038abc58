// Commands on sessions in a database.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresForTests } from '../../engine/src/stores/testing/postgres-server.ts'
import { generateSession, serialize } from '../../engine/src/testing/index.ts'
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
