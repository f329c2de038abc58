import type { Message } from 'everlong'
import { describe, expect, test } from 'vitest'
import { clineCut, clineSummary } from './cline.ts'

const typed = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const call = (id: string, name: string, input: object): Message => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name, input }],
})
const result = (id: string, text = 'done'): Message => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: text }],
})
const work = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, nth) => [
    call(`c${from + nth}`, 'Read', { file_path: `src/${from + nth}.ts` }),
    result(`c${from + nth}`, 'x'.repeat(300)),
  ]).flat()

describe('the rule of Cline', () => {
  test('keeps the newest messages until its tokens are used up, and never a result without its request', () => {
    const messages = [typed('Go.'), ...work(0, 10)]
    // A pair is about 165 tokens of three characters: the cut falls on a result and moves back to its request.
    const cut = clineCut(messages, 250)
    expect(messages[cut]).toEqual(call('c8', 'Read', { file_path: 'src/8.ts' }))
  })

  test('keeps the turn that is going on whole, however long it is', () => {
    const messages = [typed('Go.'), ...work(0, 3), typed('And now this.'), ...work(3, 20)]
    expect(clineCut(messages, 140)).toBe(7)
  })

  test('has nothing to summarize where everything fits', () => {
    expect(clineCut([typed('Go.'), ...work(0, 2)], 20_000)).toBe(0)
  })

  test('lists the files that were read and changed under the summary, each once', () => {
    const folded = [...work(1, 2), ...work(0, 2), call('e', 'Edit', { file_path: 'src/b.ts', old_string: 'a' })]
    expect(clineSummary('All is well.\n', folded)).toBe(
      'Context summary:\n\nAll is well.\n\n## Files\nRead:\n- src/0.ts\n- src/1.ts\nModified:\n- src/b.ts',
    )
  })

  test('leaves a summary alone that lists files itself', () => {
    expect(clineSummary('## Files\n- a.ts', work(0, 1))).toBe('Context summary:\n\n## Files\n- a.ts')
  })
})
