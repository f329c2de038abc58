// Tool calls as the terminal shows them.
import { createTwoFilesPatch } from 'diff'
import { type JsonObject, stringAt, textOf } from 'everlong/internal'
import type { LoopEvent } from '../../events.ts'
import { outcomeOf, subjectOf, withoutRoot } from '../../render/calls.ts'
import { workLine } from '../../render/work.ts'
import { readTodos } from '../../todos.ts'
import type { Call, UiEvent } from './protocol.ts'

const maxOutput = 40_000
const maxInput = 20_000

export function callOf(
  { toolUseId: id, name, input }: Omit<Extract<LoopEvent, { readonly type: 'tool-started' }>, 'type'>,
  { folder, parent }: { readonly folder: string; readonly parent?: string },
): Call {
  const diff = diffOf(input)
  const todos = name === 'TodoWrite' ? readTodos(input) : undefined
  const plan = name === 'ExitPlanMode' ? stringAt(input, 'plan')?.slice(0, maxInput) : undefined
  return {
    id,
    name,
    subject: subjectOf({ name, input }, folder),
    input: JSON.stringify(input, null, 2)?.slice(0, maxInput) ?? '',
    ...(parent === undefined ? {} : { parent }),
    ...(diff === undefined ? {} : { diff }),
    ...(todos === undefined ? {} : { todos }),
    ...(plan === undefined ? {} : { plan }),
  }
}

type Result = Pick<Extract<LoopEvent, { readonly type: 'tool-finished' }>, 'content' | 'isError' | 'diff'>

/** The work of a sub-agent. */
export type Work = { readonly calls: number; readonly tokens: number; readonly cost?: number }

export function finishedCall(
  call: Call,
  { content, isError, diff: reported }: Result,
  folder: string,
  work?: Work,
): UiEvent {
  const { diff: ofInput, ...rest } = call
  const diff = reported ?? ofInput
  const { name } = call
  const output = outputOf(content)
  const own = withoutRoot(outcomeOf({ name, input: undefined, output, isError }), folder)
  const outcome = work === undefined ? own : `${own}, ${workLine(work)}`
  const shown = { ...rest, output: output.slice(0, maxOutput), outcome, isError }
  return { type: 'call-finished', call: diff === undefined || isError ? shown : { ...shown, diff } }
}

/** The diff of an edit, from its replaced text. The position in the file is unknown, so there are no line numbers. */
function diffOf(input: unknown): string | undefined {
  const [before, after] = [stringAt(input, 'old_string'), stringAt(input, 'new_string')]
  const path = stringAt(input, 'file_path') ?? ''
  if (before === undefined || after === undefined) return undefined
  const patch = createTwoFilesPatch(path, path, `${before}\n`, `${after}\n`, undefined, undefined, {
    context: 3,
    timeout: 200,
  })
  return patch?.replace(/^@@ .*$/gm, '@@')
}

/** Text, or a word for other kinds of content. */
function outputOf(content: string | readonly JsonObject[]): string {
  if (typeof content === 'string') return content
  return content
    .map((block) => (block.type === 'text' ? textOf([block] as never) : `[${String(block.type)}]`))
    .join('\n')
}
