// One short line for each tool call: what it was about, and what came of it. What tools say is untrusted: it is made
// harmless and cut by whoever prints it.
import { arrayAt, stringAt } from 'everlong/transcript'

export type FinishedCall = {
  readonly name: string
  readonly input: unknown
  readonly output: string
  readonly isError: boolean
}

export function subjectOf({ name, input }: Pick<FinishedCall, 'name' | 'input'>, root: string): string {
  const path = stringAt(input, 'file_path')
  if (path !== undefined) return withoutRoot(path, root)
  const pattern = stringAt(input, 'pattern') ?? stringAt(input, 'query')
  const todos = arrayAt(input, 'todos').length
  return stringAt(input, 'command') ?? (pattern !== undefined ? `“${pattern}”` : todos > 0 ? `${todos} to do` : name)
}

export function outcomeOf({ name, output, isError }: FinishedCall): string {
  const tests = /Tests {2}(.*?)(?: \(\d+\))?$/m.exec(output)?.[1]
  if (tests !== undefined) return tests.replace(' | ', ', ')
  if (isError) return output.split('\n').find((line) => line.trim() !== '') ?? 'failed'
  if (name === 'Edit') return 'changed'
  if (name === 'Write') return 'written'
  const lines = output.trimEnd().split('\n').length
  return name === 'TodoWrite' ? 'noted' : `${lines.toLocaleString('en-US')} ${lines === 1 ? 'line' : 'lines'}`
}

/** Paths as people say them. */
export function withoutRoot(text: string, root: string): string {
  return text.replaceAll(`${root}/`, '')
}
