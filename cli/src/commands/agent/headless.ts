// `everlong agent -p`: one prompt without a screen. Exit codes are in docs/agent.md.

import { fstatSync } from 'node:fs'
import { resolve } from 'node:path'
import { exitCodes, headlessPerson, runHeadless, type Started, startAgent } from '@everlong/agent/host'
import { oneLine, safeText } from '@everlong/agent/render'
import type { Io } from '../../io.ts'
import { type AgentOptions, startDemoModel, startOptions } from './options.ts'

export async function agentWithoutScreen(folder: string, options: AgentOptions, io: Io): Promise<number> {
  const { stdout, env, cwd, now } = io
  const warn = (line: string) => io.stderr.write(`everlong: ${oneLine(line)}\n`)
  if (options.resume === true) return refuse(['--resume needs the id of a session with -p.'], warn)
  const { prompt, piped } = await promptFrom(options, io, warn)
  if (prompt === '') return refuse(['There is no prompt. Give one: everlong agent -p "PROMPT".'], warn)
  const stop = new AbortController()
  const release = io.onStop?.(() => stop.abort())
  const { person, denied } = headlessPerson()
  try {
    const started = await startAgent({
      ...startOptions(options),
      folder: resolve(cwd, folder),
      env,
      person,
      demo: startDemoModel,
      isHeadless: true,
    })
    if (started.type !== 'started') return refuse(whyNot(started), warn)
    for (const notice of started.notices) warn(notice)
    try {
      const { output = 'text' } = options
      // A terminal must not obey a model's text, but a file gets it unchanged.
      const isShown = output === 'text' && stdout.isTTY === true
      const write = (line: string) => stdout.write(`${isShown ? safeText(line) : line}\n`)
      const given = { agent: started.agent, prompt, piped, output, denied, write, warn, signal: stop.signal, now }
      return await runHeadless(given)
    } finally {
      await started.agent.close()
    }
  } finally {
    release?.()
  }
}

function whyNot(started: Exclude<Started, { readonly type: 'started' }>): readonly string[] {
  if (started.type === 'refused') return started.why
  const { title, steps } = started.setup
  return [title, ...steps.flatMap(({ title: step, commands }) => [`${step}:`, ...commands.map((each) => `  ${each}`)])]
}

function refuse(why: readonly string[], warn: (line: string) => void): number {
  for (const line of why) warn(line)
  return exitCodes.usage
}

const patienceMs = 3_000

/** The text after -p, followed by piped input. */
async function promptFrom({ prompt }: AgentOptions, { stdin }: Io, warn: (line: string) => void) {
  const text = prompt === true || prompt === undefined ? '' : prompt.trim()
  if (!isPiped(stdin)) return { prompt: text, piped: '' }
  const timer = setTimeout(
    () => warn('Waiting for the end of stdin. Add </dev/null if there is nothing to read.'),
    patienceMs,
  )
  const parts: Buffer[] = []
  for await (const part of stdin) parts.push(Buffer.from(part as Uint8Array | string))
  clearTimeout(timer)
  const piped = Buffer.concat(parts).toString('utf8').trimEnd()
  if (text === '' || piped === '') return { prompt: text || piped.trim(), piped: piped.trim() }
  return { prompt: `${text}\n\n${piped}`, piped }
}

/** A terminal and /dev/null provide no input. */
function isPiped(stdin: Io['stdin']): boolean {
  const { fd, isTTY } = stdin as { readonly fd?: number; readonly isTTY?: boolean }
  if (isTTY) return false
  if (fd === undefined) return true
  const state = fstatSync(fd)
  return state.isFIFO() || state.isFile() || state.isSocket()
}
