// A system prompt as long as those of coding agents are, about 9,000 tokens with the tools: made of rules nobody reads.
import { randomFrom } from '../random.ts'

const subjects = ['A file', 'A command', 'A test', 'A commit', 'A dependency', 'A question', 'A secret', 'A plan']
const duties = ['is read before it is changed', 'is named in full', 'stays within the folder', 'is run once, not twice']
const reasons = ['people rely on it', 'it cannot be undone', 'the next reader was not there', 'time is short']

export const systemPrompt: string = (() => {
  const random = randomFrom(20)
  const rule = (_: unknown, at: number) =>
    `${at + 1}. ${random.pick(subjects)} ${random.pick(duties)}, because ${random.pick(reasons)}; see rule ${random.below(400)}.`
  return ['You mend bugs in a repository, with tools.', ...Array.from({ length: 330 }, rule)].join('\n')
})()
