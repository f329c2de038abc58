import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EngineEvent } from '../../core/ports/events.ts'
import { offline } from '../../models/offline.ts'
import { createEngine } from '../../node-engine.ts'
import { fileNameOf, storeResults } from './keep-results.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-results-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const textOf = (at: number) => `line of file ${at}\n`.repeat(600)

/** Six results. All but the newest three are cleared before the next request. */
async function cleared(path?: string) {
  const events: EngineEvent[] = []
  const engine = createEngine({
    model: offline(),
    environment: {},
    onEvent: (event) => events.push(event),
    settings: { reductions: { microCompact: 'always', weigh: false, bySize: { target: 1, minFreed: 1 } } },
  })
  const session = await engine.start(path === undefined ? {} : { path })
  session.add({ role: 'user', content: 'Look at the files.' })
  for (let at = 0; at < 6; at++) {
    session.record({ content: [{ type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: `/p/${at}.ts` } }] })
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: textOf(at) }] })
  }
  await session.prepare()
  await session.close()
  const results = events.flatMap((event) => (event.type === 'micro-compacted' ? [event.results] : []))
  return { results, session, problems: events.filter(({ type }) => type === 'results-not-stored') }
}

describe('results that a live session clears', () => {
  test('lie beside it, as they were', async () => {
    const path = join(folder, 'kept.jsonl')
    expect(await cleared(path)).toMatchObject({ results: [3], problems: [] })
    const place = join(folder, 'kept', 'tool-results')
    expect(readdirSync(place).toSorted()).toEqual(['t0.txt', 't1.txt', 't2.txt'])
    expect(readFileSync(join(place, 't1.txt'), 'utf8')).toBe(textOf(1))
  })

  test('are cleared all the same where they cannot be put there, which is told', async () => {
    const path = join(folder, 'barred.jsonl')
    mkdirSync(join(folder, 'barred'))
    writeFileSync(join(folder, 'barred', 'tool-results'), 'in the way')
    const { results, problems, session } = await cleared(path)
    expect(results).toEqual([3])
    expect(problems).toEqual([
      { type: 'results-not-stored', reason: expect.stringContaining('tool-results'), sessionId: session.id },
    ])
  })

  test('of a session in memory lie nowhere', async () => {
    expect(await cleared()).toMatchObject({ results: [3], problems: [] })
  })
})

const session = () => join(folder, 'session.jsonl')
const results = () => join(folder, 'session', 'tool-results')

describe('results beside the session', () => {
  test('are written as they are, for their owner alone', () => {
    const content = 'line 1\r\nline 2\t🎈\n'
    expect(storeResults(session(), [{ toolUseId: 'toolu_01', content }])).toEqual({
      type: 'stored',
      folder: results(),
      written: [join(results(), 'toolu_01.txt')],
      kept: [],
      notText: [],
    })
    expect(readFileSync(join(results(), 'toolu_01.txt'), 'utf8')).toBe(content)
    expect(statSync(join(results(), 'toolu_01.txt')).mode & 0o777).toBe(0o600)
    expect(statSync(results()).mode & 0o777).toBe(0o700)
    expect(readdirSync(results())).toEqual(['toolu_01.txt'])
  })

  test('of text blocks are their text', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ]
    storeResults(session(), [{ toolUseId: 't', content }])
    expect(readFileSync(join(results(), 't.txt'), 'utf8')).toBe('one\ntwo')
  })

  test('that are there already stay as they are', () => {
    mkdirSync(results(), { recursive: true })
    writeFileSync(join(results(), 't.txt'), 'the whole of it')
    const stored = storeResults(session(), [{ toolUseId: 't', content: 'a preview' }])
    expect(stored).toMatchObject({ written: [], kept: [join(results(), 't.txt')] })
    expect(readFileSync(join(results(), 't.txt'), 'utf8')).toBe('the whole of it')
  })

  test('that a text file cannot hold are left to the transcript', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
    const stored = storeResults(session(), [
      { toolUseId: 'image', content: [{ type: 'text', text: 'shot' }, image] },
      { toolUseId: 'half', content: 'half a character: \ud83c' },
    ])
    expect(stored).toMatchObject({ type: 'stored', written: [], notText: ['image', 'half'] })
    expect(readdirSync(results())).toEqual([])
  })

  test('that cannot be written are a failure with a reason', () => {
    writeFileSync(join(folder, 'session'), 'a file where the folder belongs')
    expect(storeResults(session(), [{ toolUseId: 't', content: 'x' }])).toMatchObject({ type: 'store-failed' })
  })
})

describe('the name of a result', () => {
  test.each(['toolu_01AbC', 'call-7', 'a'])('is its id where that is a plain name: %s', (id) => {
    expect(fileNameOf(id)).toBe(id)
  })

  const hostile = [
    '../../etc/passwd',
    '..',
    '.',
    '',
    '/abs',
    'a/b',
    'a\\b',
    'c:x',
    'nul',
    'COM1',
    '\0',
    'x'.repeat(300),
  ]
  test.each(hostile)('never leads anywhere: %j', (id) => {
    const name = fileNameOf(id)
    expect(name).toMatch(/^id-[A-Za-z0-9_-]{1,80}$/)
    expect(dirname(join('/base', `${name}.txt`))).toBe('/base')
    expect(name).not.toBe(id)
  })

  test('is another one for every id', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: 2, maxLength: 20 }), (ids) => {
        const names = ids.map(fileNameOf)
        expect(new Set(names).size).toBe(ids.length)
        for (const name of names) expect(basename(join('/base', name))).toBe(name)
      }),
    )
  })
})
