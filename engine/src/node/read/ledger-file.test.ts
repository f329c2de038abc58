import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { generateSession, serialize } from '../../testing/index.ts'
import { readLedger } from './ledger-file.ts'
import { readTranscript } from './transcript.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-ledger-file-'))
const path = join(folder, 'session.jsonl')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const human = ['Never touch schema.sql from now on.', 'Fix the report.', 'Always run npm test before you commit.']
const linesOf = (seed: number) => {
  return [...generateSession({ seed, turns: 8, boundaries: 1, human })].map(serialize)
}
const rulesIn = () =>
  readTranscript(path)
    .facts()
    .ledger.rules.map(({ text }) => text)

test('whatever was read before, the rules are those of the whole file, and only the rest is read', () => {
  const property = fc.property(
    fc.nat(1_000),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.boolean(),
    (seed, at, isTorn) => {
      const lines = linesOf(seed)
      const cut = Math.round(lines.length * at)
      const torn = lines[cut]?.slice(0, -3) ?? ''
      writeFileSync(path, lines.slice(0, cut).join('') + (isTorn ? torn : ''))
      const { mark } = readLedger(path)
      writeFileSync(path, lines.join(''))
      const { ledger, bytesRead } = readLedger(path, JSON.parse(JSON.stringify(mark)))
      const rules = rulesIn()
      expect(ledger.rules.map(({ text }) => text)).toEqual(rules)
      expect(rules.length).toBeGreaterThan(0)
      if (!isTorn) expect(bytesRead).toBe(Buffer.byteLength(lines.slice(cut).join('')))
    },
  )
  fc.assert(property, { numRuns: 40 })
})

test('a last line that is still being written is read again when it is whole', () => {
  const lines = linesOf(3)
  const rule = serialize({
    type: 'user',
    uuid: 'last',
    sessionId: 's',
    message: { role: 'user', content: 'Never delete the logs.' },
  })
  // Cut anywhere, even after the complete record but before the end of its line.
  for (const cut of [1, 30, rule.length - 5, rule.length - 1]) {
    writeFileSync(path, lines.join('') + rule.slice(0, cut))
    const { mark } = readLedger(path)
    appendFileSync(path, rule.slice(cut))
    const { ledger, bytesRead } = readLedger(path, mark)
    const isThere = ledger.rules.some(({ text }) => text.includes('logs'))
    expect({ cut, isThere, bytesRead }).toEqual({ cut, isThere: true, bytesRead: Buffer.byteLength(rule) })
  }
})

test.each<[string, (lines: readonly string[]) => void]>([
  ['cut short', () => truncateSync(path, 100)],
  ['written anew', (lines) => writeFileSync(path, lines.toReversed().join(''))],
  ['written anew and longer', (lines) => writeFileSync(path, [...linesOf(99), ...lines].join(''))],
])('a file that was %s since is read from its start', (_, change) => {
  const lines = linesOf(1)
  writeFileSync(path, lines.join(''))
  const { mark } = readLedger(path)
  change(lines)
  expect(readLedger(path, mark)).toEqual(readLedger(path))
})

test.each([null, 'text', {}, { bytes: -1, fingerprint: '' }, { bytes: 1e99, fingerprint: 'x' }, { bytes: 0.5 }])(
  'the mark %j is as good as none',
  (mark) => {
    writeFileSync(path, linesOf(2).join(''))
    expect(readLedger(path, mark)).toEqual(readLedger(path))
  },
)

test('nothing new means that nothing is read', () => {
  writeFileSync(path, linesOf(3).join(''))
  const first = readLedger(path)
  const again = readLedger(path, first.mark)
  expect(again.bytesRead).toBe(0)
  expect(again.mark).toEqual(readLedger(path, again.mark).mark)
  appendFileSync(path, linesOf(4).slice(0, 1).join(''))
  expect(readLedger(path, again.mark).bytesRead).toBeGreaterThan(0)
})
