// Whatever a file holds, every command comes to an end with a report or one clear line.

import { clientStyles, corrupt, generateSession, generateWithTruth } from 'everlong/internal/testing'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { systemTrouble } from './outcome.ts'
import { everlong, sessionFolder } from './testing/harness.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const commands = ['inspect', 'epochs', 'context', 'explain', 'stats', 'fsck', 'tree'] as const

/** Runs all commands on a file; returns what was not as it has to be. */
async function troubles(file: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const name of commands) {
    const { exitCode, stdout, stderr } = await everlong([name, file])
    const isOneLine = /^(everlong: [^\n]+\n)?$/.test(stderr)
    if (exitCode > 1 || !isOneLine || stderr.includes('should not have happened') || stdout.includes('undefined'))
      found.push(`${name}: ${exitCode} ${stderr}`)
  }
  return found
}

test('files that were broken in every way that was ever seen', async () => {
  for (const [seed, style] of clientStyles.entries()) {
    const { records } = generateWithTruth({ seed, style, turns: 3, boundaries: 1, subagents: 'inline' })
    expect(await troubles(folder.writeBytes('broken.jsonl', corrupt(records, seed).bytes))).toEqual([])
  }
})

test('any bytes whatever', async () => {
  const bytes = fc.uint8Array({ maxLength: 300 })
  await fc.assert(
    fc.asyncProperty(bytes, async (content) => {
      expect(await troubles(folder.writeBytes('bytes.jsonl', content))).toEqual([])
    }),
    { numRuns: 30 },
  )
})

test('any JSON in place of any field', async () => {
  const [first] = generateSession({ seed: 1, style: '2.0', turns: 1 })
  const fields = [
    'type',
    'uuid',
    'parentUuid',
    'message',
    'timestamp',
    'subtype',
    'compactMetadata',
    'attachment',
    'sessionId',
  ]
  const record = fc.record({
    field: fc.constantFrom(...fields),
    value: fc.jsonValue({ maxDepth: 2 }),
    type: fc.constantFrom('user', 'assistant', 'system', 'attachment'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(record, { maxLength: 6 }), async (changes) => {
      const records = changes.map(({ field, value, type }, index) => ({
        ...first,
        uuid: `u${index}`,
        type,
        [field]: value,
      }))
      expect(await troubles(folder.write('fields.jsonl', records))).toEqual([])
    }),
    { numRuns: 60 },
  )
})

test('what the system says is told in plain words; what it did not say is not taken for it', () => {
  const told = (code: string, path?: string) =>
    systemTrouble('x', Object.assign(new Error('no'), { code, syscall: 'open', ...(path && { path }) }))
  expect([
    told('EACCES', 'a.jsonl'),
    told('ENOENT', 'a.jsonl'),
    told('EMFILE'),
    systemTrouble('x', new TypeError('a fault')),
  ]).toEqual([
    'a.jsonl: permission denied. Run as another user, or change the mode.',
    'a.jsonl: no such file or folder. Check the name.',
    'x: no',
    undefined,
  ])
})
