import { expect, test } from 'vitest'
import { recordedProse } from './compaction-records.ts'

const opening = 'This session is being continued from a previous conversation that ran out of context.'
const closing = '\n\nPlease continue the conversation from where we left it off.'

test.each([
  [
    'under its heading, behind a scratchpad',
    `${opening}\n\nAnalysis:\nLet me see.\n\nSummary:\n1. Request:\n   A door.${closing}`,
  ],
  ['without a heading, from its first section', `${opening} The summary is below.\n1. Request:\n   A door.${closing}`],
  ['bare, its scratchpad in tags', '<analysis>Hm.</analysis>\n1. Request:\n   A door.'],
])('what the model wrote is found %s', (_, text) => {
  expect(recordedProse(text)).toBe('1. Request:\n   A door.')
})

test('a summary of another make is whole, whatever it numbers', () => {
  const text = '# Checkpoint\n\nBranch main\n\n## Steps\n1. Open the door'
  expect(recordedProse(text)).toBe(text)
})

test('every scratchpad goes, and one that never ends stays', () => {
  const text =
    '<analysis>one</analysis>A door.<analysis>two</analysis>\n\n<analysis>open\n\n\nPlease continue the conversation'
  expect(recordedProse(text)).toBe('A door.\n\n<analysis>open')
})
