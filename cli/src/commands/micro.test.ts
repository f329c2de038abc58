import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { reductions } from 'everlong/internal/compaction'
import { acquireLease } from 'everlong/internal/node'
import { generateCodexRollout, session } from 'everlong/internal/testing'
import { openArchive } from 'everlong/node'
import { afterAll, describe, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../testing/harness.ts'
import type { ContextReport } from './context/report.ts'
import type { UndoReport } from './edit/undo.ts'
import type { MicroReport } from './micro/report.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const model = 'claude-opus-4-8'
/** About so many tokens by any estimate. */
const text = (tokens: number) => 'word '.repeat(tokens)

let files = 0
/** Six commands, the results of about 12,000 tokens each. */
function busy(
  answers: { readonly model: string; readonly thinks?: boolean } = { model },
  id = (at: number) => `t${at}`,
) {
  const told = session({ startTime: '2026-03-02T09:00:00.000Z' }).user('go')
  for (let at = 1; at <= 6; at++) {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
    const call = { type: 'tool_use', id: id(at), name: 'Bash', input: { command: `run ${at}` } }
    told.assistant(answers.thinks ? [thought, call] : [call], { model: answers.model })
    told.toolResult(id(at), `${at} ${text(12_000)}`)
  }
  told.assistant('done', { model: answers.model, tokens: { input: 130_000, output: 20 } })
  return folder.write(`busy-${files++}.jsonl`, told.records)
}

const later = ['--now', '2026-03-02T11:00:00Z']
const soon = ['--now', '2026-03-02T09:02:00Z']
const outcomes = ({ reductions: all }: MicroReport) =>
  Object.fromEntries(all.map(({ mechanism, why, freed }) => [mechanism, why ?? (freed > 0 ? 'frees' : 'waits')]))
const reductionNamed = ({ reductions: all }: MicroReport, name: string) =>
  all.find(({ mechanism }) => mechanism === name)

describe('the dry run', () => {
  test('says of every mechanism what it would do or why not, and leaves the folder as it was', async () => {
    const file = busy()
    const before = readdirSync(folder.path)
    const bytes = readFileSync(file)
    const found = await report<MicroReport>('micro', file, ...later)
    expect(found.reductions.map(({ mechanism }) => mechanism)).toEqual(reductions.map(({ name }) => name))
    expect(outcomes(found)).toMatchObject({
      'micro-by-size': 'below-warning',
      'micro-by-idle': 'frees',
      'micro-by-cache-edit': 'cache-not-warm',
      native: 'waits',
    })
    expect(found.applied).toBe(null)
    expect(readdirSync(folder.path)).toEqual(before)
    expect(readFileSync(file).equals(bytes)).toBe(true)
  })

  test('has the documented shape', async () => {
    const found = await report<MicroReport>('micro', busy(), ...soon, '--always', '--turns', '100')
    const bySize = reductionNamed(found, 'micro-by-size')
    const native = reductionNamed(found, 'native')
    expect(Object.keys(found)).toEqual(['path', 'model', 'now', 'size', 'warning', 'cache', 'reductions', 'applied'])
    expect(found).toMatchObject({ model, now: Date.parse('2026-03-02T09:02:00Z'), cache: { type: 'warm' } })
    const keys = ['mechanism', 'type', 'why', 'reason', 'freed', 'thinking', 'items', 'edits', 'request', 'way']
    for (const reduction of found.reductions) {
      expect(Object.keys(reduction).toSorted()).toEqual([...keys, 'worth', 'sum'].toSorted())
    }
    expect(bySize).toMatchObject({
      type: 'planned',
      why: null,
      way: 'edits',
      thinking: 'untouched',
      request: null,
      edits: [{ type: 'clear-results', toolUseIds: ['t1', 't2', 't3'], mechanism: 'micro-by-size' }],
    })
    expect(bySize?.items[0]).toEqual({
      type: 'result',
      toolUseId: 't1',
      tool: 'Bash',
      stub: 'Bash(run 1): 1 line, "word word word word word word word word word word…"',
      uuids: [expect.any(String)],
      message: 2,
      tokens: expect.any(Number),
      frees: expect.any(Number),
      why: 'among the oldest',
    })
    const { freed = 0, suffix = 0, saved, cost, pays } = bySize?.worth ?? {}
    expect({ saved, cost, pays }).toEqual({
      saved: expect.closeTo(freed * 100 * 0.1, 0),
      cost: expect.closeTo(suffix * 1.9, 0),
      pays: true,
    })
    expect(bySize?.sum).toContain('tokens × 100 turns × 0.1 save')
    expect(native).toMatchObject({ way: 'request', edits: [], request: { betas: [expect.any(String)] } })
  })

  test('takes names, numbers and a clock', async () => {
    const file = busy()
    const only = await report<MicroReport>('micro', file, ...later, '--mechanism', 'by-idle', '--keep', '1')
    expect(only.reductions.map(({ items }) => items.map(({ toolUseId }) => toolUseId))).toEqual([
      ['t1', 't2', 't3', 't4', 't5'],
    ])
    const each = only.reductions[0]?.items[0]?.tokens ?? 0
    const two = ['--mechanism', 'native', '--mechanism', 'micro-by-size', '--window', '100k']
    const target = ['--target', String(6 * each - 1)]
    const little = await report<MicroReport>('micro', file, ...two, ...later, ...target, '--least', String(each + 1))
    expect(outcomes(little)).toEqual({ 'micro-by-size': 'too-little', native: 'waits' })
    const enough = await report<MicroReport>('micro', file, ...two, ...later, ...target, '--least', String(each))
    expect(outcomes(enough)).toEqual({ 'micro-by-size': 'frees', native: 'waits' })
  })

  test('waits while the cache is warm and it does not pay, and shows the sum', async () => {
    const { stdout } = await everlong(['micro', busy(), ...soon, '--always', '--turns', '1'])
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /micro-by-size nothing to do .* does not pay .* it would after \d+ turns/,
    )
  })

  test('names the mechanisms to choose from when it is given another name', async () => {
    const { exitCode, stderr } = await everlong(['micro', busy(), '--mechanism', 'by-size', '--mechanism', 'magic'])
    const names = reductions.map(({ name }) => name.replace('micro-', '')).join(', ')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`'magic' is invalid. Choose from ${names}.`)])
  })
})

