// One short line for each tool call: what it was about, and what came of it. What tools say is untrusted: it is made
// harmless and cut by whoever prints it. Loads nothing of the engine.

export type FinishedCall = {
  readonly name: string
  readonly input: unknown
  readonly output: string
  readonly isError: boolean
}

export function subjectOf({ name, input }: Pick<FinishedCall, 'name' | 'input'>, root: string): string {
  const path = wordsIn(input, 'file_path')
  if (path !== undefined) return withoutRoot(path, root)
  const pattern = wordsIn(input, 'pattern') ?? wordsIn(input, 'query')
  const list = fieldOf(input, 'todos')
  const todos = Array.isArray(list) ? list.length : 0
  return wordsIn(input, 'command') ?? (pattern !== undefined ? `“${pattern}”` : todos > 0 ? `${todos} to do` : name)
}

function wordsIn(input: unknown, name: string): string | undefined {
  const value = fieldOf(input, name)
  return typeof value === 'string' ? value : undefined
}

function fieldOf(input: unknown, name: string): unknown {
  return typeof input === 'object' && input !== null && Object.hasOwn(input, name)
    ? (input as Readonly<Record<string, unknown>>)[name]
    : undefined
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
