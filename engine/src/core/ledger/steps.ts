// What the agent said and did, one line for each step that changed or tried something. Of what it only looked up, the
// latest is kept: it can be looked up again, and what came of it shows in what was done next.
import { condensed, sentenceEnd } from '../text/condense.ts'
import { clippedAtWord } from '../text/cut.ts'
import { pathsOf, type ToolCall } from '../tools/call.ts'
import type { TextEdit } from '../tools/patch.ts'
import { onlyReads, type Purpose, type Script } from '../tools/shell-effects.ts'
import { commitMessage, commitsIn, isHousekeeping, programOf } from './commands.ts'
import type { CommandEnd, Exchange, Step } from './facts.ts'
import { oneLine } from './text.ts'

const longestCode = 600
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
  if (call.type === 'command') return run && commandStep(call.script, run, text)
  if (isError) return undefined
  const paths = pathsOf(call)
    .map((path) => shortPath(path, result.root))
    .join(', ')
  switch (call.type) {
    case 'edit':
      return did(`edited ${paths}${editsText(call.edits)}`)
    case 'write':
      return did(`wrote ${paths}${code([linesIn(call.text ?? '')])}`)
    case 'patch': {
      const added = call.files.map((file) => ({ before: '', after: file.text ?? '' }))
      return did(`patched ${paths}${editsText([...added, ...call.files.flatMap(({ edits }) => edits)])}`)
    }
    case 'agent': {
      const task = oneLine(call.task ?? call.name, 120)
      return did(`the sub-agent for "${task}" reported: ${condensed(withoutFooter(text), longestReport)}`)
    }
    case 'search':
      return look(`searched for \`${oneLine(call.query ?? '', 120)}\``, text)
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

function commandStep(command: string, run: CommandRun, text: string): Step | undefined {
  const { script, line, ended, outcome } = run
  const ran = `ran \`${line.replaceAll('`', "'")}\``
  if (ended === 'well') {
    if (script.commands.every(onlyReads)) return look(ran, text)
    if (script.commands.every(isHousekeeping)) return undefined
    const made = commitsIn(text).at(-1)
    if (made) return did(`committed ${made.hash}: ${oneLine(commitMessage(command) ?? made.title, longestCode)}`)
  }
  // Of a command that still runs, the output so far is no outcome.
  const said = outcome === '' || ended === 'unfinished' ? '' : `: ${outcome}`
  return did(`${ran} → ${ends[ended]}${said}`)
}

function editsText(edits: readonly Pick<TextEdit, 'before' | 'after'>[]): string {
  return code(edits.map(changeIn).filter((change) => change.length > 0))
}

/** What a replacement changed, without the lines around it that stayed. */
function changeIn(edit: Pick<TextEdit, 'before' | 'after'>): readonly string[] {
  const [before, after] = [linesIn(edit.before), linesIn(edit.after)]
  const bare = (lines: readonly string[]) => new Set(lines.map((line) => line.trim()))
  const [isOld, isNew] = [bare(before), bare(after)]
  const added = after.filter((line) => !isOld.has(line.trim()))
  const removed = before.filter((line) => !isNew.has(line.trim())).map((line) => line.trim())
  if (added.length > 0 && (removed.length !== 1 || added.length > 1)) return added
  if (added.length === 1) return [`${removed[0]} → ${added[0]?.trim()}`]
  const more = removed.length > 1 ? ` and ${removed.length - 1} more lines` : ''
  return removed.length === 0 ? [] : [`removed ${removed[0]}${more}`]
}

function linesIn(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

/** One line in backticks, or several in a block of their own. */
function code(parts: readonly (readonly string[])[]): string {
  const lines = parts.flatMap((part, at) => (at === 0 ? part : ['…', ...part]))
  if (lines.length <= 1)
    return lines.length === 0 ? '' : `: \`${oneLine(lines[0] ?? '', longestCode).replaceAll('`', "'")}\``
  const indent = lines.reduce((least, line) => (line === '…' ? least : Math.min(least, line.search(/\S/))), longestCode)
  const shown: string[] = []
  for (let left = longestCode; shown.length < lines.length && left > 0; left -= shown.at(-1)?.length ?? 0) {
    const line = lines[shown.length] ?? ''
    shown.push(clippedAtWord(line === '…' ? line : line.slice(indent), longestCode))
  }
  const rest = lines.length - shown.length
  return `:\n\`\`\`\n${[...shown, ...(rest > 0 ? [`… ${rest} more lines`] : [])].join('\n').replaceAll('```', "'''")}\n\`\`\``
}

/** A step on one line: of a block of code its first line. */
export function briefStep(text: string, longest: number): string {
  const [whole = '', first = ''] = codeBlock.exec(text) ?? []
  if (whole === '') return oneLine(text, longest)
  return oneLine(`${text.slice(0, -whole.length)}: \`${oneLine(first, longest).replaceAll('`', "'")}\` …`, longest)
}

const codeBlock = /:\n```\n(.*)\n[\s\S]*$/

/** A step in at most so many characters; of a block of code whole lines. */
export function clippedStep(text: string, longest: number): string {
  if (text.length <= longest) return text
  if (!codeBlock.test(text)) return condensed(text, longest)
  const lines = text.slice(0, longest).split('\n').slice(0, -1)
  return lines.length < 3 ? briefStep(text, longest) : [...lines, '…', '```'].join('\n')
}

/** What clients write behind a sub-agent's report: its id and what it used. */
function withoutFooter(text: string): string {
  const at = text.lastIndexOf('\nagentId: ')
  const end = at < 0 ? text.lastIndexOf('\n<usage>') : at
  return end < 0 ? text : text.slice(0, end)
}

/** Relative to the session's folder, or the last two names; files being worked on are restored with their full path. */
function shortPath(path: string, root = ''): string {
  const isInside = root !== '' && path.startsWith(`${root}/`)
  return oneLine(isInside ? path.slice(root.length + 1) : path.split(/[\\/]/).slice(-2).join('/'), 120)
}

/** The step where the user stopped the agent. */
export const interrupted = 'was interrupted by the user'

const longestDone = 160

/** Of the steps, only the last change is kept, or else the last command. */
export function withoutSteps({ steps = [], done, ...exchange }: Exchange): Exchange {
  const did = [
    ...(done === undefined ? [] : [done]),
    ...steps.filter(({ type }) => type === 'did').map(({ text }) => text),
  ]
  const isChange = (text: string) => /^(?:edited|wrote|patched|committed) /.test(text)
  const last = did.findLast(isChange) ?? did.findLast((text) => text.startsWith('ran '))
  return last === undefined ? exchange : { ...exchange, done: briefStep(last, longestDone) }
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
