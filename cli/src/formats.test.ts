// Every command that reads a session reads those of other agents.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateCodexRollout, generatePiSession, generateTalk, talkFormats } from 'everlong/internal/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from './testing/harness.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const options = { seed: 7, turns: 8, compactions: 1 }
const sessions = [
  ...talkFormats.map((format) => ({ format, ...generateTalk({ format, ...options }) })),
  { format: 'pi', ...generatePiSession(options) },
  { format: 'codex', ...generateCodexRollout(options) },
] as const

describe.each(sessions)('a session of $format', ({ format, records, truth }) => {
  const file = folder.write(`${format}.jsonl`, records)
  const bytes = readFileSync(file, 'utf8')

  test('is inspected, measured, divided into epochs and searched', async () => {
    expect(await report('inspect', file)).toMatchObject({ format, epochs: truth.compactions + 1 })
    expect((await report<{ epochs: readonly unknown[] }>('epochs', file)).epochs).toHaveLength(truth.compactions + 1)
    expect(await report('context', file)).toMatchObject({ tokens: expect.anything() })
    const { matches } = await report<{ matches: readonly unknown[] }>(
      'recall',
      file,
      '--kind',
      'human',
      '--limit',
      '100',
    )
    // Codex writes down again what a compaction keeps.
    if (format === 'codex') expect(matches.length).toBeGreaterThan(8)
    else expect(matches).toHaveLength(8)
  })

  test('is compacted, and written only where its agent can continue from it', async () => {
    const out = join(folder.path, `${format}-out.jsonl`)
    const { tokens } = await report<{ tokens: { before: number; after: number } }>('compact', file, '--out', out)
    expect(tokens.after).toBeLessThan(tokens.before)
    expect(existsSync(out)).toBe(true)
    // The copy has all of it, and one compaction more.
    const written = format === 'pi' ? 'pi' : 'claude-code'
    expect(await report('inspect', out)).toMatchObject({ format: written, epochs: truth.compactions + 2 })
    if (format === 'pi') return
    const { exitCode, stderr } = await everlong(['compact', file, '--append'])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`another agent (${format}). Use --out`)])
    expect(readFileSync(file, 'utf8')).toBe(bytes)
  })
})

test('the window that Codex writes down is used, unless the person says another or asks for another model', async () => {
  const file = folder.write('codex-window.jsonl', generateCodexRollout(options).records)
  const windowOf = async (...more: readonly string[]) =>
    (await report<{ contextWindow: object }>('explain', file, ...more)).contextWindow
  expect(await windowOf()).toMatchObject({ value: 258_400, source: 'recorded in the session' })
  expect(await windowOf('--window', '100k')).toMatchObject({ value: 100_000, source: '--window' })
  expect(await windowOf('--model', 'claude-haiku-4-5')).toMatchObject({ value: 200_000 })
  const { warning } = await report<{ warning: number }>('micro', file)
  expect(warning).toBe((await report<{ warning: { value: number } }>('explain', file)).warning.value)
})

test('a document over many lines is read like one on a single line', async () => {
  const { records } = generateTalk({ format: 'opencode', ...options })
  const [single, pretty] = [folder.write('single.json', records), join(folder.path, 'pretty.json')]
  writeFileSync(pretty, `${JSON.stringify(records[0], null, 2)}\n`)
  const without = async (file: string) => ({ ...(await report<object>('context', file)), file: '', path: '' })
  expect(await without(pretty)).toEqual(await without(single))
  const found = await report<{ matches: readonly unknown[] }>('recall', pretty, '--kind', 'human', '--limit', '100')
  expect(found.matches).toHaveLength(8)
})
