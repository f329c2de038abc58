// Connects the state, the agent and the keys: carries out effects of keys, and applies events of the agent to the state.

import type { CommandResult, Prompt } from '../app.ts'
import { reasonOf } from '../reason-of.ts'
import { bytes } from '../render/numbers.ts'
import { oneLine } from '../render/safe.ts'
import type { UiEvent } from './host/protocol.ts'
import { connectToWorker, type RemoteAgent } from './host/remote.ts'
import { imageInClipboard } from './input/clipboard.ts'
import { type Editor, editorWith, withImage } from './input/editor.ts'
import { editText } from './input/external-editor.ts'
import type { History } from './input/history.ts'
import { imageIn } from './input/image-files.ts'
import type { Press } from './input/keys.ts'
import { replaced } from './input/memory.ts'
import type { Printed } from './printed.ts'
import { applyEvent, settle, startedState, withAsk, withdrawn } from './state/apply-event.ts'
import type { Effect } from './state/effects.ts'
import { armedMs, press } from './state/press.ts'
import { type TerminalState, withItem } from './state/state.ts'
import type { Store } from './store.ts'

export type ControllerOptions = {
  /** A module that serves an agent: see host/serve.ts. */
  readonly worker: URL
  /** For the worker, as its `workerData`. */
  readonly data: unknown
  readonly folder: string
  readonly store: Store
  readonly history: History
  readonly printed: Printed
  readonly redraw: () => void
  /** Returns the terminal to the shell until the program is continued. */
  readonly suspend: () => Promise<void>
  /** Gives the terminal to another program while it runs. */
  readonly leave: (run: () => Promise<void>) => Promise<void>
}

export type Controller = {
  readonly press: (key: Press) => void
  readonly agent: RemoteAgent
  readonly run: (effect: Effect) => Promise<void>
  readonly on: (listener: (event: UiEvent) => void) => () => void
  readonly ready: Promise<void>
  /** Ends the agent, then resolves `ended`. */
  readonly quit: (exitCode?: number) => Promise<void>
  readonly ended: Promise<number>
}

/** The same as without a screen: invalid options or settings, no model, no such session (docs/agent.md). */
const notStarted = 2

/** How often finished blocks of an answer move to the scrollback, because an answer arrives in hundreds of chunks. */
const settleMs = 50

export function createController(options: ControllerOptions): Controller {
  const { store, history, folder } = options
  const ended = Promise.withResolvers<number>()
  const ready = Promise.withResolvers<void>()
  const listeners = new Set<(event: UiEvent) => void>()
  const update = (change: (state: TerminalState) => TerminalState) => store.update(change)
  const settleSoon = once(settleMs, () => update(settle))
  const agent = connectToWorker(options.worker, options.data, {
    hello: (hello) => {
      update((state) => startedState(state, hello, Date.now()))
      if (hello.logFile !== undefined) options.printed.logTo(hello.logFile)
      ready.resolve()
    },
    noAgent: (why, setup) => {
      const content = setup ? ({ type: 'setup', why, setup } as const) : ({ type: 'trouble', text: why } as const)
      store.update((state) => withItem(state, content), 'now')
      ended.resolve(notStarted)
    },
    event: (event) => {
      update((state) => applyEvent(state, event, Date.now()))
      settleSoon()
      for (const listener of listeners) listener(event)
    },
    ask: (id, ask) => update((state) => withAsk(state, id, ask)),
    withdrawn: (id) => update((state) => withdrawn(state, id)),
    printed: options.printed.add,
    lost: (why) => {
      const text = `The agent stopped: ${why} What was said so far is saved.`
      store.update((state) => withItem(state, { type: 'trouble', text }), 'now')
      ended.resolve(1)
    },
  })
  const quit = async (exitCode = 0): Promise<void> => {
    await agent.close()
    ended.resolve(exitCode)
  }
  const run = createEffects({ ...options, agent, quit })
  return {
    agent,
    run,
    quit,
    ready: ready.promise,
    ended: ended.promise,
    on: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    press: (key) => {
      const image = key.key === 'paste' ? imageIn(key.text ?? '', folder) : undefined
      if (image?.type === 'too-large') {
        const hint = `${oneLine(image.name)} is too large to attach: ${bytes(image.bytes)}.`
        store.update((state) => ({ ...state, hint }), 'now')
        return
      }
      if (image?.type === 'image') {
        store.update((state) => ({ ...state, editor: withImage(state.editor, image.name, image.image) }), 'now')
        return
      }
      const { state, effects } = press({ ...store.get(), history: history.entries() }, key, Date.now())
      store.update(() => state, 'now')
      if (state.armed) disarmLater(store, state.armed)
      for (const effect of effects) void run(effect)
    },
  }
}

/** Removes the hint when a second press no longer counts. */
function disarmLater(store: Store, armed: NonNullable<TerminalState['armed']>): void {
  const disarm = (state: TerminalState) =>
    state.armed === armed ? { ...state, armed: undefined, hint: undefined } : state
  setTimeout(() => store.update(disarm, 'now'), armedMs).unref()
}

/** Runs once after a number of milliseconds, even if it is called several times before. */
function once(milliseconds: number, run: () => void): () => void {
  let isWaiting = false
  return () => {
    if (isWaiting) return
    isWaiting = true
    setTimeout(() => {
      isWaiting = false
      run()
    }, milliseconds)
  }
}

type EffectOptions = ControllerOptions & Pick<Controller, 'agent' | 'quit'>

