// What the agent said and did, one line for each step that changed or tried something. Of what it only looked up, the
// latest is kept: it can be looked up again, and what came of it shows in what was done next.
import { condensed, sentenceEnd } from '../text/condense.ts'
import { changedBy, type ToolCall } from '../tools/call.ts'
import { addedLines } from '../tools/patch.ts'
import { onlyReads, type Purpose, type Script } from '../tools/shell-effects.ts'
import { isHousekeeping, programOf } from './commands.ts'
import type { CommandEnd, Exchange, Step } from './facts.ts'
import { commitsIn } from './git.ts'
import { oneLine } from './text.ts'

const longestLook = 400
const longestReport = 1_500
const longestSource = 6_000

export type StepResult = {
  readonly text: string
  readonly isError: boolean
  /** Of a command. */
  readonly run?: CommandRun
  /** What the user asked for, in this exchange and those before it. */
  readonly request: string
  /** Where the session started: paths inside it are shown relative to it. */
  readonly root?: string | undefined
}

export type CommandRun = {
  readonly script: Script
  /** As it is shown. */
  readonly line: string
  readonly purpose: Purpose
  readonly ended: CommandEnd
  readonly outcome: string
}

export function stepOf(call: ToolCall, result: StepResult): Step | undefined {
  const { text, isError, run } = result
  const source = isError || run?.ended === 'badly' ? undefined : namedSource(call, result)
  if (source !== undefined) return { type: 'read', text: `${source}: ${condensed(text, longestSource)}` }
  if (call.type === 'command') return run && commandStep(run, text)
  if (isError) return undefined
  const changed = changedBy(call).map((path) => shortPath(path, result.root))
  if (changed.length > 0) {
    return did(`${call.type === 'write' ? 'wrote' : 'edited'} ${changed.join(', ')}${addedText(call)}`)
  }
  if (call.type === 'agent') {
    const task = oneLine(call.task ?? call.name, 120)
    return did(`the sub-agent for "${task}" reported: ${condensed(withoutTrailer(text), longestReport)}`)
  }
  if (call.type === 'read' && call.path !== undefined)
    return { type: 'opened', text: `read ${shortPath(call.path, result.root)}` }
  return call.type === 'search' ? look(`searched for \`${oneLine(call.query ?? '', 120)}\``, text) : undefined
}

/**
 * What the client adds for the model after a sub-agent's report:
 *
 *     agentId: a93ccab (for resuming to continue this agent's work if needed)
 *     <usage>total_tokens: 49100 …</usage>
 */
function withoutTrailer(report: string): string {
  const text = report.trimEnd()
  const usage = text.endsWith('</usage>') ? text.lastIndexOf('<usage>') : -1
  const rest = usage < 0 ? text : text.slice(0, usage).trimEnd()
  const line = rest.lastIndexOf('\n') + 1
  return rest.startsWith('agentId: ', line) ? rest.slice(0, line).trimEnd() : rest
}

/** A single line that was put in. More of them are in the file, which is restored as it is now. */
function addedText(call: ToolCall): string {
  const edits =
    call.type === 'patch' ? call.files.flatMap((file) => file.edits) : call.type === 'edit' ? call.edits : []
  const [line, ...more] = addedLines(edits)
  return line === undefined || more.length > 0 ? '' : `: \`${oneLine(line, 240).replaceAll('`', "'")}\``
}

function did(text: string): Step {
  return { type: 'did', text }
}

function look(what: string, output: string): Step | undefined {
  const found = oneLine(output, longestLook)
  return found === '' ? undefined : { type: 'saw', text: `${what} → ${found}` }
}

/** A shorter name may stand in a request by chance. */
const shortestName = 6

/** A file, an address or a command that the user named: what it says is part of the request. */
function namedSource(call: ToolCall, { request, run }: StepResult): string | undefined {
  const isNamed = (name: string) => name.length >= shortestName && request.includes(name)
  if (call.type === 'command') {
    // Of a command that checks or records the work, how it ended says more than what it printed.
    const isSource = run?.purpose === 'other' && isNamed(programOf(run.script.commands))
    return isSource ? oneLine(run.line, 200) : undefined
  }
  const url = call.type === 'fetch' ? (call.url ?? '') : ''
  const path = call.type === 'read' ? (call.path ?? '') : ''
  const found = [path, path.split(/[\\/]/).at(-1) ?? '', url].find(isNamed)
  return found === undefined ? undefined : oneLine(found, 200)
}

const ends = { well: 'ok', badly: 'failed', unfinished: 'not finished when last seen' } as const

function commandStep(run: CommandRun, text: string): Step | undefined {
  const { script, line, ended, outcome } = run
  const ran = `ran \`${line.replaceAll('`', "'")}\``
  if (ended === 'well') {
    if (script.commands.every(onlyReads)) return look(ran, text)
    if (script.commands.every(isHousekeeping)) return undefined
    const made = commitsIn(text).at(-1)
    if (made) return did(`committed ${made.hash}: ${made.title}`)
  }
  // Of a command that still runs, the output so far is no outcome.
  const said = outcome === '' || ended === 'unfinished' ? '' : `: ${outcome}`
  return did(`${ran} → ${ends[ended]}${said}`)
}

/** Relative to the session's folder, or the last two names; files being worked on are restored with their full path. */
function shortPath(path: string, root = ''): string {
  const isInside = root !== '' && path.startsWith(`${root}/`)
  return oneLine(isInside ? path.slice(root.length + 1) : path.split(/[\\/]/).slice(-2).join('/'), 120)
}

/** The step where the user stopped the agent. */
export const interrupted = 'was interrupted by the user'

const longestDone = 160

/** Of the steps, only the last change is kept, or else the last command, or else the last file that was read. */
export function withoutSteps({ steps = [], done, ...exchange }: Exchange): Exchange {
  const did = [
    ...(done === undefined ? [] : [done]),
    ...steps.filter(({ type }) => type === 'did' || type === 'opened').map(({ text }) => text),
  ]
  const kinds = [/^(?:edited|wrote|committed) /, /^ran /, /^read /]
  const last = kinds.map((kind) => did.findLast((text) => kind.test(text))).find((text) => text !== undefined)
  return last === undefined ? exchange : { ...exchange, done: oneLine(last, longestDone) }
}

/** A sentence that only says what the agent does next. Once it is done, the step itself says so. */
const announces =
  /^(?:(?:now|next|first|then|ok(?:ay)?|good|great|perfect|right|alright)[,.!]? )*(?:let me (?!know)|let's |I'll (?!wait|leave|hold)|I will (?!wait|leave|hold)|I need to |I'm going to |now (?!the |this |that |it |it's |we |I |you |all |both |there |they |everything |a |an |no |only )[a-z])[^!?]{0,300}[.:!…]?$/i

/** The text without the announcements at its end; empty when it is nothing else. */
export function withoutAnnouncement(text: string): string {
  const lines = text.trimEnd().split('\n')
  for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
    const sentences = line.split(sentenceEnd)
    while (sentences.length > 0 && announces.test(sentences.at(-1)?.trim() ?? '')) sentences.pop()
    const rest = sentences.join(' ').trimEnd()
    if (rest !== '') return [...lines, rest].join('\n')
  }
  return ''
}
