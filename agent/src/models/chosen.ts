// A model that was chosen, ready for requests.
import type { ModelClient } from 'everlong'

export type ChosenModel = {
  readonly type: 'model'
  /** The words that choose it again. */
  readonly words: string
  /** The provider's name for it. */
  readonly name: string
  readonly client: ModelClient
  /** Stops what runs for it, such as the server behind the demo. */
  readonly close?: () => Promise<void>
}
