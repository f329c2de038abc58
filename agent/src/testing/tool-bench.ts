// A bench for tools: a workspace in a temporary folder, a session in memory, and a person whose answers the test sets.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { textOf } from 'everlong/internal'
import type { Session } from 'everlong/node'
import type { PermissionAnswer, PermissionMode, PermissionRequest, Person, Question } from '../app.ts'
import type { LoopEvent } from '../events.ts'
import type { ToolOutput } from '../tool.ts'
import { type AgentTools, createTools, type ToolsOptions } from '../tools/create-tools.ts'
import { type StageOptions, setStage } from './stage.ts'

export type Bench = {
  readonly folder: string
  /** The folder around the workspace. */
  readonly outside: string
  readonly session: Session
  readonly tools: AgentTools
  readonly asked: PermissionRequest[]
  readonly questions: (readonly Question[])[]
  readonly events: LoopEvent[]
  readonly mode: () => PermissionMode
  readonly setMode: (mode: PermissionMode) => void
  readonly write: (path: string, text: string) => void
  readonly read: (path: string) => string
  /** Calls a tool and adds the call and its result to the conversation. */
  readonly call: (name: string, input: unknown, signal?: AbortSignal) => Promise<ToolOutput>
  /** The text of the result; an error starts with `ERROR: `. */
  readonly say: (name: string, input: unknown) => Promise<string>
  readonly close: () => Promise<void>
}

export type BenchOptions = Partial<ToolsOptions> & {
  readonly answer?: (request: PermissionRequest, signal: AbortSignal) => PermissionAnswer | Promise<PermissionAnswer>
  readonly answers?: readonly (readonly string[])[]
  readonly startMode?: PermissionMode
  readonly stage?: StageOptions
  /** Whether the engine gets the tools' redaction, as in the agent. Default: true. */
  readonly isEngineRedacting?: boolean
  /** Parent folder of the bench. Default: the system's temporary folder. */
  readonly base?: string
  /** Whether the transcript is on disk. */
  readonly isOnDisk?: boolean
}

export async function setBench(options: BenchOptions = {}): Promise<Bench> {
  const { startMode = 'ask', stage: stageOptions = {}, answer: _, answers: __, ...others } = options
  const { isOnDisk, isEngineRedacting = true, base = tmpdir(), ...own } = others
  const outside = realpathSync(mkdtempSync(join(base, 'everlong-tools-')))
  const folder = join(outside, 'work')
  mkdirSync(folder)
  const redact = (text: string) => tools.redact(text)
  const engine = { ...(isEngineRedacting ? { redact } : {}), ...stageOptions.engine }
  const stage = await setStage({ ...stageOptions, engine })
  const session = await stage.engine.start({
    envelope: { cwd: folder },
    state: () => tools.state(),
    ...(isOnDisk ? { path: join(outside, 'session.jsonl') } : {}),
  })
  const people = createPerson(options)
  let mode = startMode
  const tools: AgentTools = await createTools({
    workspace: folder,
    environment: { PATH: process.env.PATH },
    mode: {
      get: () => mode,
      set: (next) => {
        mode = next
      },
    },
    person: people.person,
    ...own,
  })
  const events: LoopEvent[] = []
  let calls = 0
  const call: Bench['call'] = async (name, input, signal = new AbortController().signal) => {
    const tool = tools.tools.find((each) => each.name === name)
    if (!tool) throw new Error(`There is no tool ${name}.`)
    const id = `toolu_${++calls}`
    session.add({ role: 'assistant', content: [{ type: 'tool_use', id, name, input }] })
    const output = await tool.call(input, { session, signal, toolUseId: id, emit: (event) => events.push(event) })
    const { content, isError } = output
    session.add({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) }],
      ...(output.details === undefined ? {} : { toolUseResult: output.details }),
    })
    return output
  }
  return {
    folder,
    outside,
    session,
    tools,
    ...people,
    events,
    mode: () => mode,
    setMode: (next) => {
      mode = next
    },
    write: (path, text) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    },
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    call,
    say: async (name, input) => {
      const { content, isError } = await call(name, input)
      return `${isError ? 'ERROR: ' : ''}${textOf(content)}`
    },
    close: async () => {
      await tools.close()
      await session.close()
      await stage.close()
      rmSync(outside, { recursive: true, force: true })
    },
  }
}

function createPerson({ answer = () => ({ type: 'allow' }), answers }: BenchOptions) {
  const asked: PermissionRequest[] = []
  const questions: (readonly Question[])[] = []
  const person: Person = {
    askPermission: async (request, signal) => {
      asked.push(request)
      return answer(request, signal)
    },
    askQuestions: async (given) => {
      questions.push(given)
      return answers
    },
  }
  return { asked, questions, person }
}
