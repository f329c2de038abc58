// The steps of the agent, one line each: `edited src/gate.ts`, `ran \`npm test\` → failed: 3 failed`, `searched for \`gate\` →
// src/gate.ts:4`. The text of a file is kept only if the user pointed at the file.
import { condensed, sentenceEnd, withoutCode } from '../text/cut.ts'
import { oneLine } from '../text/neutralize.ts'
import { changedBy, type ToolCall } from '../tools/call.ts'
import { isHousekeeping, programOf } from '../tools/commands.ts'
import { addedLines } from '../tools/patch.ts'
import { onlyReads, type Purpose, type Script } from '../tools/shell-effects.ts'
import type { CommandEnd, Exchange, Step } from './facts.ts'
import { commitsIn } from './git.ts'

/** Maximum characters of a search result, a sub-agent's report, and a text that the user pointed at. */
const maxLook = 400
const maxReport = 1_500
const maxSource = 6_000

export type StepResult = {
  readonly text: string
  readonly isError: boolean
  /** Set for a command. */
  readonly run?: CommandRun
  /** The user's words in this exchange and in recent ones. */
  readonly request: string
  /** The folder in which the session started. Paths inside it are shown relative to it. */
  readonly root?: string | undefined
}

export type CommandRun = {
  readonly script: Script
  /** The command as it is shown. */
  readonly line: string
  readonly purpose: Purpose
  readonly ended: CommandEnd
  readonly outcome: string
}

/**
 * A write → "wrote src/gate.ts"; a sub-agent → "the sub-agent for "Paint the gate" reported: It is green."; a read → "read
 * src/gate.ts"; a page → "fetched https://gate.example → Gates". A failed call other than a command → undefined, because the
 * ledger has it as an error.
 */
export function stepOf(call: ToolCall, result: StepResult): Step | undefined {
  const { text, isError, run } = result
  const source = isError || run?.ended === 'badly' ? undefined : namedSource(call, result)
  if (source !== undefined) return { type: 'read', text: `${source}: ${condensed(text, maxSource)}` }
  if (call.type === 'command') return run && commandStep(run, text)
  if (isError) return undefined
  const changed = changedBy(call).map((path) => shortPath(path, result.root))
  if (changed.length > 0) {
    return did(`${call.type === 'write' ? 'wrote' : 'edited'} ${changed.join(', ')}${addedText(call)}`)
  }
  if (call.type === 'agent') {
    const task = oneLine(call.task ?? call.name, 120)
    return did(
      `the sub-agent for "${task}" reported: ${condensed(withoutCode(text.replace(trailer, '').trim()), maxReport)}`,
    )
  }
  if (call.type === 'read' && call.path !== undefined)
    return { type: 'opened', text: `read ${shortPath(call.path, result.root)}` }
  if (call.type === 'fetch' && call.url !== undefined) return look(`fetched ${oneLine(call.url, 200)}`, text)
  const isSearch = call.type === 'search' || (call.type === 'fetch' && call.query !== undefined)
  return isSearch ? look(`searched for \`${oneLine(call.query ?? '', 120)}\``, text) : undefined
}

/** Lines that the client adds after the report of a sub-agent: "agentId: a1", "<usage>total_tokens: 9</usage>". */
const trailer = /\n(?:agentId: .*|<usage>[\s\S]*?(?:<\/usage>|$))/g
/** "edited gate.ts: `open = true`", or the first inserted line that has a word in it, with a mark for the others. */
function addedText(call: ToolCall): string {
  const edits =
    call.type === 'patch' ? call.files.flatMap((file) => file.edits) : call.type === 'edit' ? call.edits : []
  const lines = addedLines(edits)
  const line = lines.find((text) => /\w{4}/.test(text)) ?? lines[0]
  if (line === undefined) return ''
  const more = lines.length === 1 ? '' : ' …'
  return `: \`${oneLine(line, lines.length === 1 ? 240 : 120).replaceAll('`', "'")}\`${more}`
}

function did(text: string): Step {
  return { type: 'did', text }
}

function look(what: string, output: string): Step | undefined {
  const found = oneLine(output, maxLook)
  return found === '' ? undefined : { type: 'saw', text: `${what} → ${found}` }
}

/** A shorter name may appear in a request by chance: "a.ts" in "data.ts". */
const minName = 6

/** "Do what docs/plan.md says": the text of a file, page or command that the user named is part of the request. */
function namedSource(call: ToolCall, { request, run }: StepResult): string | undefined {
  const isNamed = (name: string) => name.length >= minName && request.includes(name)
  if (call.type === 'command') {
    // For a test or a commit, the result says more than the output.
    const isSource = run?.purpose === 'other' && isNamed(programOf(run.script.commands))
    return isSource ? oneLine(run.line, 200) : undefined
  }
  const url = call.type === 'fetch' ? (call.url ?? '') : ''
  const path = call.type === 'read' ? (call.path ?? '') : ''
  const found = [path, path.split(/[\\/]/).at(-1) ?? '', url].find(isNamed)
  return found === undefined ? undefined : oneLine(found, 200)
}

