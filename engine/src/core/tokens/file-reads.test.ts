import { describe, expect, test } from 'vitest'
import type { Message } from '../message/message.ts'
import { duplicateReads } from './file-reads.ts'

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1} of the file`).join('\n')

function reads(...results: readonly (readonly [JSON: object, text: string])[]): readonly Message[] {
  return results.flatMap(([input, content], at): readonly Message[] => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: '/a', ...input } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content }] },
  ])
}

const duplicates = (messages: readonly Message[]) => duplicateReads(messages).map(({ toolUseId }) => toolUseId)

describe('a read that was asked to go to the end', () => {
  const tail = [{ offset: 2_500, limit: 100 }, lines(100)] as const

  test('brings everything again when it did', () => {
    expect(duplicates(reads([{ offset: 90, limit: 10 }, lines(10)], [{}, lines(120)]))).toEqual(['t0'])
  })

  test('and was ended by the client does not bring again what lies after its end', () => {
    expect(duplicates(reads(tail, [{}, lines(2_000)]))).toEqual([])
    expect(duplicates(reads([{ offset: 900, limit: 100 }, lines(100)], [{}, lines(2_000)]))).toEqual(['t0'])
  })

  test('and says that it was cut short, neither', () => {
    expect(duplicates(reads(tail, [{}, `${lines(700)}\n[Output truncated]`]))).toEqual([])
  })
})
