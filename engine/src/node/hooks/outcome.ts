// What a hook's exit code and output mean. Pure: a run in, an outcome out. Nothing here is fatal but a veto.
import { isObject, type JsonObject } from '../../core/message/json.ts'
import type { HookCall, HookOutcome } from '../../core/ports/hooks.ts'
import { headOf } from '../../core/text/cut.ts'
import type { CommandRun } from './run-command.ts'

type Part = Partial<HookOutcome>

export type NamedRun = { readonly name: string; readonly run: CommandRun; readonly timeoutMs: number }

export function outcomeOf(event: HookCall['event'], { name, run, timeoutMs }: NamedRun): Part {
  const problem = (text: string): Part => ({ problems: [`${name}: ${text}`] })
  if (run.end === 'timed-out') return problem(`ended after ${timeoutMs / 1000} s without finishing`)
  if (run.end === 'aborted') return problem('ended because the compaction was aborted')
  if (run.end === 'not-started') return problem(`could not be started: ${run.stderr.trim()}`)
  if (run.exit === 2) return blocked(event, run.stderr.trim() || 'blocked by a hook', problem)
  if (run.exit !== 0)
    return problem(`exit code ${run.exit ?? 'unknown'}${run.stderr === '' ? '' : `: ${firstLine(run.stderr)}`}`)
  const text = run.stdout.trim()
  if (text === '') return {}
  if (text.includes('\u0000') || text.includes('\uFFFD')) return problem('its output is no text')
  return text.startsWith('{') ? fromJson(event, text, problem) : plain(event, text)
}

function blocked(event: HookCall['event'], reason: string, problem: (text: string) => Part): Part {
  return event === 'PreCompact'
    ? { veto: reason }
    : problem(`wanted to block, which ${event} cannot: ${firstLine(reason)}`)
}

function plain(event: HookCall['event'], text: string): Part {
  if (event === 'PreCompact') return { instructions: [text] }
  return event === 'SessionStart' ? { context: [text] } : { messages: [text] }
}

function fromJson(event: HookCall['event'], text: string, problem: (text: string) => Part): Part {
  const value = parsed(text)
  if (!isObject(value)) return problem('its output begins like JSON and is none')
  const wrong = wrongField(value)
  if (wrong !== undefined) return problem(`its output is not understood: ${wrong}`)
  const { decision, reason, hookSpecificOutput: said = {} } = value as Answer
  const part: Part = {
    ...listed('instructions', event === 'PreCompact' ? said.newCustomInstructions : undefined),
    ...listed('context', said.additionalContext),
    ...listed('messages', said.userDisplayMessage),
    ...(event === 'PreCompact' && said.summary?.trim() ? { summary: said.summary } : {}),
  }
  return decision === 'block' ? { ...part, ...blocked(event, reason?.trim() || 'blocked by a hook', problem) } : part
}

const saidFields = ['additionalContext', 'newCustomInstructions', 'userDisplayMessage', 'summary'] as const

type Answer = {
  readonly decision?: 'block' | 'approve'
  readonly reason?: string
  readonly hookSpecificOutput?: { readonly [field in (typeof saidFields)[number]]?: string }
}

/** The name of the first field with a value that cannot be used; fields we do not know are fine. */
function wrongField({ decision, reason, hookSpecificOutput: said = {} }: JsonObject): string | undefined {
  if (decision !== undefined && decision !== 'block' && decision !== 'approve') return 'decision'
  if (!isOptionalText(reason)) return 'reason'
  if (!isObject(said)) return 'hookSpecificOutput'
  const wrong = saidFields.find((field) => !isOptionalText(said[field]))
  return wrong === undefined ? undefined : `hookSpecificOutput.${wrong}`
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function listed(key: 'instructions' | 'context' | 'messages', text: string | undefined): Part {
  return text === undefined || text.trim() === '' ? {} : { [key]: [text.trim()] }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function firstLine(text: string): string {
  return headOf(text.trim().split('\n', 1)[0] ?? '', 300)
}

/** In the order of configuration; of several vetoes and summaries the first counts. */
export function mergeOutcomes(parts: readonly Part[]): HookOutcome {
  const veto = parts.find((part) => part.veto !== undefined)?.veto
  const summary = parts.find((part) => part.summary !== undefined)?.summary
  return {
    ...(veto === undefined ? {} : { veto }),
    ...(summary === undefined ? {} : { summary }),
    instructions: parts.flatMap((part) => part.instructions ?? []),
    context: parts.flatMap((part) => part.context ?? []),
    messages: parts.flatMap((part) => part.messages ?? []),
    problems: parts.flatMap((part) => part.problems ?? []),
  }
}
