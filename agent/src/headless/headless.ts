// Headless mode: one prompt, one result, and an exit code for scripts. Nobody can be asked, so a call that would ask is denied
// and listed.
import { textOf } from 'everlong/internal'
import type { Agent, AgentEvent, CommandResult, PermissionRequest, Person } from '../app.ts'
import { commandNamed } from '../commands/run.ts'
import type { StopReason } from '../events.ts'
import { type Receipt, receiptLine } from '../receipt.ts'
import { failureLine, retryLine } from '../render/retry.ts'

/** docs/agent.md explains them. */
export const exitCodes = { finished: 0, failed: 1, usage: 2, denied: 3, 'turn-limit': 4, interrupted: 130 } as const

export const outputForms = ['text', 'json', 'stream-json'] as const
export type OutputForm = (typeof outputForms)[number]

export type HeadlessOptions = {
  readonly agent: Agent
  readonly prompt: string
  readonly output: OutputForm
  /** The end of the prompt, if it came from a pipe: `@path` in it attaches no file. */
  readonly piped?: string
  /** Descriptions of denied calls, from the person below. */
  readonly denied: () => readonly string[]
  /** Prints one line. */
  readonly write: (line: string) => void
  readonly warn: (line: string) => void
  readonly signal: AbortSignal
  readonly now: () => number
}

export type HeadlessPerson = { readonly person: Person; readonly denied: () => readonly string[] }

export function headlessPerson(): HeadlessPerson {
  let denied: readonly string[] = []
  const deny = async ({ title, tool, rules = [] }: PermissionRequest) => {
    // The host itself asks about trusting a folder, and its notice reports that.
    const line =
      rules.length === 0 ? title : `${title} (${rules.map((rule) => `--allow ${shellWord(rule)}`).join(' ')} allows it)`
    if (tool !== 'Settings' && !denied.includes(line)) denied = [...denied, line]
    return { type: 'deny', isUnattended: true } as const
  }
  return { person: { askPermission: deny, askQuestions: async () => undefined }, denied: () => denied }
}

/** Quotes a model's text as one word for a shell, because people copy it. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Returns the exit code. */
export async function runHeadless(options: HeadlessOptions): Promise<number> {
  const { agent, prompt, output, signal } = options
  const listener = createWatch(options)
  const stopListening = agent.on(listener.onEvent)
  const stop = () => void agent.interrupt()
  signal.addEventListener('abort', stop)
  const started = options.now()
  try {
    if (signal.aborted) return exitCodes.interrupted
    const result = isCommand(prompt) ? await agent.command(prompt, signal) : undefined
    const command = result?.type === 'submit' ? undefined : result
    const asked = result?.type === 'submit' ? result.prompt : { text: prompt }
    if (!command) await agent.submit({ ...asked, mentions: typedIn(asked.mentions ?? asked.text, options) })
    const report = reportOf(options, { ...listener.seen(), command, durationMs: options.now() - started })
    if (output === 'text') writeText(report, options)
    else options.write(JSON.stringify(report))
    return report.exitCode
  } finally {
    signal.removeEventListener('abort', stop)
    stopListening()
  }
}

function typedIn(text: string, { piped = '' }: HeadlessOptions): string {
  return text.endsWith(piped) ? text.slice(0, text.length - piped.length) : text
}

/** A misspelled command is an error and is not sent to the model. A path such as `/etc/hosts` is not a command. */
function isCommand(prompt: string): boolean {
  return commandNamed(prompt) !== undefined || /^\/[\w:.-]+(?:\s|$)/.test(prompt.trim())
}

type HeadlessProgress = {
  readonly answer: string
  readonly turns: number
  readonly why: StopReason | undefined
  readonly problem: string | undefined
  readonly compactions: HeadlessReport['compactions']
}

function createWatch({ output, write, warn }: HeadlessOptions) {
  let seen: HeadlessProgress = { answer: '', turns: 0, why: undefined, problem: undefined, compactions: [] }
  return {
    seen: () => seen,
    onEvent: (event: AgentEvent) => {
      seen = progressAfter(seen, event)
      if (output === 'stream-json' && isShown(event)) write(JSON.stringify(event))
      // Goes to stderr, so that it does not disturb the JSON.
      if (event.type === 'retrying' && output !== 'stream-json') warn(retryLine(event, event.waitMs))
      if (output !== 'text') return
      if (event.type === 'notice') warn(event.text)
      if (event.type === 'receipt') warn(receiptLine(event.receipt))
    },
  }
}

