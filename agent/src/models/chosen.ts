// A chosen model, ready for requests.
import type { ModelClient } from 'everlong'

/** Starts a model that works on a folder without a key and a network. */
export type DemoModel = (folder: string) => Promise<ChosenModel>

export type ChosenModel = {
  readonly type: 'model'
  /** The text that selects it again. */
  readonly words: string
  /** The provider's name for it. */
  readonly name: string
  readonly client: ModelClient
  /** Stops its helpers, such as the server of the demo. */
  readonly close?: () => Promise<void>
}
