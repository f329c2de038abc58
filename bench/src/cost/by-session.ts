// A keeper that is Everlong as a host uses it: an engine, a session, its recall tool, its own client in front of the simulated
// API, real compactions with what they restore. Our settings and the fixed rules they are compared with differ in data only.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ToolResult } from '@everlong/simulator'
import type { EngineEvent, EngineSettings } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import type { Mechanisms } from 'everlong/mechanisms'
import { createEngine, type Engine, recallTool, type Session } from 'everlong/node'
import { maxOutput } from './setup.ts'
import type { Keeper, Port, Strategy } from './strategy.ts'

export type SessionRule = {
  readonly name: string
  readonly who: string
  readonly settings?: EngineSettings
  readonly mechanisms?: Partial<Mechanisms>
}

export function bySession(rule: SessionRule): Strategy {
  return { name: rule.name, who: rule.who, open: (port) => openKeeper(rule, port) }
}

async function openKeeper(rule: SessionRule, port: Port): Promise<Keeper> {
  const { system, tools, root } = port
  const engine = engineFor(rule, port)
  // Notes are a file next to the session's, so they need a session on disk.
  const takesNotes = rule.settings?.economy === 'claude-code' && rule.settings.sessionMemory !== false
  const folder = takesNotes ? await mkdtemp(join(tmpdir(), 'everlong-bench-cost-')) : undefined
  const session = await engine.start({
    system,
    tools,
    maxTokens: maxOutput,
    envelope: { cwd: root },
    ...(folder === undefined ? {} : { path: join(folder, 'session.jsonl') }),
  })
  const { name, description, input_schema, run } = recallTool(session)
  session.configure({ tools: [...tools, { name, description, input_schema }] })
  return {
    run: (called, input) => (called === name ? recalled(run(input)) : undefined),
    told: (message) => {
      session.add({ role: 'user', content: message.content })
    },
    answer: () => answerOf(session),
    settled: async () => {
      // A timer that ended has queued its work by now; any call of the session waits for it.
      await new Promise((resolve) => setImmediate(resolve))
      await session.unpin('nothing')
    },
    close: async () => {
      await session.close()
      if (folder !== undefined) await rm(folder, { recursive: true })
    },
  }
}

async function recalled(output: ReturnType<ReturnType<typeof recallTool>['run']>): Promise<ToolResult> {
  const { text: content, isError } = await output
  return { content, isError }
}

function engineFor(rule: SessionRule, port: Port): Engine {
  const { settings, mechanisms } = rule
  const { model, window, lifetime } = port.setup
  let count = 0
  return createEngine({
    model: anthropic({ model, apiKey: 'bench', baseURL: 'http://simulator', fetch: port.fetch }),
    environment: {},
    files: port.files,
    settings: { contextWindow: window, cacheMarks: lifetime, recall: true, ...settings },
    ...(mechanisms ? { mechanisms } : {}),
    onEvent: (event) => tell(event, port),
    ports: {
      now: port.now,
      newId: () => `entry-${++count}`,
      ...(settings?.compactWhenIdle ? { wait: port.wait } : {}),
    },
  })
}

function tell({ type }: EngineEvent, { note }: Port): void {
  if (type === 'micro-compacted') note('clearing')
  if (type === 'compaction-finished') note('compaction')
}

async function answerOf(session: Session) {
  // Notes are taken while tools run or a person types; here nobody waits in between.
  await session.idle()
  const turn = await session.send()
  return turn.type === 'answered' ? turn.answer.content : undefined
}
