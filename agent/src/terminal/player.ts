// Plays the person in the demo: types letter by letter, sends, waits, and announces each step.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Controller } from './controller.ts'
import type { UiEvent } from './host/protocol.ts'
import { isSlashCommand } from './input/command-line.ts'
import { edit, emptyEditor, promptOf } from './input/editor.ts'
import { withItem } from './state/state.ts'
import type { Store } from './store.ts'

export type Player = {
  readonly type: (text: string) => Promise<void>
  readonly paste: (text: string) => void
  /** Sends the typed text, and resolves when the agent has finished. */
  readonly send: () => Promise<void>
  readonly announce: (text: string) => void
  readonly pause: (milliseconds: number) => Promise<void>
  readonly on: (listener: (event: UiEvent) => void) => () => void
  /** The person took over. */
  readonly isStopped: () => boolean
}

export type Play = (player: Player) => Promise<void>

const letterMs = 14

export function createPlayer(store: Store, controller: Controller): Player {
  const isStopped = () => !store.get().isPlaying
  store.update((state) => ({ ...state, isPlaying: true }), 'now')
  const pause = async (milliseconds: number): Promise<void> => {
    const end = Date.now() + milliseconds
    while (!isStopped() && Date.now() < end) await sleep(Math.min(50, end - Date.now()))
  }
  const put = (key: 'text' | 'paste', text: string) =>
    store.update((state) => ({ ...state, editor: edit(state.editor, { key, text }) ?? state.editor }), 'now')
  return {
    isStopped,
    pause,
    on: controller.on,
    type: async (text) => {
      for (const letter of text) {
        if (isStopped()) return
        put('text', letter)
        await pause(letterMs)
      }
    },
    paste: (text) => put('paste', text),
    send: async () => {
      if (isStopped()) return
      const { editor } = store.get()
      store.update((state) => ({ ...state, editor: emptyEditor }), 'now')
      const shown = editor.text.trim()
      if (isSlashCommand(shown)) await controller.run({ type: 'command', line: shown })
      else await controller.agent.submit(promptOf(editor))
    },
    announce: (text) => store.update((state) => withItem(state, { type: 'announcement', text })),
  }
}
