// The real transcripts, when they are at hand: every file of the oracle table, through the command line.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { report, root } from './testing/harness.ts'

const data = join(process.env.EVERLONG_DATA ?? join(root, '..', 'shared', 'data'), 'transcripts')
const manifest = join(data, 'MANIFEST.md')
const isThere = existsSync(manifest)

type Row = Readonly<Record<string, string>>

/** The rows of the table under a heading, by its own column names. */
function tableUnder(heading: string, text: string): readonly Row[] {
  const part = text.slice(text.indexOf(`## ${heading}`)).split('\n## ')[0] ?? ''
  const lines = (part.match(/^\|.*\|$/gm) ?? []).map((line) => line.split('|').slice(1, -1))
  const [names = [], , ...rows] = lines.map((cells) => cells.map((cell) => cell.trim()))
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? ''])))
}

describe.skipIf(!isThere)(
  `the oracle of real transcripts (skipped when there is no ${isThere ? 'data' : manifest})`,
  () => {
    const text = isThere ? readFileSync(manifest, 'utf8') : ''
    const rows = tableUnder('Oracle', text)
    const measured = new Map(tableUnder('Measured', text).map((row) => [row.file, row]))

    test('the table has been found', () => {
      expect(rows.length).toBeGreaterThan(10)
    })

    test.for(rows)('$file', async (row) => {
      const { boundaries, stop, live, salvaged, orphans } = await report('inspect', join(data, row.file ?? ''))
      expect({ boundaries, stop, live, salvaged, orphans }).toEqual({
        boundaries: Number(row.boundaries),
        stop: row.stop,
        live: {
          entries: Number(row.active),
          assistantLines: Number(row['assistant lines']),
          userLines: Number(row['user lines']),
          messages: Number(row.msgs),
          toolUses: Number(row['tool use']),
          toolResults: Number(row['tool result']),
          unpaired: Number(row.unpaired),
        },
        salvaged: Number(row['recovered objects']),
        orphans: Number(measured.get(row.file ?? '')?.orph),
      })
    })
  },
)
