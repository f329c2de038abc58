// Applies events of the agent to the state. Pure.
import type { EngineEvent } from 'everlong'
import { coldLine } from '../../render/cold-line.ts'
import { count, counted, duration, exactDollars } from '../../render/numbers.ts'
import { compactionPhases } from '../../render/phases.ts'
import { splitFinished } from '../draw/markdown.ts'
import type { Ask, FinishedCall, Hello, UiEvent } from '../host/protocol.ts'
import { type TerminalState, withDetail, withItem } from './state.ts'

export function startedState(
  state: TerminalState,
  { state: agent, commands, gauge, past, notices, bell = true }: Hello,
  now: number,
): TerminalState {
  let shown: TerminalState = { ...state, agent, commands, gauge, early: [], ringsBell: bell }
  for (const event of past) shown = applyEvent(shown, event, now)
  for (const text of notices) shown = withItem(shown, { type: 'notice', text })
  return shown
}

export function applyEvent(state: TerminalState, event: UiEvent, now: number): TerminalState {
  switch (event.type) {
    case 'text':
      return { ...state, answer: state.answer + event.text, hasStreamed: true, isThinking: false, retry: undefined }
    case 'thinking':
      return { ...state, isThinking: true, retry: undefined }
    case 'retrying':
      return { ...state, retry: { attempt: event.attempt, why: event.why, until: now + event.waitMs } }
    case 'retry-over':
      return { ...state, retry: undefined }
    case 'restarted':
      return { ...state, answer: '' }
    case 'answer':
      return answered(state, event.text)
    case 'call-started':
      return started(state, event.call, now)
    case 'call-output': {
      const { id, lines, total } = event
      const running = state.running.map((each) => (each.call.id === id ? { ...each, output: { lines, total } } : each))
      return { ...state, running }
    }
    case 'call-spent': {
      const { type: _, id, ...spent } = event
      const running = state.running.map((each) => (each.call.id === id ? { ...each, spent } : each))
      return { ...state, running }
    }
    case 'call-finished':
      return finished(state, event.call, now)
    case 'notice':
    case 'trouble':
      return withItem(flushed(state), { type: event.type, text: event.text })
    case 'engine':
      return withEngineEvent(state, event.event, now)
    case 'prompt':
      if (event.isQueued) return state
      // A command is on the screen already.
      if (event.prompt.command !== undefined) return { ...flushed(state), hasSaid: true }
      return withItem({ ...flushed(state), hasSaid: true }, { type: 'prompt', prompt: event.prompt })
    case 'receipt': {
      const { receipt, line } = event
      const shown = withItem(flushed({ ...state, compaction: undefined }), { type: 'receipt', line })
      return withDetail(shown, { type: 'receipt', receipt, line })
    }
    case 'stopped':
      return stopped(state, event.why)
    case 'done':
      return event.tookMs < longTurnMs ? state : withItem(flushed(state), { type: 'notice', text: doneText(event) })
    case 'state':
      return { ...state, agent: event.state, busySince: event.state.isBusy ? (state.busySince ?? now) : undefined }
    case 'session':
      return switched(state, event, now)
    case 'gauge':
      return { ...state, gauge: event.gauge }
    case 'todos':
      return { ...state, todos: event.todos }
    case 'status-line':
      return { ...state, statusLine: event.text }
  }
}

/** Printed items of the previous session stay in the scrollback. */
function switched(
  state: TerminalState,
  { title, past }: Extract<UiEvent, { type: 'session' }>,
  now: number,
): TerminalState {
  let shown = withItem(
    { ...flushed(state), details: [], todos: [], overlay: undefined, hasSaid: false },
    { type: 'notice', text: `Session ${title}` },
  )
  for (const event of past) shown = applyEvent(shown, event, now)
  return shown
}

/** Moves the finished blocks of the answer to the scrollback. */
export function settle(state: TerminalState): TerminalState {
  const { finished, rest } = splitFinished(state.answer)
  return finished === '' ? state : withItem({ ...state, answer: rest }, { type: 'answer', text: finished })
}

/** Moves all streamed text to the scrollback. */
function flushed(state: TerminalState): TerminalState {
  if (state.answer.trim() === '') return { ...state, answer: '' }
  return withItem({ ...state, answer: '' }, { type: 'answer', text: state.answer })
}

function answered(state: TerminalState, text: string): TerminalState {
  const done = { ...state, isThinking: false, hasStreamed: false, retry: undefined }
  // An answer that was not streamed is shown now.
  return flushed(state.hasStreamed ? done : { ...done, answer: text })
}