describe('--apply', () => {
  test('refuses to store results through a link beside the session, and leaves both sides as they were', async () => {
    const file = busy()
    const elsewhere = sessionFolder()
    symlinkSync(elsewhere.path, file.replace(/\.jsonl$/, ''))
    const bytes = readFileSync(file)
    const { exitCode, stderr } = await everlong(['micro', file, ...later, '--apply'])
    expect([exitCode, stderr]).toEqual([
      1,
      `everlong: nothing was changed. ${file.replace(/\.jsonl$/, '')} is a symbolic link, and Everlong does not write through links. Remove the link and try again.\n`,
    ])
    expect(readdirSync(elsewhere.path)).toEqual([])
    expect(readFileSync(file).equals(bytes)).toBe(true)
    elsewhere.remove()
  })

  test('refuses a transcript that is itself a link', async () => {
    const link = join(folder.path, 'linked.jsonl')
    symlinkSync(busy(), link)
    const { exitCode, stderr } = await everlong(['micro', link, ...later, '--apply'])
    expect([exitCode, stderr]).toEqual([
      1,
      `everlong: nothing was changed. ${link}: symbolic links are not followed here. Name the file itself.\n`,
    ])
  })

  test('puts the originals beside the session, appends the edit, and says how to take it back', async () => {
    const file = busy()
    const bytes = readFileSync(file)
    const { exitCode, stdout, stderr } = await everlong(['micro', file, ...later, '--apply'])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain('Applied micro-by-idle')
    expect(stdout.replace(/\s+/g, ' ')).toContain(`To undo it: everlong undo ${file}`)
    const after = readFileSync(file)
    expect(after.subarray(0, bytes.length).equals(bytes)).toBe(true)
    expect(JSON.parse(after.subarray(bytes.length).toString())).toMatchObject({
      subtype: 'everlong_edit',
      everlong: { edit: { type: 'clear-results', toolUseIds: ['t1'], mechanism: 'micro-by-idle' } },
    })
    const results = join(file.replace('.jsonl', ''), 'tool-results')
    expect(readdirSync(results)).toEqual(['t1.txt'])
    expect(readFileSync(join(results, 't1.txt'), 'utf8')).toBe(`1 ${text(12_000)}`)
  })

  test('applies what a session would do first, if several mechanisms would edit it', async () => {
    const words = ['micro', busy(), ...later, '--always']
    const shown = await report<MicroReport>(...words)
    expect(outcomes(shown)).toMatchObject({ 'micro-by-size': 'frees', 'micro-by-idle': 'frees' })
    expect((await report<MicroReport>(...words, '--apply')).applied).toMatchObject({ mechanism: 'micro-by-idle' })
  })

  test('applies what the dry run showed, once; the gauge knows; undo gives everything back', async () => {
    const file = busy()
    const words = [file, ...later, '--mechanism', 'by-size', '--always']
    const sizeNow = async () => (await report<ContextReport>('context', file)).size.tokens
    const before = await sizeNow()
    const shown = await report<MicroReport>('micro', ...words)
    const applied = await report<MicroReport>('micro', ...words, '--apply')
    expect(applied.reductions).toEqual(shown.reductions)
    expect(applied.applied).toMatchObject({ mechanism: 'micro-by-size', uuids: [expect.any(String)] })
    const freed = shown.reductions[0]?.freed ?? 0
    expect(await sizeNow()).toBe(before - freed)
    expect(applied.applied?.size.tokens).toBe(before - freed)
    expect((await everlong(['context', file])).stdout.replace(/\s+/g, ' ')).toMatch(
      /reported, less [\d,]+ that went since/,
    )
    const again = await everlong(['micro', ...words, '--apply'])
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('nothing was changed')])
    const undone = await report<UndoReport>('undo', file)
    expect(undone.undone).toEqual([
      { uuid: applied.applied?.uuids[0], type: 'clear-results', mechanism: 'micro-by-size' },
    ])
    expect(await sizeNow()).toBe(before)
    const restored = await report<MicroReport>('micro', ...words)
    expect(restored.reductions[0]?.edits).toEqual(shown.reductions[0]?.edits)
  })

  test('takes thinking along on a model that binds it, and undo takes both edits back', async () => {
    const file = busy({ model: 'claude-opus-5-5', thinks: true })
    const words = [file, ...later, '--mechanism', 'by-size', '--always']
    const { applied } = await report<MicroReport>('micro', ...words, '--apply')
    expect(applied?.uuids).toHaveLength(2)
    const { undone } = await report<UndoReport>('undo', file)
    expect(undone.map(({ type }) => type)).toEqual(['clear-thinking', 'clear-results'])
    expect((await everlong(['undo', file])).exitCode).toBe(1)
  })

  test('with hostile ids writes inside the folder only, and all of it can be recalled', async () => {
    const file = busy({ model }, (at) => `../../evil/${at}`)
    const { applied } = await report<MicroReport>('micro', file, ...later, '--apply', '--keep', '4')
    const results = join(file.replace('.jsonl', ''), 'tool-results')
    expect(applied?.stored.written).toHaveLength(2)
    expect(readdirSync(results)).toHaveLength(2)
    expect(existsSync(join(folder.path, 'evil'))).toBe(false)
    const archive = openArchive(file, { folder: false })
    expect(archive.toolResult('../../evil/1')?.content).toBe(`1 ${text(12_000)}`)
    archive.close()
  })

  test('keeps a file that is there', async () => {
    const file = busy()
    const results = join(file.replace('.jsonl', ''), 'tool-results')
    mkdirSync(results, { recursive: true })
    writeFileSync(join(results, 't1.txt'), 'mine')
    const { applied } = await report<MicroReport>('micro', file, ...later, '--apply')
    expect(applied?.stored).toMatchObject({ written: [], kept: [join(results, 't1.txt')] })
    expect(readFileSync(join(results, 't1.txt'), 'utf8')).toBe('mine')
  })

  test('is refused while somebody else writes', async () => {
    const file = busy()
    const bytes = readFileSync(file)
    const held = acquireLease(file, { owner: 'the agent' })
    if (held.type !== 'acquired') throw new Error('not acquired')
    const { exitCode, stderr } = await everlong(['micro', file, ...later, '--apply'])
    held.lease.release()
    expect([exitCode, stderr.trim().split('\n').length]).toEqual([1, 1])
    expect(stderr).toContain('is being written by the agent')
    expect(readFileSync(file).equals(bytes)).toBe(true)
  })

  test('does not write what is a matter of the next request, nor into sessions of others', async () => {
    const native = await everlong(['micro', busy(), '--mechanism', 'native', '--apply'])
    expect([native.exitCode, native.stderr]).toEqual([1, expect.stringContaining('of the next request')])
    const rollout = folder.write('rollout.jsonl', generateCodexRollout({ seed: 4, turns: 30 }).records)
    const bytes = readFileSync(rollout)
    const words = ['micro', rollout, '--apply', '--mechanism', 'by-size', '--always', '--target', '1', '--least', '1']
    const { exitCode } = await everlong(words)
    expect(exitCode).toBe(1)
    expect(readFileSync(rollout).equals(bytes)).toBe(true)
  })
})

