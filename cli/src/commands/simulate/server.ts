// `everlong simulate`: serves the Messages API on this machine until it is stopped. No key, no network, no model: a scripted
// agent answers about a made-up repository, and writes requested summaries and notes.

import { counted, dollars } from '@everlong/agent/render'
import {
  agent,
  asksForNotes,
  asksForSummary,
  noteTaker,
  type OverflowShape,
  overflowShapes,
  route,
  startServer,
  summarizer,
  syntheticRepository,
} from '@everlong/simulator'
import { knownModels } from 'everlong/internal'
import type { Io } from '../../io.ts'
import { failed, gathered, type Outcome, portTrouble, systemTrouble } from '../../outcome.ts'

export type SimulateOptions = {
  readonly port: number
  readonly seed: number
  /** A window for every model, to see overflows soon. */
  readonly window?: number
  readonly overflow?: string
  readonly json?: boolean
}

export type SimulateReport = {
  readonly requests: number
  /** In dollars, without requests to models whose price is unknown. */
  readonly cost: number
  readonly unpriced: number
}

export async function simulate(options: SimulateOptions, io: Io): Promise<Outcome<SimulateReport>> {
  const overflow = overflowShapes.find((shape) => shape === options.overflow)
  try {
    return gathered(await serve(options, overflow, io))
  } catch (error) {
    const message = portTrouble(options.port, error) ?? systemTrouble(`port ${options.port}`, error)
    if (message === undefined) throw error
    return failed(message)
  }
}

async function serve(
  options: SimulateOptions,
  overflow: OverflowShape | undefined,
  { stdout, untilStopped }: Io,
): Promise<SimulateReport> {
  const repository = syntheticRepository({ seed: options.seed })
  const script = route(
    [
      { when: asksForSummary, script: summarizer() },
      { when: asksForNotes, script: noteTaker() },
    ],
    agent({ repository, seed: options.seed, callsAnyTool: true }),
  )
  const server = await startServer({
    port: options.port,
    seed: options.seed,
    script,
    ...(overflow ? { overflow } : {}),
    ...(options.window ? { windows: allWindows(options.window) } : {}),
  })
  try {
    const { port, url } = server
    // Listens first, because a reader of the greeting may stop it at once.
    const stopped = untilStopped?.()
    stdout.write(options.json ? `${JSON.stringify({ port, url })}\n` : greeting(url, options.window))
    await stopped
    const { requests, cost, unpriced } = server.simulator.meter.totals()
    return { requests, cost, unpriced }
  } finally {
    await server.close()
  }
}

function allWindows(window: number): Readonly<Record<string, number>> {
  return Object.fromEntries(knownModels().map(({ id }) => [id, window]))
}

function greeting(url: string, window: number | undefined): string {
  return [
    `Listening on ${url}`,
    '',
    'Set these where your program runs. Any key works.',
    '',
    `  Anthropic SDK, LangChain  ANTHROPIC_API_KEY=any ANTHROPIC_BASE_URL=${url}`,
    `  Vercel AI SDK             ANTHROPIC_API_KEY=any ANTHROPIC_BASE_URL=${url}/v1`,
    `  OpenAI SDK                OPENAI_API_KEY=any OPENAI_BASE_URL=${url}/v1`,
    '',
    ...(window === undefined
      ? ['Models have their real windows. To see a compaction soon: --window 16000', '']
      : [`Every model has a window of ${window.toLocaleString('en')} tokens.`, '']),
    `The requests are logged at ${url}/_everlong/log`,
    '',
    'Press Ctrl-C to stop.',
    '',
  ].join('\n')
}

export function render({ requests, cost, unpriced }: SimulateReport): readonly string[] {
  const made = counted(requests, 'request')
  if (unpriced === 0) return [`${made}; at API prices: ${dollars(cost)}.`]
  if (unpriced === requests) return [`${made}; the price of these models is not known.`]
  return [`${made}; at API prices: ${dollars(cost)}, without ${unpriced} to models whose price is not known.`]
}
