import { expect, test } from 'vitest'
import type { Item, ItemBlock } from '../../data/api.ts'
import { jsonLinesOf, markdownOf } from './save.ts'

const block = (type: ItemBlock['type'], text: string, tool: string | null = null): ItemBlock => ({
  ...{ type, text, tool, length: text.length, isCut: false, callId: null, isError: false },
})

const item = (blocks: readonly ItemBlock[]): Item => ({
  ...{ index: 0, uuid: null, line: 7, time: null, epoch: 0, type: 'assistant', blocks, tokens: 0 },
  ...{ model: null, isLive: false, compaction: null },
})

test('a selection as Markdown: text as it is, calls and results fenced', () => {
  const blocks = [
    block('text', 'Hello.'),
    block('call', '{ "a": 1 }', 'Bash'),
    block('result', 'done', 'Bash'),
    block('image', ''),
  ]
  expect(markdownOf([item(blocks)])).toBe(
    '### Assistant, line 7\n\nHello.\n\nCall of Bash:\n```\n{ "a": 1 }\n```\n\nResult of Bash:\n```\ndone\n```\n\n[image]\n',
  )
})

test('no text can end its own fence', () => {
  expect(markdownOf([item([block('result', '````\n# Not a heading')])])).toContain(
    '`````\n````\n# Not a heading\n`````',
  )
})

test('JSON Lines: one item on each line', () => {
  const items = [item([block('text', 'a\nb')]), item([])]
  expect(
    jsonLinesOf(items)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(items)
})
