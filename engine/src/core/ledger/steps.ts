// What the agent did, one line for each step that changed or tried something. Reading and searching is left out: it can be
// done again, and what came of it shows in what was done next.
import type { ToolUseBlock } from '../message/block.ts'
import { stringAt } from '../message/json.ts'
import { pathIn } from '../message/tool-names.ts'
import { commandText, isReadOnly } from './commands.ts'
import type { CommandEnd } from './facts.ts'
import { condensed } from './report.ts'
import { oneLine } from './text.ts'
import { commandOf, patchedFiles, patchOf, todoChange, toolKind } from './tools.ts'

const longestCode = 400
const longestReport = 1_500
const longestSource = 3_000

export type StepResult = {
  readonly text: string
  readonly isError: boolean
  readonly command?: CommandOutcome
  /** What the user asked for in this exchange. */
  readonly request: string
}
export type CommandOutcome = { readonly ended: CommandEnd; readonly outcome: string }

export function stepText(call: ToolUseBlock, result: StepResult): string | undefined {
  const { name, input } = call
  const { text, isError, command } = result
  const path = shortPath(pathIn(input) ?? '')
  const kind = toolKind(name, input)
  const source = isError || command?.ended === 'badly' ? undefined : namedSource(call, result.request)
  if (source !== undefined) return `read what the user pointed at, ${source}: ${condensed(text, longestSource)}`
  if (kind === 'command') return commandStep(commandOf(input), command)
  if (isError) return undefined
  switch (kind) {
    case 'edit':
      return `edited ${path}${codeIn(stringAt(input, 'new_string') ?? stringAt(input, 'newText') ?? stringAt(input, 'new_str'))}`
    case 'write':
      return `wrote ${path}${codeIn(stringAt(input, 'content') ?? stringAt(input, 'file_text'))}`
    case 'patch':
      return `patched ${patchedFiles(patchOf(input))
        .map((file) => shortPath(file.path))
        .join(', ')}`
    case 'agent':
      return `the sub-agent for "${oneLine(stringAt(input, 'description') ?? name, 120)}" reported: ${condensed(text, longestReport)}`
    case 'todo': {
      const change = todoChange(input)
      return change?.type === 'item-changed' && change.status !== undefined
        ? `set todo #${oneLine(change.id, 40)} to ${change.status}`
        : undefined
    }
    default:
      return undefined
  }
}

const shortestName = 6

/** A file, an address or a command that the user named: what it says is part of the request. */
function namedSource({ name, input }: ToolUseBlock, request: string): string | undefined {
  const kind = toolKind(name, input)
  if (kind !== 'read' && kind !== 'fetch' && kind !== 'command') return undefined
  const path = pathIn(input) ?? ''
  const names =
    kind === 'command'
      ? [commandText(commandOf(input))]
      : [path, path.split(/[\\/]/).at(-1) ?? '', stringAt(input, 'url') ?? '']
  const found = names.find((one) => one.length >= shortestName && request.includes(one))
  return found === undefined ? undefined : oneLine(found, 200)
}

const ends = { well: 'ok', badly: 'failed', unfinished: 'not finished when last seen' } as const

function commandStep(command: string, result: CommandOutcome | undefined): string | undefined {
  if (command === '' || result === undefined || (isReadOnly(command) && result.ended === 'well')) return undefined
  const said = result.outcome === '' ? '' : `: ${result.outcome}`
  return `ran \`${commandText(command).replaceAll('`', "'")}\` → ${ends[result.ended]}${said}`
}

function codeIn(text: string | undefined): string {
  return text === undefined || text.trim() === '' ? '' : `: \`${oneLine(text, longestCode).replaceAll('`', "'")}\``
}

/** The end of a path; files being worked on are restored with the whole of it. */
function shortPath(path: string): string {
  return oneLine(path.split(/[\\/]/).slice(-2).join('/'), 120)
}
