import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contextFrame } from '../message/reminder.ts'
import type { FileRead, FileStore } from '../ports/files.ts'
import { defaultRestorers, missingText, pieceText, restoreContext } from './restore.ts'
import type { RestoreInput } from './restorer.ts'
import { emptyState } from './state.ts'
import type { TouchedFile } from './touched.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)

function storeOf(files: Readonly<Record<string, FileRead | string>>): FileStore {
  return {
    read: async (path) => {
      const file = files[path] ?? { type: 'missing' }
      return typeof file === 'string' ? { type: 'text', text: file } : file
    },
  }
}

const touch = (path: string, lines: Partial<TouchedFile> = {}): TouchedFile => ({
  path,
  changed: [],
  seen: [],
  ...lines,
})

const inputOf = (given: Partial<RestoreInput>): RestoreInput => ({
  files: storeOf({}),
  countTokens,
  touched: [],
  kept: [],
  state: emptyState,
  ...given,
})

const titles = async (given: Partial<RestoreInput>, budget = 100_000) => {
  const { pieces, notRestored } = await restoreContext(inputOf(given), { budget })
  return { put: pieces.map(({ title }) => title), not: notRestored.map(({ what, why }) => `${what}: ${why}`) }
}

describe('files', () => {
  test('the five touched last come back, newest first; the sixth does not', async () => {
    const names = ['f6', 'f5', 'f4', 'f3', 'f2', 'f1']
    const files = storeOf(Object.fromEntries(names.map((name) => [name, `text of ${name}`])))
    expect(await titles({ files, touched: names.map((name) => touch(name)) })).toEqual({
      put: ['File f6', 'File f5', 'File f4', 'File f3', 'File f2'],
      not: [],
    })
  })

  test('what cannot be brought is named with the reason and makes room for the next', async () => {
    const files = storeOf({ pic: { type: 'binary', bytes: 9 }, out: { type: 'refused', why: 'outside' }, ok: 'fine' })
    expect(await titles({ files, touched: ['pic', 'out', 'gone', 'ok'].map((name) => touch(name)) })).toEqual({
      put: ['File ok'],
      not: ['pic: it is binary (9 bytes)', 'out: outside', 'gone: it is not there any more'],
    })
  })

  test('the transcript, the plan and memory files come back another way or not at all', async () => {
    const touched = ['/s.jsonl', '/plan.md', '/x/CLAUDE.md', '/x/AGENTS.md', '/a'].map((name) => touch(name))
    const files = storeOf(Object.fromEntries(touched.map(({ path }) => [path, 'text'])))
    const state = { ...emptyState, plan: { path: '/plan.md', isOn: true } }
    expect(await titles({ files, touched, state, transcriptPath: '/s.jsonl' })).toEqual({
      put: ['Plan /plan.md (plan mode is on: plan, change nothing)', 'File /a'],
      not: [],
    })
  })

  test('a large file comes in excerpts around what was changed, with its size', async () => {
    const lines = Array.from({ length: 4000 }, (_, at) => `line number ${at + 1}`)
    const files = storeOf({ big: lines.join('\n') })
    const { pieces } = await restoreContext(inputOf({ files, touched: [touch('big', { changed: [[2000, 2002]] })] }), {
      budget: 50_000,
    })
    expect(pieces.map(({ title }) => title)).toEqual([
      'File big (lines 1–68, 1992–2010 of 4000; the whole file has 16726 tokens)',
    ])
    expect(pieces[0]?.text).toContain('[line 1992]\nline number 1992\n')
    expect(pieces[0]?.tokens).toBeLessThanOrEqual(5000)
  })

  test('a file to be seen in the kept messages is not put back, a pointer to an older read is no sight of it', async () => {
    const read = (id: string, path: string, text: string) =>
      [
        { role: 'assistant', origin: 'assistant', content: [{ type: 'tool_use', id, name: 'Read', input: { path } }] },
        { role: 'user', origin: 'tool-result', content: [{ type: 'tool_result', tool_use_id: id, content: text }] },
      ] as const
    const kept = [...read('1', 'seen', 'text'), ...read('2', 'pointed', 'File unchanged since last read.')]
    const files = storeOf({ seen: 'text', pointed: 'text' })
    expect(await titles({ files, touched: [touch('seen'), touch('pointed')], kept })).toEqual({
      put: ['File pointed'],
      not: [],
    })
  })
})

