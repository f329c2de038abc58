import { expect, test } from 'vitest'
import { receiptsIn } from './receipt.ts'

const compaction = (name: string) => [
  {
    type: 'system',
    subtype: 'compact_boundary',
    uuid: name,
    compactMetadata: { trigger: 'auto', preTokens: 9, postTokens: 2 },
  },
  { type: 'user', isCompactSummary: true, message: { role: 'user', content: `Summary ${name}.` } },
  { type: 'attachment', attachment: { type: 'file', isRestored: true, filename: `${name}.ts`, content: 'x' } },
]

test('each of several compactions has a receipt of its own: its summary, and what it restored', () => {
  const receipts = receiptsIn([...compaction('one'), ...compaction('two')])
  expect(receipts.map(({ uuid, summary, restored }) => ({ uuid, summary, restored }))).toEqual(
    ['one', 'two'].map((name) => ({
      uuid: name,
      summary: `Summary ${name}.`,
      restored: [{ kind: 'file', title: `${name}.ts` }],
    })),
  )
})
