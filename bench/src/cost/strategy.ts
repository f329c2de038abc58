// The seam between a session and whoever manages its context: one keeper for each session is told what happens and gets
// the next answer. Nobody reaches the simulator but through the port, where everything is counted.
import type { ToolResult } from '@everlong/simulator'
import type { Block, FileStore, Message } from 'everlong'
import type { AbortSignalPort, JsonObject } from 'everlong/internal'
import type { Setup } from './setup.ts'

export type Strategy = {
  readonly name: string
  /** Whose rule it is, for the table. */
  readonly who: string
  readonly open: (port: Port) => Keeper | Promise<Keeper>
}

export type Keeper = {
  /** A person's words, or the results of the tools that the last answer called. */
  readonly told: (message: Message) => void
  /** What the model says to all that was told; undefined if the session cannot continue. */
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
  /** What every request of the session begins with. */
  readonly system: string
  readonly tools: readonly JsonObject[]
  /** The workspace as it is now. */
  readonly root: string
  readonly files: FileStore
  /** The simulated API, for whoever brings a client. */
  readonly fetch: typeof fetch
  /** The same for whoever has none. */
  readonly post: (body: JsonObject, headers?: Readonly<Record<string, string>>) => Promise<Posted>
  /** Says that the context was made smaller, for the table. */
  readonly note: (what: 'compaction' | 'clearing') => void
}

export type Posted = { readonly answer: JsonObject } | { readonly refusal: Refusal }
