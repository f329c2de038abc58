// Every command that reads a session reads those of other agents.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateCodexRollout, generatePiSession, generateTalk, talkFormats } from 'everlong/testing'
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

  test('is compacted, and written only where its agent can go on from it', async () => {
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

test('a document over many lines is read like one on a single line', async () => {
  const { records } = generateTalk({ format: 'opencode', ...options })
  const [single, pretty] = [folder.write('single.json', records), join(folder.path, 'pretty.json')]
  writeFileSync(pretty, `${JSON.stringify(records[0], null, 2)}\n`)
  const without = async (file: string) => ({ ...(await report<object>('context', file)), file: '', path: '' })
  expect(await without(pretty)).toEqual(await without(single))
  const found = await report<{ matches: readonly unknown[] }>('recall', pretty, '--kind', 'human', '--limit', '100')
  expect(found.matches).toHaveLength(8)
})