function progressAfter(seen: HeadlessProgress, event: AgentEvent): HeadlessProgress {
  switch (event.type) {
    case 'answer':
      return { ...seen, turns: seen.turns + 1, answer: textOf(event.answer.content).trim() || seen.answer }
    case 'stopped':
      return { ...seen, why: event.why }
    case 'failed':
      return { ...seen, problem: failureLine(event.failure) }
    case 'blocked':
      return { ...seen, problem: event.why }
    case 'notice':
      return seen.why === undefined ? { ...seen, problem: event.text } : seen
    case 'receipt': {
      const { trigger, mechanism, before, after: left } = event.receipt
      return { ...seen, compactions: [...seen.compactions, { trigger, mechanism, before, after: left }] }
    }
    default:
      return seen
  }
}

/** Skips chunks of answers, whole records and measurements, because `answer` and `receipt` contain the same. */
function isShown(event: AgentEvent): boolean {
  if (event.type === 'engine') return !['threshold-checked', 'mechanism-tried'].includes(event.event.type)
  return !['stream', 'record', 'state', 'tool-output', 'spent'].includes(event.type)
}

export type HeadlessReport = {
  readonly type: 'result'
  readonly exitCode: number
  /** Why it ended. */
  readonly reason: keyof typeof exitCodes
  readonly result: string
  readonly problem?: string
  readonly sessionId: string
  readonly model: string
  readonly turns: number
  readonly durationMs: number
  /** In US dollars. Absent if a price is unknown. */
  readonly cost?: number
  readonly compactions: readonly Pick<Receipt, 'trigger' | 'mechanism' | 'before' | 'after'>[]
  readonly denied: readonly string[]
}

type Ending = HeadlessProgress & { readonly command: CommandResult | undefined; readonly durationMs: number }

function reportOf(options: HeadlessOptions, ending: Ending): HeadlessReport {
  const { agent, signal } = options
  const { command, answer, turns, durationMs, problem, compactions } = ending
  const denied = options.denied()
  const reason = signal.aborted ? 'interrupted' : reasonOf(ending, denied)
  const why = command?.type === 'error' ? command.text : problem
  const spent = Object.values(agent.session().spent())
  const isPriced = spent.every(({ cost }) => cost !== undefined)
  return {
    type: 'result',
    exitCode: exitCodes[reason],
    reason,
    result: command ? commandText(command) : answer,
    ...(reason === 'failed' && why !== undefined ? { problem: why } : {}),
    sessionId: agent.session().id,
    model: agent.state().model,
    turns,
    durationMs,
    ...(isPriced ? { cost: spent.reduce((sum, { cost = 0 }) => sum + cost, 0) } : {}),
    compactions,
    denied,
  }
}

function reasonOf({ command, why }: Ending, denied: readonly string[]): keyof typeof exitCodes {
  if (command) return command.type === 'error' ? 'failed' : 'finished'
  if (why === 'turn-limit') return 'turn-limit'
  if (why === 'aborted') return 'interrupted'
  if (why !== 'finished') return 'failed'
  return denied.length > 0 ? 'denied' : 'finished'
}

function commandText(command: CommandResult): string {
  if (command.type === 'quit' || command.type === 'submit') return ''
  if (command.type !== 'choose') return command.text
  return [command.title, ...command.choices.map(({ label, command: line }) => `${line}  ${label}`)].join('\n')
}

function writeText({ result, reason, problem, denied }: HeadlessReport, { agent, write, warn }: HeadlessOptions): void {
  // What went wrong goes to stderr alone.
  if (result !== '' && result !== problem) write(result)
  for (const { title, isRunning } of agent.state().tasks) if (isRunning) warn(`Stopped in the background: ${title}`)
  for (const each of denied) warn(`Denied: ${each}`)
  if (reason === 'failed') warn(problem ?? 'The turn failed.')
  if (reason === 'turn-limit') warn('Stopped at the turn limit. Continue with --continue.')
  if (reason === 'interrupted') warn('Interrupted. Continue with --continue.')
}
