// What the agent did, one line for each step that changed or tried something. What it only looked up is kept of the
// latest looks alone: it can be done again, and what came of it shows in what was done next.
import type { ToolUseBlock } from '../message/block.ts'
import { arrayAt, stringAt } from '../message/json.ts'
import { pathIn } from '../message/tool-names.ts'
import { commandText, commitMessage, isHousekeeping, isReadOnly, programOf, purposeOf } from './commands.ts'
import type { CommandEnd, Exchange, Step } from './facts.ts'
import { condensed } from './report.ts'
import { commitsIn } from './repository.ts'
import { oneLine } from './text.ts'
import { commandOf, patchedFiles, patchOf, toolKind } from './tools.ts'

const longestCode = 600
const longestLook = 400
const longestReport = 1_500
const longestSource = 3_000

export type StepResult = {
  readonly text: string
  readonly isError: boolean
  readonly command?: CommandOutcome
  /** What the user asked for in this exchange. */
  readonly request: string
  /** Where the session started: paths inside it are told from there. */
  readonly root?: string | undefined
}
export type CommandOutcome = { readonly ended: CommandEnd; readonly outcome: string }

export function stepOf(call: ToolUseBlock, result: StepResult): Step | undefined {
  const { name, input } = call
  const { text, isError, command } = result
  const kind = toolKind(name, input)
  const source = isError || command?.ended === 'badly' ? undefined : namedSource(call, result.request)
  if (source !== undefined) return { type: 'read', text: `${source}: ${condensed(text, longestSource)}` }
  if (kind === 'command') return commandStep(commandOf(input), result)
  if (isError) return undefined
  const path = shortPath(pathIn(input) ?? '', result.root)
  switch (kind) {
    case 'edit':
      return did(`edited ${path}${editIn(input)}`)
    case 'write':
      return did(`wrote ${path}${codeIn(stringAt(input, 'content') ?? stringAt(input, 'file_text') ?? '')}`)
    case 'patch':
      return did(`patched ${patchedPaths(input, result.root)}${codeIn(addedIn(patchOf(input)))}`)
    case 'agent': {
      const task = oneLine(stringAt(input, 'description') ?? name, 120)
      return did(`the sub-agent for "${task}" reported: ${condensed(withoutFooter(text), longestReport)}`)
    }
    case 'search':
      return look(
        `searched for \`${oneLine(stringAt(input, 'pattern') ?? stringAt(input, 'query') ?? '', 120)}\``,
        text,
      )
    default:
      return undefined
  }
}

function did(text: string): Step {
  return { type: 'did', text }
}

function look(what: string, output: string): Step | undefined {
  const found = oneLine(output, longestLook)
  return found === '' ? undefined : { type: 'saw', text: `${what} → ${found}` }
}

const shortestName = 6

/** A file, an address or a command that the user named: what it says is part of the request. */
function namedSource({ name, input }: ToolUseBlock, request: string): string | undefined {
  const kind = toolKind(name, input)
  if (kind !== 'read' && kind !== 'fetch' && kind !== 'command') return undefined
  const isNamed = (name: string) => name.length >= shortestName && request.includes(name)
  if (kind === 'command') {
    const command = commandText(commandOf(input))
    // Of a command that checks or records the work, how it ended says more than what it printed.
    return purposeOf(command) === 'other' && isNamed(programOf(command)) ? oneLine(command, 200) : undefined
  }
  const path = pathIn(input) ?? ''
  const found = [path, path.split(/[\\/]/).at(-1) ?? '', stringAt(input, 'url') ?? ''].find(isNamed)
  return found === undefined ? undefined : oneLine(found, 200)
}

const ends = { well: 'ok', badly: 'failed', unfinished: 'not finished when last seen' } as const

function commandStep(command: string, { text, command: result }: StepResult): Step | undefined {
  if (command === '' || result === undefined) return undefined
  const ran = `ran \`${commandText(command).replaceAll('`', "'")}\``
  if (result.ended === 'well') {
    if (isReadOnly(command)) return look(ran, text)
    if (isHousekeeping(command)) return undefined
    const made = commitsIn(text).at(-1)
    if (made !== undefined)
      return did(`committed ${made.hash}: ${oneLine(commitMessage(command) ?? made.title, longestCode)}`)
  }
  // Of a command that still runs, the output so far is no outcome.
  const said = result.outcome === '' || result.ended === 'unfinished' ? '' : `: ${result.outcome}`
  return did(`${ran} → ${ends[result.ended]}${said}`)
}

/** What a replacement changed, without the lines around it that stayed. */
function editIn(input: unknown): string {
  const edits = [input, ...arrayAt(input, 'edits')]
  return codeIn(
    edits
      .map(changeIn)
      .filter((change) => change !== '')
      .join(' … '),
  )
}

function changeIn(edit: unknown): string {
  const after = linesIn(stringAt(edit, 'new_string') ?? stringAt(edit, 'newText') ?? stringAt(edit, 'new_str'))
  const before = linesIn(stringAt(edit, 'old_string') ?? stringAt(edit, 'oldText') ?? stringAt(edit, 'old_str'))
  const [isOld, isNew] = [new Set(before), new Set(after)]
  const added = after.filter((line) => !isOld.has(line))
  const removed = before.filter((line) => !isNew.has(line))
  if (added.length === 0) return removed.length === 0 ? '' : `removed ${removed.join(' ')}`
  return removed.length === 1 && added.length === 1 ? `${removed[0]} → ${added[0]}` : added.join(' ')
}

function linesIn(text = ''): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function patchedPaths(input: unknown, root: string | undefined): string {
  return patchedFiles(patchOf(input))
    .map(({ path }) => shortPath(path, root))
    .join(', ')
}

function addedIn(patch: string): string {
  return patch
    .split('\n')
    .filter((line) => line.startsWith('+') && !line.startsWith('+++'))
    .map((line) => line.slice(1).trim())
    .join(' ')
}

/** What clients write behind a sub-agent's report: its id and what it used. */
function withoutFooter(text: string): string {
  const at = text.lastIndexOf('\nagentId: ')
  const end = at < 0 ? text.lastIndexOf('\n<usage>') : at
  return end < 0 ? text : text.slice(0, end)
}

function codeIn(text: string): string {
  return text.trim() === '' ? '' : `: \`${oneLine(text, longestCode).replaceAll('`', "'")}\``
}

/** Inside the session's folder as seen from there, else the end of it; files being worked on are restored with all of it. */
function shortPath(path: string, root = ''): string {
  const isInside = root !== '' && path.startsWith(`${root}/`)
  return oneLine(isInside ? path.slice(root.length + 1) : path.split(/[\\/]/).slice(-2).join('/'), 120)
}

const longestDone = 160

/** Without its steps, but for the last change or else the last command: old exchanges keep no more than that. */
export function withoutSteps({ steps = [], done, ...exchange }: Exchange): Exchange {
  const did = [
    ...(done === undefined ? [] : [done]),
    ...steps.filter(({ type }) => type === 'did').map(({ text }) => text),
  ]
  const isChange = (text: string) => /^(?:edited|wrote|patched|committed) /.test(text)
  const last = did.findLast(isChange) ?? did.findLast((text) => text.startsWith('ran '))
  return last === undefined ? exchange : { ...exchange, done: oneLine(last, longestDone) }
}