describe('undo', () => {
  test('can itself be taken back', async () => {
    const file = busy()
    const { applied } = await report<MicroReport>('micro', file, ...later, '--apply')
    const undone = await report<UndoReport>('undo', file)
    const { after } = await report<UndoReport>('undo', file, '--edit', undone.uuids[0] ?? '')
    expect(after.tokens).toBe(applied?.size.tokens)
  })

  test('has nothing to do in a session that nobody edited, and says so', async () => {
    const { exitCode, stderr } = await everlong(['undo', busy()])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('no edit and no compaction is active')])
    const other = await everlong(['undo', busy(), '--edit', 'nobody'])
    expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining('nobody is neither an active edit')])
  })
})

describe('a wrong command line', () => {
  test.each([
    [['micro']],
    [['micro', 'x.jsonl', '--mechanism', 'magic']],
    [['micro', 'x.jsonl', '--now', 'soon']],
    [['micro', 'x.jsonl', '--keep', 'some']],
    [['undo']],
  ])('%j ends with 2 and one line', async (words) => {
    const { exitCode, stdout, stderr } = await everlong(words)
    expect([exitCode, stdout, stderr.trim().split('\n').length]).toEqual([2, '', 1])
  })

  test.each([['micro'], ['undo']])('%s of a file that is not there ends with 1 and one line', async (name) => {
    const { exitCode, stderr } = await everlong([
      name,
      join(folder.path, 'none.jsonl'),
      ...(name === 'micro' ? ['--apply'] : []),
    ])
    expect([exitCode, stderr.trim().split('\n').length]).toEqual([1, 1])
    expect(existsSync(join(folder.path, 'none.jsonl'))).toBe(false)
  })

  test('an empty file is no transcript', async () => {
    const { exitCode, stderr } = await everlong(['micro', folder.writeBytes('empty.jsonl', ''), '--apply'])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('is empty')])
  })
})
