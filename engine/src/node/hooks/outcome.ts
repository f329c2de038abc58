// What a hook's exit code and output mean. Pure: a run in, an outcome out. Nothing here is fatal but a veto.
import { defined, isObject, parseObject, stringAt } from '../../core/message/json.ts'
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

const blocking: readonly HookCall['event'][] = ['PreCompact', 'UserPromptSubmit', 'PreToolUse']
const informing: readonly HookCall['event'][] = ['SessionStart', 'UserPromptSubmit']

function blocked(event: HookCall['event'], reason: string, problem: (text: string) => Part): Part {
  return blocking.includes(event)
    ? { veto: reason }
    : problem(`wanted to block, which ${event} cannot: ${firstLine(reason)}`)
}

function plain(event: HookCall['event'], text: string): Part {
  if (event === 'PreCompact') return { instructions: [text] }
  return informing.includes(event) ? { context: [text] } : { messages: [text] }
}

const saidFields = [
  'additionalContext',
  'newCustomInstructions',
  'userDisplayMessage',
  'summary',
  'permissionDecision',
  'permissionDecisionReason',
] as const

/** Fields that we do not know are fine; one that we know with a value that cannot be used is a problem. */
function fromJson(event: HookCall['event'], text: string, problem: (text: string) => Part): Part {
  const value = parseObject(text)
  if (value === undefined) return problem('its output begins like JSON and is none')
  const { decision, reason, hookSpecificOutput: said = {} } = value
  const isText = (field: unknown) => field === undefined || typeof field === 'string'
  const odd = (field: string) => problem(`its output is not understood: ${field}`)
  if (decision !== undefined && decision !== 'block' && decision !== 'approve') return odd('decision')
  if (!isText(reason)) return odd('reason')
  if (!isObject(said)) return odd('hookSpecificOutput')
  const wrong = saidFields.find((field) => !isText(said[field]))
  if (wrong !== undefined) return odd(`hookSpecificOutput.${wrong}`)
  const { updatedInput: input } = said
  if (input !== undefined && !isObject(input)) return odd('hookSpecificOutput.updatedInput')
  const isBefore = event === 'PreCompact'
  const summary = stringAt(said, 'summary')
  const part: Part = {
    ...listed('instructions', isBefore ? stringAt(said, 'newCustomInstructions') : undefined),
    ...listed('context', stringAt(said, 'additionalContext')),
    ...listed('messages', stringAt(said, 'userDisplayMessage')),
    ...(isBefore && summary?.trim() ? { summary } : {}),
    ...(event === 'PreToolUse' ? defined({ input }) : {}),
  }
  const isDenied = event === 'PreToolUse' && said.permissionDecision === 'deny'
  if (decision !== 'block' && !isDenied) return part
  const why = stringAt(value, 'reason') ?? stringAt(said, 'permissionDecisionReason')
  return { ...part, ...blocked(event, why?.trim() || 'blocked by a hook', problem) }
}

function listed(key: 'instructions' | 'context' | 'messages', text: string | undefined): Part {
  return text === undefined || text.trim() === '' ? {} : { [key]: [text.trim()] }
}

function firstLine(text: string): string {
  return headOf(text.trim().split('\n', 1)[0] ?? '', 300)
}

/** In the order of configuration; of several vetoes, summaries and inputs the first counts. */
export function mergeOutcomes(parts: readonly Part[]): HookOutcome {
  const veto = parts.find((part) => part.veto !== undefined)?.veto
  const summary = parts.find((part) => part.summary !== undefined)?.summary
  const input = parts.find((part) => part.input !== undefined)?.input
  return {
    ...defined({ veto, summary, input }),
    instructions: parts.flatMap((part) => part.instructions ?? []),
    context: parts.flatMap((part) => part.context ?? []),
    messages: parts.flatMap((part) => part.messages ?? []),
    problems: parts.flatMap((part) => part.problems ?? []),
  }
}
