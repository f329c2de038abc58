// The size of the made-up context, for consistent usage: each request reads what the last one wrote and adds everything since.

import type { Random } from '../random.ts'
import type { Counts } from './bodies.ts'

/** Measured on real sessions. */
const charsPerToken = 2.7
const systemTokens = 14_000

export type MeterOptions = {
  readonly random: Random
  /** Progress of the epoch from 0 to 1. Default: the context grows with the conversation. */
  readonly progress?: () => number
  /** The context size at progress 1. */
  readonly limit?: () => number
}

export class Meter {
  /** Input of the last request. */
  total = 0
  private floor = systemTokens
  private pendingChars = 0
  private isCold = true
  private readonly options: MeterOptions

  constructor(options: MeterOptions) {
    this.options = options
  }

  heard(chars: number): void {
    this.pendingChars += chars
  }

  request(answerChars: number): Counts {
    const { random, progress, limit } = this.options
    const before = Math.max(this.total, this.floor)
    const said = before + Math.max(12, Math.round(this.pendingChars / charsPerToken))
    const filled =
      progress && limit ? Math.round(this.floor + (limit() - this.floor) * Math.min(progress(), 1)) : undefined
    const now = filled === undefined ? said : Math.max(filled, before + 12)
    const input = random.int(1, 10)
    const cacheRead = this.isCold ? systemTokens : this.total
    this.total = Math.max(now, cacheRead + input)
    this.isCold = false
    this.pendingChars = answerChars
    const output = Math.max(8, Math.round(answerChars / charsPerToken))
    return { input, cacheRead, cacheWrite: this.total - cacheRead - input, output }
  }

  cleared(tokens: number): void {
    this.total = Math.max(systemTokens, this.total - tokens)
    this.floor = Math.min(this.floor, this.total)
  }

  /** Also empties the cache after the system prompt. */
  compacted(chars: number): { readonly preTokens: number; readonly postTokens: number } {
    const preTokens = Math.round(Math.max(this.total, systemTokens) * 1.005)
    this.floor = systemTokens + Math.round(chars / charsPerToken)
    this.total = 0
    this.pendingChars = 0
    this.isCold = true
    return { preTokens, postTokens: Math.min(this.floor, preTokens) }
  }
}
