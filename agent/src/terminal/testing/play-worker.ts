// The agent of the terminal's tests: the real agent on a folder, with a simulated model that does what the prompt says and a
// few tools that ask first. A prompt is a list of steps, such as `say Hello; call Write a.txt hi; say Done`.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  asksForNotes,
  asksForSummary,
  createSimulator,
  noteTaker,
  route,
  type Script,
  summarizer,
  text,
  toolUse,
} from '@everlong/simulator'
import { createTwoFilesPatch } from 'diff'
import type { EngineSettings, MessageInput, ModelClient } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { blocksOf, isText, textOf } from 'everlong/internal'
import { z } from 'zod'
import type { PermissionMode, Person } from '../../app.ts'
import { createAgent } from '../../create-agent.ts'
import type { ChosenModel } from '../../models/chosen.ts'
import { sessionsFolder } from '../../sessions/places.ts'
import { listSessions } from '../../sessions/sessions.ts'
import { noSettings } from '../../settings/settings.ts'
import { startAgent } from '../../start.ts'
import { type AnyTool, defineTool } from '../../tool.ts'
import { pastOf } from '../host/past.ts'
import type { StartAgent } from '../host/serve.ts'
import { commandInfos, serveInWorker } from '../worker.ts'

export type PlayData = {
  readonly folder: string
  readonly home: string
  /** Continues the newest session. */
  readonly isContinued?: boolean
  /** Size of the model's window, in tokens. */
  readonly window?: number
  /** Summaries are written without a model. */
  readonly isOffline?: boolean
  /** Name of the simulated model. */
  readonly model?: string
  /** Milliseconds between two events of an answer. */
  readonly eventMs?: number
  /** Makes libraries print in both threads. */
  readonly isNoisy?: boolean
  /** Plays this many turns automatically, and writes the heap of the terminal's thread to `heap.json`. */
  readonly turns?: number
  /** The session starts with about this many tokens. */
  readonly tokens?: number
  /** Uses the tools, settings and permissions of the real agent. Steps call them with `use Bash {"command":"ls"}`. */
  readonly isReal?: boolean
  readonly mode?: PermissionMode
  readonly isTrusting?: boolean
}

serveInWorker<PlayData>(async (data, person) => {
  const { folder, home, window, tokens = 0, isContinued = false, isOffline = false } = data
  const { model: name = 'claude-opus-4-5' } = data
  const rules = [
    { when: asksForNotes, script: noteTaker() },
    { when: asksForSummary, script: held(summarizer(), join(folder, 'hold-summary')) },
  ]
  const simulator = createSimulator({
    script: route(rules, follow(folder)),
    // Nobody watches the text of turns that are played automatically.
    latency: { perEvent: data.eventMs ?? (data.turns === undefined ? 5 : 0) },
    ...(window === undefined ? {} : { windows: { [name]: window } }),
  })
  const client = anthropic({
    model: name,
    apiKey: 'none',
    baseURL: 'http://127.0.0.1',
    fetch: async (input, init) => simulator.fetch(input as string, init),
  })
  const chosen = { type: 'model', words: `simulator:${name}`, name, client } as const
  if (data.isReal) return startReal(data, person, chosen)
  const newest = isContinued ? listSessions(sessionsFolder(home, folder))[0] : undefined
  const agent = await createAgent({
    ...{ folder, home, person },
    settings: { ...noSettings, ...hooksOf(folder), engine: engineSettings(data) },
    model: isOffline ? { ...chosen, client: withoutSummaries(client) } : chosen,
    env: process.env,
    createTools: async () => ({ tools: toolsFor(folder, person), close: async () => undefined }),
    ...(newest ? { session: { type: 'open', path: newest.path } } : {}),
  })
  if (tokens > 0) agent.session().add(longHistory(tokens))
  return { type: 'agent', agent, folder, commands: commandInfos(agent), past: pastOf(agent, folder) }
})

async function startReal(
  { folder, home, mode, isContinued = false, isTrusting = false }: PlayData,
  person: Person,
  chosen: ChosenModel,
): Promise<Awaited<ReturnType<StartAgent>>> {
  const env = { ...process.env, EVERLONG_HOME: home }
  const session = isContinued ? ({ type: 'continue' } as const) : ({ type: 'new' } as const)
  const started = await startAgent({ folder, env, person, chosen, session, mode, isTrusting })
  if (started.type !== 'started') return { type: 'none', why: JSON.stringify(started) }
  const { agent, notices, settings } = started
  const statusLine = settings.statusLine?.command
  return {
    type: 'agent',
    agent,
    folder,
    notices,
    statusLine,
    bell: settings.bell,
    commands: commandInfos(agent),
    past: pastOf(agent, folder),
  }
}

function engineSettings({ window }: PlayData): EngineSettings {
  return window === undefined ? {} : { contextWindow: window }
}

/** Fails requests for a summary, so that code writes it. */
function withoutSummaries(client: ModelClient): ModelClient {
  return {
    ...client,
    send: async (request, options) =>
      request.source === 'compact'
        ? { type: 'failed', reason: 'transient', message: 'The model is offline.', tries: 1 }
        : client.send(request, options),
  }
}

