import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileNameOf, storeResults } from './keep-results.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-results-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

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