function started(
  state: TerminalState,
  call: Extract<UiEvent, { type: 'call-started' }>['call'],
  now: number,
): TerminalState {
  const { running } = state
  if (call.parent === undefined) return { ...flushed(state), running: [...running, { call, startedAt: now, steps: 0 }] }
  // Calls of a sub-agent are counted, and only the newest one is shown.
  const counted = running.map((each) =>
    each.call.id === call.parent ? { ...each, steps: each.steps + 1, step: call } : each,
  )
  return { ...flushed(state), running: counted }
}

const noticeableMs = 1_000

function finished(state: TerminalState, heard: FinishedCall, now: number): TerminalState {
  if (heard.parent !== undefined) return withDetail(state, { type: 'call', call: heard })
  const { startedAt = now } = state.running.find((each) => each.call.id === heard.id) ?? {}
  const tookMs = now - startedAt
  const call = tookMs < noticeableMs ? heard : { ...heard, tookMs }
  const running = state.running.filter((each) => each.call.id !== call.id)
  const todos = call.isError ? state.todos : (call.todos ?? state.todos)
  return withDetail(withItem({ ...flushed(state), running, todos }, { type: 'call', call }), { type: 'call', call })
}

function stopped(state: TerminalState, why: Extract<UiEvent, { type: 'stopped' }>['why']): TerminalState {
  const quiet = { ...flushed(state), running: [], isThinking: false, hasStreamed: false, retry: undefined }
  if (why === 'aborted')
    return withItem(quiet, { type: 'notice', text: 'Interrupted. What should the agent do instead?' })
  return why === 'turn-limit' ? withItem(quiet, { type: 'notice', text: 'Stopped at the turn limit.' }) : quiet
}

const longTurnMs = 10_000

/** `Worked for 34 s, $0.0560.` */
function doneText({ tookMs, cost }: Extract<UiEvent, { type: 'done' }>): string {
  return `Worked for ${duration(tookMs)}${cost ? `, ${exactDollars(cost)}` : ''}.`
}

function withEngineEvent(state: TerminalState, event: EngineEvent, now: number): TerminalState {
  switch (event.type) {
    case 'compaction-started':
      return { ...flushed(state), compaction: { startedAt: now, tokens: event.tokens, phase: 'starting' } }
    case 'compaction-progressed': {
      const { compaction = { startedAt: now, tokens: 0 } } = state
      const { outputTokens } = event
      const phase = compactionPhases[event.phase]
      return { ...state, compaction: { ...compaction, phase, ...(outputTokens === undefined ? {} : { outputTokens }) } }
    }
    case 'compaction-finished':
      return { ...state, compaction: undefined }
    case 'compaction-failed': {
      // A command reports its own result.
      if (state.command !== undefined) return { ...state, compaction: undefined }
      const text =
        event.reason === 'aborted' ? 'Compaction canceled. Nothing was changed.' : `No compaction: ${event.why}`
      return withItem({ ...state, compaction: undefined }, { type: 'notice', text })
    }
    default: {
      const text = noticeOf(event)
      return text === undefined ? state : withItem(flushed(state), { type: 'notice', text })
    }
  }
}

/** Information for the person, in one line. */
function noticeOf(event: EngineEvent): string | undefined {
  switch (event.type) {
    case 'micro-compacted':
      return `Cleared ${counted(event.results, 'old tool result')}: ${count(event.tokensBefore)} → ${count(event.tokensAfter)} tokens. The originals stay in the transcript.`
    case 'cache-cold':
      return coldLine(event)
    case 'overflow-recovered':
      return 'The prompt was too long. It was shortened and sent again.'
    case 'breaker-tripped':
      return `Automatic compaction failed ${event.failures} times in a row and is off for now. /compact still works.`
    case 'still-over-threshold':
      return `Still over the threshold after compacting: ${count(event.tokens)} of ${count(event.threshold)} tokens.`
    case 'hook-reported':
      return `Hook ${event.event}: ${event.problem}`
    case 'host-code-failed':
      return `${event.code}: ${event.problem}`
    default:
      return undefined
  }
}

/** Enter must not trust a folder by accident, so such a question starts at no. */
export function withAsk(state: TerminalState, id: number, ask: Ask): TerminalState {
  const dialog =
    ask.type === 'permission'
      ? { type: 'permission' as const, id, request: ask.request, selected: ask.request.answers ? 1 : 0 }
      : { type: 'questions' as const, id, questions: ask.questions, answers: [], selected: 0, ticked: [] }
  return { ...state, asks: [...state.asks, dialog] }
}

export function withdrawn(state: TerminalState, id: number): TerminalState {
  return { ...state, asks: state.asks.filter((ask) => ask.id !== id) }
}
