import { describe, expect, test } from 'vitest'
import type { ViewMessage } from '../message/message.ts'
import { doNow } from '../text/slices.ts'
import { findingUnknownNames } from './check.ts'

const messages: readonly ViewMessage[] = [
  { role: 'user', origin: 'human', content: 'Look at https://a.example/docs and port 8080.' },
  {
    role: 'assistant',
    origin: 'assistant',
    content: [{ type: 'tool_use', id: 't', name: 'Read', input: { file_path: '/p/src/core/parse.ts', limit: 1234 } }],
  },
  {
    role: 'user',
    origin: 'tool-result',
    content: [
      { type: 'tool_result', tool_use_id: 't', content: 'export function openDoor(snake_case) {} // 1a2b3c4d' },
    ],
  },
]
const unknown = (summary: string, known: readonly string[] = []) =>
  doNow(findingUnknownNames(summary, { messages, known }))

describe('names in a summary', () => {
  test.each([
    'src/core/parse.ts',
    'core/parse.ts',
    './src/core/parse.ts',
    'openDoor',
    'OPENDOOR is openDoor',
    'snake_case',
    '1a2b3c4d',
    'https://a.example/docs',
    'port 8080',
    'limit 1234',
    'total/4',
    'and/or',
    'x < 10',
    'well-known',
    '99 percent',
  ])('that are in the source, or are no names, are not reported: %s', (summary) => {
    expect(unknown(summary)).toEqual([])
  })

  test.each([
    ['src/core/parser.ts', 'src/core/parser.ts'],
    ['Call openWindow now.', 'openWindow'],
    ['Set other_case to 1.', 'other_case'],
    ['Commit 9f8e7d6c.', '9f8e7d6c'],
    ['See https://b.example/docs.', 'https://b.example/docs.'],
    ['On port 9090.', '9090'],
  ])('that are found nowhere are: %s', (summary, name) => {
    expect(unknown(summary)).toEqual([name])
  })

  test('each once, sixteen at the most, and what earlier rounds knew counts', () => {
    expect(unknown('openWindow openWindow')).toEqual(['openWindow'])
    expect(unknown('openWindow', ['openWindow(1)'])).toEqual([])
    const many = Array.from({ length: 30 }, (_, at) => `openWindow${at}x`).join(' ')
    expect(unknown(many)).toHaveLength(16)
  })
})
