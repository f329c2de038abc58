// One short line for each tool call: its subject and its result. Tool output is untrusted: the caller that prints it
// neutralizes and cuts it. Loads nothing of the engine.

export type FinishedCall = {
  readonly name: string
  readonly input: unknown
  readonly output: string
  readonly isError: boolean
}

export function subjectOf({ name, input }: Pick<FinishedCall, 'name' | 'input'>, root: string): string {
  if (name === 'McpCall') return serverCallOf(input) ?? name
  const path = wordsIn(input, 'file_path')
  if (path !== undefined) return withoutRoot(path, root)
  const pattern = wordsIn(input, 'pattern') ?? wordsIn(input, 'query')
  if (pattern !== undefined) return `“${pattern}”`
  const list = fieldOf(input, 'todos')
  if (Array.isArray(list) && list.length > 0) {
    const done = list.filter((each) => fieldOf(each, 'status') === 'completed').length
    return `${done} of ${list.length} done`
  }
  const named = ['command', 'url', 'skill', 'task_id'].map((key) => wordsIn(input, key))
  return named.find((words) => words !== undefined) ?? taskOf(input) ?? name
}

/** `explore: Find the parser` */
function taskOf(input: unknown): string | undefined {
  const description = wordsIn(input, 'description')
  const type = wordsIn(input, 'subagent_type')
  return type === undefined || description === undefined ? description : `${type}: ${description}`
}

/** `files: echo (text: "hi")` */
function serverCallOf(input: unknown): string | undefined {
  const tool = wordsIn(input, 'tool')
  if (tool === undefined) return undefined
  const [, server, own] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? []
  const given = fieldOf(input, 'arguments')
  const words = Object.entries(typeof given === 'object' && given !== null ? given : {}).map(
    ([key, value]) => `${key}: ${JSON.stringify(value)}`,
  )
  return `${server === undefined ? tool : `${server}: ${own}`}${words.length === 0 ? '' : ` (${words.join(', ')})`}`
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
  if (isError) return (output.split('\n').find((line) => line.trim() !== '') ?? 'failed').replace(untilThen, '')
  if (/^(?:Started in|The user sent (?:it|this command) to) the background as /.test(output)) return 'in the background'
  if (name === 'Edit') return 'changed'
  if (name === 'Write') return 'written'
  if (name === 'TodoWrite') return 'noted'
  if (name === 'EnterPlanMode') return 'plan mode is on'
  if (name === 'ExitPlanMode') return 'you agreed'
  if (name === 'Read' && output === '[image]') return 'an image'
  if (name === 'Read' && unchanged.test(output)) return 'unchanged'
  if (name === 'AskUserQuestion') return answersIn(output)
  const [, refused] = refusedConnections.exec(output) ?? []
  if (refused !== undefined) return `${refused} refused`
  if (/^(?:\(no output\))?\s*$/.test(output)) return 'no output'
  const lines = output.trimEnd().split('\n').length
  // The answer of a server or a search is usually short, and its size means nothing.
  if (lines === 1 && showsAnswer.has(name)) return output.trim()
  return `${lines.toLocaleString('en-US')} ${lines === 1 ? 'line' : 'lines'}`
}

/** `Which color? → green` */
function answersIn(output: string): string {
  const [, ...lines] = output.split('\n')
  return lines.length === 0 ? 'no answer' : lines.join(' ').replaceAll(/\s+/g, ' ')
}

const showsAnswer: ReadonlySet<string> = new Set(['McpCall', 'ToolSearch', 'TaskStop'])
/** The output of a command that was stopped follows on the next lines. */
const untilThen = / Output until then:$/
/** Read's answer for a text that the conversation already contains. */
const unchanged = /^.* is unchanged since you read it: [^\n]*$/

/** The note at the end of a command's output. Some programs report success even if they could not connect. */
const refusedConnections = /\[The sandbox refused connections to ([^\s\]]+(?:, [^\s\]]+)*)\. [^\n]*\]$/

/** Paths as people say them. */
export function withoutRoot(text: string, root: string): string {
  return text.replaceAll(`${root}/`, '')
}
