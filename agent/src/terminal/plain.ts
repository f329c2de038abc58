// Plain lines, for screen readers and terminals that cannot move the cursor: finished items are printed once, input is read line
// by line, questions are answered with a number or a word.

import { createInterface } from 'node:readline'
import { count } from '../render/numbers.ts'
import { retryLine } from '../render/retry.ts'
import { createSheet } from '../render/sheet.ts'
import type { Controller } from './controller.ts'
import { createDetailLines, detailTitle } from './draw/details.ts'
import { gaugeWordings } from './draw/footer.ts'
import { type ItemSheet, itemLines } from './draw/items.ts'
import { isCommand } from './input/command-line.ts'
import { keysFor, plainQuestion } from './plain-asks.ts'
import type { Effect } from './state/effects.ts'
import { type TerminalState, withoutPrinted } from './state/state.ts'
import type { Store } from './store.ts'
import type { View } from './view.ts'

const samePressMs = 2_000

export const show: View = ({ store, controller, stdin, stdout }) => {
  const sheet = { ...createSheet({ width: stdout.columns ?? 80, isColored: false }), expand: '/details' }
  const print = (lines: readonly string[]) => {
    for (const line of lines) stdout.write(`${line}\n`)
  }
  const printNew = createPrinter(sheet, print)
  const stop = store.subscribe(() => printNew(store))
  printNew(store)
  const input = createInterface({ input: stdin, terminal: false })
  const isTyped = (stdin as Partial<NodeJS.ReadStream>).isTTY === true
  const run = async (line: string) => {
    printNew(store)
    const effect = runLine(line, store.get(), controller, print)
    await controller.ready
    if (effect) await controller.run(effect)
  }
  // A person may type ahead while the agent works. Lines from a file or a program wait for the previous line, unless they answer
  // an open question.
  let work: Promise<unknown> = controller.ready
  input.on('line', (line) => {
    const isNow = isTyped || store.get().asks.length > 0
    const done = isNow ? Promise.all([work, run(line)]) : work.then(() => run(line))
    work = done.then(() => undefined)
  })
  // Requests are finished before the end of the input ends the program. Nobody is left to ask, so every question is answered with
  // no.
  let stopDeclining: () => void = () => undefined
  input.on('close', () => {
    stopDeclining = store.subscribe(() => decline(store, controller))
    decline(store, controller)
    const begun = Promise.race([controller.ready, controller.ended])
    void begun.then(() => work).then(() => controller.quit())
  })
  const onInterrupt = createInterrupt(store, controller, print)
  process.on('SIGINT', onInterrupt)
  return {
    redraw: () => undefined,
    end: async () => {
      printNew(store)
      stop()
      stopDeclining()
      process.off('SIGINT', onInterrupt)
      input.close()
      stdin.destroy()
    },
  }
}

function decline(store: Store, { agent }: Controller): void {
  const { asks } = store.get()
  if (asks.length === 0) return
  store.update((state) => ({ ...state, asks: [] }))
  const denied = { type: 'deny', isUnattended: true } as const
  for (const { id, type } of asks) agent.answer(id, type === 'permission' ? denied : undefined)
}

/** Prints new content: finished items, each phase of a compaction and each retry once, questions, and the gauge when a turn ends. */
function createPrinter(sheet: ItemSheet, print: (lines: readonly string[]) => void): (store: Store) => void {
  let printed = 0
  let phase: string | undefined
  let retry: TerminalState['retry']
  let asked: string | undefined
  let wasBusy = false
  return (store) => {
    const state = store.get()
    const items = state.items.slice(printed)
    printed = state.items.length
    // The terminal has already echoed typed text.
    for (const item of items) if (item && item.type !== 'prompt') print(itemLines(item, sheet))
    if (state.compaction && state.compaction.phase !== phase) print([`Compacting: ${state.compaction.phase}`])
    phase = state.compaction?.phase
    if (state.retry && state.retry !== retry) print([retryLine(state.retry, state.retry.until - Date.now())])
    retry = state.retry
    const question = plainQuestion(state, sheet)
    // The same text may be a new question.
    const key = question && [state.asks[0]?.id, ...question].join('\n')
    if (question && key !== asked) print(['', ...question])
    asked = key
    const isBusy = state.agent?.isBusy ?? false
    if (wasBusy && !isBusy) print(endOfTurn(state))
    wasBusy = isBusy
    if (items.length > 0) store.update((before) => withoutPrinted(before, printed))
  }
}

function endOfTurn({ gauge }: TerminalState): readonly string[] {
  return ['', gauge ? `Ready. ${gaugeWordings(gauge)[0] ?? ''}` : 'Ready.']
}

const detailLines = createDetailLines()

const keyHelp: readonly string[] = [
  'Enter sends the line. A line that starts with / is a command, one that starts with ! a shell command.',
  'Ctrl+C interrupts; twice, it quits. Ctrl+D quits.',
]

/** The effect of a line. Undefined if it was handled. */
function runLine(
  line: string,
  state: TerminalState,
  controller: Controller,
  print: (lines: readonly string[]) => void,
): Effect | undefined {
  const keys = keysFor(line, state)
  const text = line.trim()
  if (keys) {
    for (const key of keys) controller.press(key)
    if (keys.length === 0) print(['That is no answer. Type one of the numbers.'])
    return undefined
  }
  if (/^\/details\b/.test(text)) {
    print(detailsOf(text, state))
    return undefined
  }
  if (text === '?') {
    print(keyHelp)
    return undefined
  }
  if (text === '') return undefined
  return isCommand(text) ? { type: 'command', line: text } : { type: 'submit', prompt: { text }, shown: text }
}

/** `/details` shows the newest folded item in full, `/details 3` the third newest. */
function detailsOf(line: string, { details, size }: TerminalState): readonly string[] {
  const back = Number(/\d+/.exec(line)?.[0] ?? 1)
  const detail = details.at(-back)
  if (!detail) return [details.length === 0 ? 'There is nothing to expand yet.' : `There are ${count(details.length)}.`]
  const sheet = createSheet({ width: size.columns, isColored: false })
  return ['', detailTitle(detail, size.columns), ...detailLines(detail, sheet)]
}

function createInterrupt(store: Store, controller: Controller, print: (lines: readonly string[]) => void): () => void {
  let pressedAt = 0
  return () => {
    const now = Date.now()
    if (now - pressedAt < samePressMs) void controller.quit(130)
    pressedAt = now
    const { agent, command, asks } = store.get()
    if (command !== undefined) void controller.run({ type: 'abort-command' })
    else if (agent?.isBusy || asks.length > 0) void controller.run({ type: 'interrupt' })
    print(['Press Ctrl+C again to quit.'])
  }
}
