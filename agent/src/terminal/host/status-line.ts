// A custom status line: a command that gets facts as JSON on its input and prints a line.
import { spawn } from 'node:child_process'
import type { Agent } from '../../app.ts'
import { commandEnvironment } from '../../permissions/secrets.ts'
import { reasonOf } from '../../reason-of.ts'
import type { UiEvent } from './protocol.ts'

type StatusLineOptions = {
  readonly command: string
  readonly folder: string
  readonly send: (event: UiEvent) => void
}

/** Updating more often would not help a person. */
const everyMs = 500
const maxMs = 5_000
const maxText = 2_000

export function createStatusLine(agent: Agent, { command, folder, send }: StatusLineOptions) {
  let timer: NodeJS.Timeout | undefined
  let isRunning = false
  let isWanted = false
  let isStopped = false
  let shown = ''
  const run = async () => {
    timer = undefined
    if (isStopped) return
    if (isRunning) {
      isWanted = true
      return
    }
    isRunning = true
    const text = await firstLineOf(command, folder, JSON.stringify(factsOf(agent, folder)))
    isRunning = false
    if (text !== shown && !isStopped) send({ type: 'status-line', text })
    shown = text
    if (isWanted) refresh()
    isWanted = false
  }
  const refresh = () => {
    timer ??= setTimeout(() => void run(), everyMs)
  }
  const stop = () => {
    isStopped = true
    clearTimeout(timer)
  }
  return { refresh, stop }
}

/** The fields have the same names as those that scripts for Claude Code read. */
function factsOf(agent: Agent, folder: string) {
  const { sessionId, name, model, mode } = agent.state()
  const { path = null } = agent.session()
  const { size, limit, percentLeft } = agent.session().explain()
  return {
    session_id: sessionId,
    session_name: name ?? null,
    transcript_path: path,
    cwd: folder,
    workspace: { current_dir: folder, project_dir: folder },
    model: { id: model, display_name: model },
    permission_mode: mode,
    context: { tokens: size.tokens, limit: limit.value, percent_left: percentLeft },
  }
}

function firstLineOf(command: string, cwd: string, input: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, cwd, env: commandEnvironment(process.env), timeout: maxMs })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(0, maxText)
    })
    child.stderr.resume()
    // The command need not read its input.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    child.once('error', (error) => resolve(`status line: ${reasonOf(error)}`))
    child.once('close', (code, signal) => {
      const why = signal === null ? `exit code ${code}` : 'it took too long'
      resolve(code === 0 ? (text.trim().split('\n', 1)[0] ?? '') : `status line: ${why}`)
    })
  })
}