function createEffects({
  store,
  history,
  agent,
  quit,
  redraw,
  suspend,
  leave,
}: EffectOptions): (effect: Effect) => Promise<void> {
  let commandStop: AbortController | undefined
  const show = (text: string, type: 'output' | 'trouble' | 'notice') =>
    store.update((state) => withItem(state, { type, text }))
  const takeResult = createResults({ store, agent, quit, show })
  const command = async (line: string, title = line): Promise<void> => {
    if (title === line) history.add(line)
    commandStop = new AbortController()
    // A shell command is already shown with its output.
    const shown = (state: TerminalState) =>
      line.startsWith('!') ? state : withItem(state, { type: 'prompt', prompt: { text: title } })
    store.update((state) => ({ ...shown(state), command: title }), 'now')
    const result = await agent.command(line, commandStop.signal).catch(
      (error: unknown): CommandResult => ({
        type: 'error',
        text: reasonOf(error),
      }),
    )
    store.update((state) => ({ ...state, command: undefined }))
    await takeResult(result)
  }
  const effects: { readonly [Type in Effect['type']]: (effect: Extract<Effect, { type: Type }>) => unknown } = {
    submit: ({ prompt, shown }) => {
      history.add(shown)
      return agent.submit(prompt)
    },
    command: ({ line, shown }) => command(line, shown),
    interrupt: async () => {
      commandStop?.abort()
      const back = await agent.interrupt()
      store.update((state) => ({ ...state, editor: withPrompts(state.editor, back) }))
    },
    'abort-command': () => commandStop?.abort(),
    'move-to-background': async () => {
      const moved = await agent.moveToBackground()
      if (moved === 0) store.update((state) => ({ ...state, hint: 'What runs now cannot go to the background.' }))
    },
    'take-queued': async () => {
      const back = await agent.takeQueued()
      store.update((state) => ({ ...state, editor: withPrompts(state.editor, back) }))
    },
    'find-files': async ({ typed }) => {
      const files = await agent.files(typed)
      store.update((state) => ({ ...state, found: { typed, files } }), 'now')
    },
    'set-mode': ({ mode }) => agent.setMode(mode),
    answer: ({ id, answer }) => agent.answer(id, answer),
    'load-original': async ({ receipt }) => {
      const original = await agent.original(receipt)
      store.update((state) => ({
        ...state,
        details: state.details.map((detail) =>
          detail.type === 'receipt' && detail.receipt.uuid === receipt ? { ...detail, original } : detail,
        ),
      }))
    },
    redraw,
    suspend,
    ...inputEffects(store, { leave, show }),
    'stop-playing': () => store.update((state) => ({ ...state, isPlaying: false }), 'now'),
    quit: () => quit(),
  }
  return async (effect) => {
    try {
      await (effects[effect.type] as (effect: Effect) => unknown)(effect)
    } catch (error) {
      show(reasonOf(error), 'trouble')
    }
  }
}

type ResultOptions = Pick<EffectOptions, 'store' | 'agent' | 'quit'> & {
  readonly show: (text: string, type: 'output' | 'trouble') => void
}

/** Shows the result of a command, or carries it out. */
function createResults({ store, agent, quit, show }: ResultOptions): (result: CommandResult) => Promise<void> {
  return async (result) => {
    if (result.type === 'quit') await quit()
    if (result.type === 'text') {
      const text = withoutReceipt(result.text, store.get())
      if (text !== '') show(text, 'output')
    }
    if (result.type === 'error') show(result.text, 'trouble')
    if (result.type === 'submit') await agent.submit(result.prompt)
    if (result.type === 'edit') {
      show(result.text, 'output')
      store.update((state) =>
        state.editor.text === '' ? { ...state, editor: replaced(state.editor, editorWith(result.input)) } : state,
      )
    }
    if (result.type === 'choose') {
      const { title, choices } = result
      store.update((state) => ({ ...state, overlay: { type: 'picker', title, choices, filter: '', selected: 0 } }))
    }
  }
}

type InputOptions = Pick<ControllerOptions, 'leave'> & {
  readonly show: (text: string, type: 'trouble') => void
}

function inputEffects(store: Store, { leave, show }: InputOptions) {
  return {
    'open-editor': async () => {
      const edited = await editText(store.get().editor.text, { env: process.env, inTerminal: leave })
      if (edited.type === 'failed') show(edited.why, 'trouble')
      else
        store.update(({ editor, ...state }) => {
          const next = replaced(editor, { ...editorWith(edited.text), pastes: editor.pastes })
          return { ...state, editor: next }
        }, 'now')
    },
    'paste-image': async () => {
      const found = await imageInClipboard()
      if (found.type === 'none') store.update((state) => ({ ...state, hint: found.why }), 'now')
      else store.update((state) => ({ ...state, editor: withImage(state.editor, 'clipboard', found.image) }), 'now')
    },
  }
}

/** The receipt was already shown with all details. */
function withoutReceipt(text: string, { details }: TerminalState): string {
  const newest = details.at(-1)
  return newest?.type === 'receipt' ? text.replace(newest.line, '').trim() : text.trim()
}

/** Queued text comes before the text being typed. */
function withPrompts(editor: Editor, prompts: readonly Prompt[]): Editor {
  const texts = [...prompts.map(({ text, command }) => command ?? text), editor.text].filter((text) => text !== '')
  const pastes = prompts.flatMap(({ images = [] }, at) =>
    images.map((image, nth) => ({ mark: `[Image ${at + 1}.${nth + 1}]`, text: '', image })),
  )
  const all = [...texts, ...pastes.map(({ mark }) => mark)].join('\n')
  if (prompts.length === 0) return editor
  return replaced(editor, { ...editorWith(all), pastes: [...editor.pastes, ...pastes] })
}
