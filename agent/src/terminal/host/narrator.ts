// Turns the agent's events into events for the terminal. Runs in the agent's thread, so that long results, diffs and counting do
// not slow down the terminal.
import { textOf } from 'everlong/internal'
import type { Agent, AgentEvent, PermissionRequest } from '../../app.ts'
import { forecastOf } from '../../forecast.ts'
import { receiptLine } from '../../receipt.ts'
import { fullnessOf } from '../../render/gauge.ts'
import { failureLine } from '../../render/retry.ts'
import type { Todo } from '../../render/todos.ts'
import { createBill } from './bill.ts'
import { callOf, finishedCall, type Work } from './calls.ts'
import { pastOf } from './past.ts'
import type { Call, GaugeReading, UiEvent } from './protocol.ts'
import { createStatusLine } from './status-line.ts'

export type NarratorOptions = {
  /** Paths are shown relative to this folder. */
  readonly folder: string
  readonly send: (event: UiEvent) => void
  /** A custom command. Its first line of output is shown below the prompt. */
  readonly statusLine?: string
}

const gaugeEveryMs = 100
/** No screen is wider. */
const maxLine = 1_000

export type Narrator = {
  /** A permission request has the best diff. */
  readonly rememberDiff: (request: PermissionRequest) => void
  /** Something may have changed without an event. */
  readonly refresh: () => void
  readonly tellTodos: (todos: readonly Todo[]) => void
  readonly stop: () => void
}

export function createNarrator(agent: Agent, { folder, send, statusLine: command }: NarratorOptions): Narrator {
  const calls = new Map<string, Call>()
  const diffs = new Map<string, string>()
  const works = new Map<string, Work>()
  const bill = createBill(agent)
  let timer: NodeJS.Timeout | undefined
  const sendGauge = () => {
    clearTimeout(timer)
    timer = undefined
    const gauge = readGauge(agent)
    if (gauge) send({ type: 'gauge', gauge })
    statusLine?.refresh()
  }
  const refresh = () => {
    timer ??= setTimeout(sendGauge, gaugeEveryMs)
  }
  const statusLine = command === undefined ? undefined : createStatusLine(agent, { command, folder, send })
  statusLine?.refresh()
  let { sessionId: session, isBusy: wasBusy } = agent.state()
  const tell = (event: AgentEvent, parent?: string): void => {
    if (event.type === 'state' && event.state.sessionId !== session) {
      session = event.state.sessionId
      send({ type: 'session', title: event.state.name ?? session, past: pastOf(agent, folder) })
    }
    if (event.type === 'tool-started')
      calls.set(event.toolUseId, callOf(event, { folder, ...(parent === undefined ? {} : { parent }) }))
    if (event.type === 'state') {
      // Plain lines end with the size of the context: it must not be the one before a compaction.
      if (wasBusy && !event.state.isBusy) {
        sendGauge()
        send({ type: 'done', ...bill.end() })
      }
      if (!wasBusy && event.state.isBusy) bill.begin()
      wasBusy = event.state.isBusy
    }
    for (const told of uiEvents(event, { calls, diffs, works, folder })) send(told)
    if (event.type === 'tool-finished') {
      calls.delete(event.toolUseId)
      diffs.delete(event.toolUseId)
      works.delete(event.toolUseId)
    }
    if (event.type === 'subagent') tellOfSubagent(event.event, parent ?? event.toolUseId)
    if (changesGauge.has(event.type)) refresh()
  }
  // A sub-agent's text goes to the agent that started it; a person sees its calls.
  const tellOfSubagent = (event: AgentEvent, parent: string) => {
    const work = works.get(parent) ?? { calls: 0, tokens: 0 }
    if (event.type === 'tool-started') works.set(parent, { ...work, calls: work.calls + 1 })
    if (event.type === 'spent') {
      const { type: _, ...spent } = event
      works.set(parent, { ...work, ...spent })
      bill.note(parent, spent.cost)
      send({ type: 'call-spent', id: parent, ...spent })
    }
    if (event.type === 'subagent' || event.type === 'tool-started' || event.type === 'tool-finished')
      tell(event, parent)
  }
  const stopListening = agent.on((event) => tell(event))
  return {
    refresh,
    tellTodos: (todos) => send({ type: 'todos', todos }),
    rememberDiff: ({ toolUseId, detail }) => {
      if (detail?.type === 'diff') diffs.set(toolUseId, detail.text)
    },
    stop: () => {
      stopListening()
      clearTimeout(timer)
      statusLine?.stop()
    },
  }
}

const changesGauge: ReadonlySet<AgentEvent['type']> = new Set([
  'answer',
  'tool-finished',
  'prompt',
  'receipt',
  'state',
  'engine',
])

/** Undefined while the session is unavailable, such as between two sessions. */
export function readGauge(agent: Agent): GaugeReading | undefined {
  try {
    const explanation = agent.session().explain()
    const turns = forecastOf(agent.session())?.turns
    return { ...fullnessOf(explanation), ...(turns === undefined ? {} : { turnsLeft: turns }) }
  } catch {
    return undefined
  }
}

type KnownCall = {
  readonly calls: ReadonlyMap<string, Call>
  readonly diffs: ReadonlyMap<string, string>
  readonly works: ReadonlyMap<string, Work>
  readonly folder: string
}

function uiEvents(event: AgentEvent, { calls, diffs, works, folder }: KnownCall): readonly UiEvent[] {
  switch (event.type) {
    case 'stream':
      if (event.event.type === 'retrying') return [{ type: 'restarted' }]
      return event.event.type === 'progress' ? [] : [event.event]
    case 'answer':
      return [{ type: 'answer', text: textOf(event.answer.content) }]
    case 'tool-started': {
      const call = calls.get(event.toolUseId)
      return call ? [{ type: 'call-started', call }] : []
    }
    case 'tool-finished': {
      const { toolUseId: id, name } = event
      const known = calls.get(id) ?? { id, name, subject: name, input: '' }
      const diff = diffs.get(id)
      return [finishedCall(diff === undefined ? known : { ...known, diff }, event, folder, works.get(id))]
    }
    case 'tool-output': {
      const { toolUseId: id, lines, total } = event
      return [{ type: 'call-output', id, lines: lines.map((line) => line.slice(0, maxLine)), total }]
    }
    case 'failed':
      return [{ type: 'trouble', text: failureLine(event.failure) }]
    case 'blocked':
      return [{ type: 'trouble', text: event.why }]
    case 'stopped':
      return [{ type: 'stopped', why: event.why }]
    case 'receipt':
      return [{ ...event, line: receiptLine(event.receipt) }]
    case 'record':
    case 'spent':
    case 'subagent':
      return []
    default:
      return [event]
  }
}