/** Questions and answers about files that do not exist; no two are the same. */
function longHistory(tokens: number): readonly MessageInput[] {
  const turns = Math.ceil(tokens / 1_850)
  const sentence = (at: number) =>
    `In src/part-${at % 97}/file-${at}.ts the value of total${at} must stay below ${at * 7}. `
  const words = (turn: number) => Array.from({ length: 24 }, (_, at) => sentence(turn * 31 + at)).join('')
  return Array.from({ length: turns }, (_, turn): readonly MessageInput[] => [
    { role: 'user', content: `Question ${turn}: ${words(turn)}` },
    { role: 'assistant', content: [{ type: 'text', text: `Answer ${turn}: ${words(turn + 1)}` }] },
  ]).flat()
}

/** Waits until a test removes this file. */
async function whileThere(path: string, signal?: AbortSignal): Promise<void> {
  while (existsSync(path) && !signal?.aborted) await sleep(20)
}

function held(script: Script, path: string): Script {
  return async (request, context) => {
    await whileThere(path)
    return script(request, context)
  }
}

/** Does the steps of the newest prompt, one per answer. */
function follow(folder: string): Script {
  return async ({ messages }) => {
    const at = messages.findLastIndex(({ role, content }) => role === 'user' && blocksOf(content).some(isText))
    const prompt = textOf(blocksOf(messages[at]?.content).filter(isText).slice(-1))
    const steps = prompt.split(';').map((each) => each.trim())
    const step = steps[messages.slice(at).filter(({ role }) => role === 'assistant').length] ?? 'say Done.'
    const [, verb = '', rest = ''] = /^(\w+)\s*([\s\S]*)$/.exec(step) ?? []
    if (verb === 'hold') {
      await whileThere(join(folder, rest))
      return text(`Held ${rest}.`)
    }
    if (verb === 'print') {
      process.stdout.write(`${rest} on stdout\n`)
      console.error(`${rest} on stderr`)
      process.emitWarning(`${rest} as a warning`)
      return text(`Printed ${rest}.`)
    }
    if (verb === 'fill') {
      const [words = '', name = ''] = rest.split(' ')
      return text(`${'word '.repeat(Number(words))}\n\nFilled ${name}.`)
    }
    if (verb === 'list') return text(listOf(Number(rest)))
    if (verb === 'code') return text(codeOf(Number(rest)))
    if (verb === 'use') {
      const [, tool = '', input = '{}'] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? []
      return toolUse(tool, JSON.parse(input))
    }
    if (verb === 'call') {
      const [tool = '', ...words] = rest.split(' ')
      return toolUse(tool, {
        file_path: join(folder, words[0] ?? ''),
        command: rest,
        content: words.slice(1).join(' '),
      })
    }
    return text(verb === 'say' ? rest.replaceAll('\\n', '\n') : `You said: ${prompt}`)
  }
}

/** One block of Markdown, whose lines are wrapped on a narrow screen. */
function listOf(items: number): string {
  const itemAt = (at: number) => `${at}. item ${at} of a list that a person watches while the terminal becomes narrower`
  return Array.from({ length: items }, (_, at) => itemAt(at + 1)).join('\n')
}

function codeOf(lines: number): string {
  const lineAt = (at: number) => `export const name${at} = { text: 'line ${at}', count: ${at} } // comment ${at}`
  return `Look:\n\n\`\`\`ts\n${Array.from({ length: lines }, (_, at) => lineAt(at + 1)).join('\n')}\n\`\`\`\n\nThat is all.`
}

function hooksOf(folder: string): Pick<typeof noSettings, 'hooks'> {
  const path = join(folder, 'hooks.json')
  return existsSync(path) ? { hooks: JSON.parse(readFileSync(path, 'utf8')) } : { hooks: {} }
}

function toolsFor(folder: string, person: Person): readonly AnyTool[] {
  const file = z.looseObject({ file_path: z.string() })
  return [
    defineTool({
      name: 'Read',
      description: 'Reads a file.',
      input: file,
      isParallel: true,
      run: ({ file_path }) => readFileSync(file_path, 'utf8'),
    }),
    defineTool({
      name: 'Write',
      description: 'Writes a file.',
      input: file.extend({ content: z.string() }),
      run: async ({ file_path, content }, { toolUseId, signal }) => {
        const title = `Write ${file_path.slice(folder.length + 1)}`
        const before = existsSync(file_path) ? readFileSync(file_path, 'utf8') : ''
        const detail = { type: 'diff', text: createTwoFilesPatch('a', 'b', before, `${content}\n`) } as const
        const request = { toolUseId, tool: 'Write', title, detail, rules: ['Write(*)'] }
        const answer = await person.askPermission(request, signal)
        if (answer.type === 'deny') return { content: `Denied: ${answer.reason ?? 'no reason'}`, isError: true }
        mkdirSync(join(file_path, '..'), { recursive: true })
        writeFileSync(file_path, `${content}\n`)
        return `Wrote ${file_path}. Answer: ${answer.type}.`
      },
    }),
    defineTool({
      name: 'Slow',
      description: 'Takes its time.',
      input: file,
      run: async ({ file_path }, { signal }) => {
        await whileThere(file_path, signal)
        return 'Done waiting.'
      },
    }),
    defineTool({
      name: 'Ask',
      description: 'Asks the person.',
      input: z.looseObject({}),
      run: async (_, { signal }) => {
        const options = [{ label: 'Red', description: 'Like a rose' }, { label: 'Blue' }]
        const answers = await person.askQuestions(
          [
            { question: 'Which color?', options, isMultiple: false },
            { question: 'Which sizes?', options: [{ label: 'Small' }, { label: 'Large' }], isMultiple: true },
          ],
          signal,
        )
        return `Answers: ${JSON.stringify(answers)}`
      },
    }),
  ]
}