test('skills are cut at the end, with a word on where the rest is', async () => {
  const state = { ...emptyState, skills: [{ name: 'long', path: '/skills/long.md', text: 'word '.repeat(9000) }] }
  const { pieces } = await restoreContext(inputOf({ state }), { budget: 100_000 })
  expect(pieces[0]?.tokens).toBeLessThanOrEqual(5000)
  expect(pieces[0]?.tokens).toBeGreaterThan(4900)
  expect(pieces[0]?.text.endsWith('[cut: the rest is in /skills/long.md]')).toBe(true)
})

test('everything together reads as one reminder that nothing inside can end', async () => {
  const state = {
    ...emptyState,
    todos: [{ id: '1', text: 'mend </system-reminder> it', status: 'in-progress' as const }],
    agents: [{ id: 'a1', type: 'explore', description: 'look', state: 'running' as const }],
    pinned: [{ uuid: 'u1', text: 'never push' }],
    deferredTools: ['Cron: runs things'],
    host: [{ title: 'Selection', text: 'abc', budget: 100 }],
  }
  const { pieces, notRestored } = await restoreContext(inputOf({ state, touched: [touch('/gone')] }), {
    budget: 10_000,
  })
  expect(contextFrame([...pieces.map(pieceText), missingText(notRestored) ?? ''])).toMatchInlineSnapshot(`
    "<system-reminder>
    Context that may or may not be relevant:

    Pinned message
    never push

    To-do list
    - [in-progress] #1 mend &lt;/system-reminder> it

    Background agents: do not start these again
    - a1 (explore), running: look

    Tools that can be loaded
    Cron: runs things

    Selection
    abc

    Not put back:
    - /gone: it is not there any more
    </system-reminder>"
  `)
})

test('a restorer that breaks costs its own pieces only', async () => {
  const broken = { kind: 'host', budget: 10, restore: () => Promise.reject(new Error('no disk')) } as const
  const restored = await restoreContext(inputOf({}), { budget: 1000, restorers: [broken] })
  expect(restored.notRestored).toEqual([{ kind: 'host', what: 'host', why: 'no disk' }])
})

test('whatever the state, the budget holds, for all together and for each; twice gives the same', async () => {
  const text = fc.string({ maxLength: 3000 })
  const state = fc.record({
    todos: fc.array(fc.record({ id: fc.string(), text, status: fc.constant('pending' as const) }), { maxLength: 5 }),
    skills: fc.array(fc.record({ name: fc.string(), text }), { maxLength: 3 }),
    agents: fc.constant([]),
    deferredTools: fc.array(text, { maxLength: 3 }),
    mcpInstructions: fc.array(fc.record({ name: fc.string(), text }), { maxLength: 3 }),
    memoryFiles: fc.constantFrom([], ['m']),
    host: fc.array(fc.record({ title: fc.string(), text, budget: fc.nat(500) }), { maxLength: 3 }),
    pinned: fc.array(fc.record({ uuid: fc.string(), text }), { maxLength: 3 }),
  })
  const files = fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), text, { maxKeys: 8 })
  await fc.assert(
    fc.asyncProperty(state, files, fc.nat(3000), async (given, found, budget) => {
      const input = inputOf({
        state: given,
        files: storeOf({ ...found, m: 'rules' }),
        touched: Object.keys(found).map((path) => touch(path)),
      })
      const once = await restoreContext(input, { budget })
      expect(once.tokens).toBeLessThanOrEqual(budget)
      if (once.pieces.length > 0)
        expect(countTokens(contextFrame(once.pieces.map(pieceText)))).toBeLessThanOrEqual(budget)
      expect(await restoreContext(input, { budget })).toEqual(once)
      for (const restorer of defaultRestorers) {
        const { pieces } = await restorer.restore(input, budget)
        expect(pieces.reduce((sum, piece) => sum + piece.tokens, 0)).toBeLessThanOrEqual(budget)
      }
    }),
    { numRuns: 60 },
  )
})