const ends = { well: 'ok', badly: 'failed', unfinished: 'not finished when last seen' } as const

/**
 * `npm test` → "ran `npm test` → ok: 118 passed"; `cat a.ts` → its output; `mkdir a` → undefined; `git commit` → "committed
 * 1a2b3c4: Open".
 */
function commandStep(run: CommandRun, text: string): Step | undefined {
  const { script, line, ended, outcome } = run
  const ran = `ran \`${line.replaceAll('`', "'")}\``
  if (ended === 'well') {
    if (script.commands.every(onlyReads)) return look(ran, text)
    if (script.commands.every(isHousekeeping)) return undefined
    const made = commitsIn(text).at(-1)
    if (made) return did(`committed ${made.hash}: ${made.title}`)
  }
  // A command that is still running has no outcome yet.
  const said = outcome === '' || ended === 'unfinished' ? '' : `: ${outcome}`
  return did(`${ran} → ${ends[ended]}${said}`)
}

/** "src/lib/gate.ts" in the session's folder; "lib/gate.ts" elsewhere. Restored files have their full path. */
function shortPath(path: string, root = ''): string {
  const isInside = root !== '' && path.startsWith(`${root}/`)
  return oneLine(isInside ? path.slice(root.length + 1) : path.split(/[\\/]/).slice(-2).join('/'), 120)
}

/** Shorter statements ("Tests pass.") mostly repeat the result of the last command. */
export const shortStatement = 40

/** The step where the user stopped the agent. */
export const interrupted = 'was interrupted by the user'

const maxDone = 160

/**
 * The last change, otherwise the last command, otherwise the last file that was read: "edited a.ts", "ran `npm test` → ok" →
 * "edited a.ts".
 */
export function lastAction({ steps = [], done }: Exchange): string | undefined {
  const did = [
    ...(done === undefined ? [] : [done]),
    ...steps.filter(({ type }) => type === 'did' || type === 'opened').map(({ text }) => text),
  ]
  const kinds = [/^(?:edited|wrote|committed) /, /^ran /, /^read /]
  return kinds.map((kind) => did.findLast((text) => kind.test(text))).find((text) => text !== undefined)
}

/** Keeps only the last action of the steps, as `done: 'edited a.ts'`. */
export function withoutSteps(whole: Exchange): Exchange {
  const { steps, done, ...exchange } = whole
  const last = lastAction(whole)
  return last === undefined ? exchange : { ...exchange, done: oneLine(last, maxDone) }
}

/** An announcement like "Now let me run the tests.", which the next step makes redundant. Not "Let me know if it works." */
const announces =
  /^(?:(?:now|next|first|then|ok(?:ay)?|good|great|perfect|right|alright)[,.!]? )*(?:let me (?!know)|let's |I'll (?!wait|leave|hold)|I will (?!wait|leave|hold)|I need to |I'm going to |now (?!the |this |that |it |it's |we |I |you |all |both |there |they |everything |a |an |no |only )[a-z])[^!?]{0,300}[.:!…]?$/i

/** "I oil it:" introduces something, so at the end of a text it says nothing. */
const leadIn = /(?:^|(?<=[.!?]\s))[^\n|`.!?]*[\p{L}\p{N})]:\s*(?![\s\S])/mu

/**
 * "Let me look. The hinge is rusty. Now let me oil it:" → "The hinge is rusty." A sentence that introduces a list stays: "Let
 * me list them:\n- cache".
 */
export function withoutAnnouncements(text: string): string {
  const lines = text.trimEnd().split('\n')
  const isTold = (sentence: string, isLast: boolean) => !announces.test(sentence) || (sentence.endsWith(':') && !isLast)
  const told = lines.map((line, at) => {
    const sentences = line.trimEnd().split(sentenceEnd)
    return sentences.filter((sentence) => isTold(sentence.trim(), at === lines.length - 1)).join(' ')
  })
  return told.join('\n').replace(leadIn, '').trim()
}

/** "It is rusty. Shall I start?" → "It is rusty.": the next message answers it. "Shall I use `oil`?" stays, because it names something. */
export function withoutClosing(text: string): string {
  const told = withoutAnnouncements(text)
  const last = told.split('\n').at(-1)?.split(sentenceEnd).at(-1) ?? ''
  if (!/[?？]\W{0,4}$/.test(last) || /\d|_|`|\p{Ll}\p{Lu}/u.test(last)) return told
  return told.slice(0, told.length - last.length).trimEnd()
}
