// The seam between a session and whoever manages its context: one keeper for each session is told what happens and gets
// the next answer. Nobody reaches the simulator but through the port, where everything is counted.
import type { ToolResult } from '@everlong/simulator'
import type { Block, FileStore, Message } from 'everlong'
import type { AbortSignalPort, JsonObject } from 'everlong/internal'
import type { Setup } from './setup.ts'

export type Strategy = {
  readonly name: string
  /** The owner of the rule, for the table. */
  readonly who: string
  readonly open: (port: Port) => Keeper | Promise<Keeper>
}

export type Keeper = {
  /** A person's words, or the results of the tools that the last answer called. */
  readonly told: (message: Message) => void
  /** The model's next answer. Undefined if the session cannot continue. */
  readonly answer: () => Promise<readonly Block[] | undefined>
  /** Runs a tool that the keeper itself offers; undefined for every other. */
  readonly run?: (name: string, input: unknown) => Promise<ToolResult> | undefined
  /** Resolves when what a timer started is over. */
  readonly settled?: () => Promise<void>
  readonly close?: () => Promise<void>
}

export type Refusal = 'overflow' | 'signature' | 'invalid'

export type Port = {
  readonly setup: Setup
  readonly now: () => number
  /** A long wait ends when the session's clock gets there; a short one at once. */
  readonly wait: (milliseconds: number, signal?: AbortSignalPort) => Promise<void>
  /** The system prompt of every request of the session. */
  readonly system: string
  readonly tools: readonly JsonObject[]
  /** The current workspace. */
  readonly root: string
  readonly files: FileStore
  /** The simulated API, for strategies with their own client. */
  readonly fetch: typeof fetch
  /** The same for strategies without one. */
  readonly post: (body: JsonObject, headers?: Readonly<Record<string, string>>) => Promise<Posted>
  /** Reports a reduction of the context, for the table. */
  readonly note: (what: 'compaction' | 'clearing') => void
}

export type Posted = { readonly answer: JsonObject } | { readonly refusal: Refusal }
