// Adds a conversation of a given size to a session as a host would: questions, calls, results.
import type { Session } from 'everlong/node'

/** About four letters per token. The text is made up and different each time. */
export function prose(tokens: number, seed: number): string {
  const words: string[] = []
  for (let at = 0, state = seed + 1; at < tokens; at++) {
    state = (state * 48_271) % 2_147_483_647
    words.push(vocabulary[state % vocabulary.length] ?? 'word')
  }
  return words.join(' ')
}

const vocabulary = [
  'parse',
  'the',
  'record',
  'before',
  'it',
  'goes',
  'into',
  'a',
  'queue',
  'and',
  'wait',
  'for',
  'lock',
]

/** Rounds of a question, a read, its result and an answer, with about `tokens` tokens per round. */
export function fill(
  session: Session,
  { rounds, tokens, from = 0 }: { readonly rounds: number; readonly tokens: number; readonly from?: number },
): void {
  for (let at = from; at < from + rounds; at++) {
    const id = `toolu_fill_${at}`
    const file_path = `src/file-${at}.ts`
    session.add({ role: 'user', content: `Question ${at + 1}: what does ${file_path} do? Never change it.` })
    session.add({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'Read', input: { file_path } }] })
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: prose(tokens, at) }] })
    session.add({ role: 'assistant', content: `It parses records. Answer ${at + 1}.` })
  }
}
