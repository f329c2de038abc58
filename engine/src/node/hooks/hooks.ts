// Runs the hooks of a session: functions of the host and shell commands from a settings file. They run in parallel;
// their outcomes are merged in the order of configuration.
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defined, describeValue, type JsonObject } from '../../core/message/json.ts'
import { type HookCall, type HookOutcome, type Hooks, noOutcome, readOutcome } from '../../core/ports/hooks.ts'
import type { AbortSignalPort } from '../../core/ports/model.ts'
import { safely } from '../../core/ports/safely.ts'
import type { HookedSession } from '../../core/session/host.ts'
import { headOf } from '../../core/text/cut.ts'
import { systemPorts } from '../../models/ports.ts'
import { makeSessionFolder, sessionFolder } from '../session/session-folder.ts'
import { replaceFile } from '../write/disk.ts'
import { mergeOutcomes, outcomeOf, runCommand } from './run-command.ts'
import { commandsFor, type HookCommand, type HookSettings } from './settings.ts'

/** Errors and timeouts are reported, never fatal. */
export type HookFunction = (
  call: HookCall,
) => Promise<Partial<HookOutcome> | undefined> | Partial<HookOutcome> | undefined

export type HookChoices = {
  readonly functions?: Partial<Record<HookCall['event'], readonly HookFunction[]>>
  readonly settings?: HookSettings
  readonly env?: NodeJS.ProcessEnv
  /** For functions, and commands without their own timeout. Default: one minute. */
  readonly timeoutMs?: number
}

const defaultTimeoutMs = 60_000
export const maxOutput = 10_000

export function hooksFor(choices: HookChoices, session: HookedSession): Hooks {
  const { functions, settings = {}, env, timeoutMs = defaultTimeoutMs } = choices
  return {
    run: async (call, { signal } = {}) => {
      const limits = { timeoutMs, signal }
      const called = (functions?.[call.event] ?? []).map((hook, at) =>
        runFunction(() => hook(call), `hook function ${at + 1} of ${call.event}`, limits),
      )
      const commands = commandsFor(settings, call.event, wordOf(call)).map((command) =>
        runHook(command, call, { ...limits, session, env }),
      )
      return mergeOutcomes(await Promise.all([...called, ...commands]))
    },
  }
}

function wordOf(call: HookCall): string {
  if (call.event === 'PreCompact' || call.event === 'PostCompact') return call.trigger
  if (call.event === 'PreToolUse' || call.event === 'PostToolUse') return call.tool
  return call.event === 'SessionStart' ? call.source : ''
}

type Limits = { readonly timeoutMs: number; readonly signal: AbortSignalPort | undefined }

async function runFunction(hook: () => unknown, name: string, limits: Limits): Promise<HookOutcome> {
  const called = await safely(hook, { wait: systemPorts.wait, ...limits })
  const broken = (why: string) => ({ ...noOutcome, problems: [`${name}: ${why}`] })
  if (called.type === 'aborted') return broken('ended because the compaction was aborted')
  if (called.type === 'broke') return broken(called.why)
  return readOutcome(called.value) ?? broken(`returned ${describeValue(called.value)}`)
}

type Running = Limits & {
  readonly session: HookedSession
  readonly env: NodeJS.ProcessEnv | undefined
}

async function runHook({ command, timeout }: HookCommand, call: HookCall, options: Running) {
  const { session, env, signal } = options
  const timeoutMs = timeout === undefined ? options.timeoutMs : timeout * 1000
  const input = `${JSON.stringify(stdinOf(call, session))}\n`
  const ended = await runCommand(command, { cwd: session.cwd, env, input, timeoutMs, signal })
  const name = `hook ${JSON.stringify(headOf(command, 80))} of ${call.event}`
  const part = outcomeOf(call.event, { name, run: ended, timeoutMs })
  return bounded(part, (text) => keepWhole(text, call.event, session.path))
}

/** The JSON that a command reads from stdin, with Claude Code's field names. */
function stdinOf(call: HookCall, { id, path = '', cwd }: HookedSession): JsonObject {
  const common = { session_id: id, transcript_path: path, cwd, hook_event_name: call.event }
  switch (call.event) {
    case 'PreCompact':
      return {
        ...common,
        trigger: call.trigger,
        custom_instructions: call.trigger === 'auto' ? null : call.instructions,
      }
    case 'PostCompact': {
      const { trigger, summary, tokensBefore, tokensAfter, fidelity } = call
      const told = { trigger, compact_summary: summary, tokens_before: tokensBefore, tokens_after: tokensAfter }
      return { ...common, ...told, fidelity }
    }
    case 'SessionStart':
      return { ...common, source: call.source }
    case 'UserPromptSubmit':
      return { ...common, prompt: call.prompt }
    case 'PreToolUse':
    case 'PostToolUse': {
      const { tool, input, toolUseId } = call
      const output = call.event === 'PostToolUse' ? { tool_response: call.output } : {}
      return { ...common, tool_name: tool, tool_input: input, tool_use_id: toolUseId, ...output }
    }
    default:
      return { ...common, ...call.details }
  }
}

/** Limits every text for a model or a person. The full text goes to a file. */
function bounded(part: Partial<HookOutcome>, keep: (text: string) => string): Partial<HookOutcome> {
  const cap = (text: string) => {
    if (text.length <= maxOutput) return text
    return `${headOf(text, maxOutput)}\n[cut: ${keep(text)}]`
  }
  const { veto, summary, instructions, context, messages } = part
  const lists = { instructions: instructions?.map(cap), context: context?.map(cap), messages: messages?.map(cap) }
  return { ...part, ...defined({ veto: veto && cap(veto), summary: summary && cap(summary), ...lists }) }
}

/** Each output has its own file, because the transcript names it permanently and other processes may write at the same time. */
function keepWhole(text: string, event: HookCall['event'], transcript: string | undefined): string {
  const own = transcript === undefined ? join(tmpdir(), 'everlong') : sessionFolder(transcript)
  const folder = join(own, 'hook-output')
  const path = join(folder, `${event}-${randomUUID()}.txt`)
  try {
    makeSessionFolder(folder)
    replaceFile(path, Buffer.from(text), { flush: false })
    return `the whole output is in ${path}`
  } catch (error) {
    return `the whole output could not be kept: ${error instanceof Error ? error.message : String(error)}`
  }
}
