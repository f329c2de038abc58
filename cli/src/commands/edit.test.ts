import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { offline } from 'everlong'
import { textOf } from 'everlong/internal'
import { readTranscript } from 'everlong/internal/node'
import { session } from 'everlong/internal/testing'
import { createEngine } from 'everlong/node'
import { afterAll, describe, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../testing/harness.ts'
import type { EditReport } from './edit/report.ts'
import type { UndoReport } from './edit/undo.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const filler = 'word '.repeat(60)
let files = 0
/** Four questions and their answers. */
function talk() {
  const told = session()
  for (const nth of [1, 2, 3, 4]) told.user(`question ${nth} ${filler}`).assistant(`answer ${nth}`)
  return folder.write(`talk-${files++}.jsonl`, told.records)
}
const textsOf = (file: string) =>
  readTranscript(file).view.messages.map(({ content }) => textOf(content).replaceAll(filler, '').trim())
const isBoundary = ({ subtype }: { readonly subtype?: unknown }) => subtype === 'compact_boundary'
const uuidAt = (file: string, at: number) => readTranscript(file).view.messages[at]?.uuid ?? ''

describe('by hand', () => {
  test('snip takes a stretch out, leaves a line, and undo puts it back', async () => {
    const file = talk()
    const before = textsOf(file)
    const done = await report<EditReport>('snip', file, uuidAt(file, 2), uuidAt(file, 5), '--marker', 'two questions')
    expect(done).toMatchObject({ command: 'snip', edits: [{ type: 'drop-range', marker: 'two questions' }] })
    expect(done.after.tokens).toBeLessThan(done.before.tokens)
    expect(textsOf(file)).toEqual(['question 1', 'answer 1', 'two questions\nquestion 4', 'answer 4'])
    await report('undo', file)
    expect(textsOf(file)).toEqual(before)
  })

  test('rewind goes back, and undo goes forth again', async () => {
    const file = talk()
    const before = textsOf(file)
    await report<EditReport>('rewind', file, uuidAt(file, 3))
    expect(textsOf(file)).toEqual(before.slice(0, 4))
    expect(await report<UndoReport>('undo', file)).toMatchObject({ undone: [{ type: 'rewind' }] })
    expect(textsOf(file)).toEqual(before)
  })

  test('what is pinned stays in a stretch that is removed, until it is unpinned', async () => {
    const file = talk()
    const kept = uuidAt(file, 2)
    await report<EditReport>('pin', file, kept)
    await report<EditReport>('snip', file, uuidAt(file, 0), uuidAt(file, 6))
    expect(JSON.stringify(textsOf(file))).toContain('question 2')
    await report<EditReport>('unpin', file, kept)
    await report<EditReport>('snip', file, kept, kept)
    expect(JSON.stringify(textsOf(file))).not.toContain('question 2')
    expect((await report<UndoReport>('undo', file)).undone).toMatchObject([{ type: 'drop-range' }])
    expect((await report<UndoReport>('undo', file)).undone).toMatchObject([
      { type: 'drop-range' },
      { type: 'drop-range' },
    ])
  })

  test.each(['pin', 'unpin'])('how to take back a %s is a command that works', async (name) => {
    const file = talk()
    const uuid = uuidAt(file, 2)
    if (name === 'unpin') await report('pin', file, uuid)
    const { stdout } = await everlong([name, file, uuid])
    const [, command = ''] = /To undo it: everlong (.*)/s.exec(stdout.replaceAll(/\n\s*/g, ' ')) ?? []
    expect(command.trim().split(' ')).toEqual(['edit', name === 'pin' ? 'unpin' : 'pin', file, uuid])
    expect((await everlong(command.trim().split(' '))).exitCode).toBe(0)
  })

  test('undo without a name takes a compaction back', async () => {
    const path = join(folder.path, 'compacted.jsonl')
    const live = await createEngine({ model: offline(), environment: {} }).start({ path })
    for (const nth of [1, 2, 3, 4]) {
      live.add({ role: 'user', content: `Question ${nth}: ${'lorem ipsum '.repeat(800)}` })
      live.record({ content: `Answer ${nth}.` })
    }
    const before = live.messages()
    expect((await live.compact()).type).toBe('compacted')
    await live.close()
    expect((await everlong(['undo', path])).stdout).toContain('Undid a compaction')
    expect(readTranscript(path).view.messages).toEqual(before)
    expect((await everlong(['undo', path])).exitCode).toBe(1)
  })

  test('entries from before the last compaction of a large session can be named', async () => {
    const long = 'word '.repeat(1_600)
    const told = session()
    for (const nth of [1, 2, 3, 4]) told.user(`question ${nth} ${filler}`).assistant(`answer ${nth}`)
    for (let nth = 0; nth < 40; nth++) told.user(long).assistant(long)
    for (let nth = 0; nth < 60; nth++) told.user('short').assistant('ok')
    told.boundary().summary('The summary.')
    for (let nth = 0; nth < 3; nth++) told.user(`later ${nth}`).assistant('ok')
    const file = folder.write('large.jsonl', told.records)
    const [second = '', boundary = ''] = [told.records[3]?.uuid, told.records.find(isBoundary)?.uuid].map(String)
    // The window alone does not have them.
    expect([second, boundary].map((uuid) => readTranscript(file).entry(uuid) === undefined)).toEqual([true, false])
    const before = textsOf(file)
    await report<EditReport>('rewind', file, second)
    expect(textsOf(file)).toEqual(['question 1', 'answer 1', 'question 2', 'answer 2'])
    await report('undo', file)
    expect(textsOf(file)).toEqual(before)
    expect(await report<UndoReport>('undo', file, '--edit', boundary)).toMatchObject({
      undone: [{ type: 'compaction' }],
    })
    expect(textsOf(file).slice(0, 4)).toEqual(['question 1', 'answer 1', 'question 2', 'answer 2'])
  })

  test.each([[['rewind', 'nobody']], [['pin', 'nobody']], [['unpin', 'nobody']], [['snip', 'nobody', 'nobody']]])(
    '%j names no entry: one line, exit code 1, nothing written',
    async ([name = '', ...words]) => {
      const file = talk()
      const bytes = readFileSync(file)
      const { exitCode, stdout, stderr } = await everlong([name, file, ...words])
      expect([exitCode, stdout, stderr.trim().split('\n').length]).toEqual([1, '', 1])
      expect(stderr).toContain('nobody')
      expect(readFileSync(file).equals(bytes)).toBe(true)
    },
  )

  test('a file that is no transcript is told so and left alone', async () => {
    const file = folder.writeBytes('package.json', '{\n  "name": "mine"\n}\n')
    const { exitCode, stderr } = await everlong(['pin', file, 'x'])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('does not look like a transcript')])
    expect(readFileSync(file, 'utf8')).toBe('{\n  "name": "mine"\n}\n')
  })
})
