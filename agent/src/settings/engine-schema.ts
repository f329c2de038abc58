// The engine's settings as a settings file may give them. docs/settings.md explains each; a test compares the two.
import { z } from 'zod'

const share = z.number().gt(0).lt(1)
const tokens = z.int().positive()
const count = z.int().nonnegative()
const minutes = z.number().positive()

const summary = z.strictObject({
  model: z.string().optional(),
  shareCache: z.boolean().optional(),
  offline: z.enum(['always', 'overflow', 'never']).optional(),
  handoverTokens: tokens.optional(),
  summaryTokens: tokens.optional(),
  restoreTokens: count.optional(),
  boundThinking: z.enum(['remove', 'decline']).optional(),
  serverCompaction: z.enum(['off', 'on-demand']).optional(),
})

const reductions = z.strictObject({
  microCompact: z.union([z.literal(false), z.enum(['above-warning', 'always'])]).optional(),
  weigh: z.boolean().optional(),
  reproducible: z.array(z.string()).optional(),
  toolKinds: z.record(z.string(), z.string().nullable()).optional(),
  boundThinking: z.enum(['delegate', 'remove', 'decline']).optional(),
  keepFinished: z.boolean().optional(),
  clearInputs: z.boolean().optional(),
  bySize: z.strictObject({ keep: count.optional(), target: count.optional(), minFreed: count.optional() }).optional(),
  byIdle: z.strictObject({ minutes: minutes.optional(), keep: count.optional() }).optional(),
  byCacheEdit: z.strictObject({ trigger: count.optional(), keep: count.optional() }).optional(),
  native: z
    .strictObject({
      toolResults: z.boolean().optional(),
      toolInputs: z.boolean().optional(),
      thinking: z.boolean().optional(),
      trigger: tokens.optional(),
      keepTokens: tokens.optional(),
      clearAtLeast: tokens.optional(),
      idleMinutes: minutes.optional(),
    })
    .optional(),
})

const sessionMemory = z.strictObject({
  isOn: z.boolean().optional(),
  minTokens: count.optional(),
  growth: count.optional(),
  toolCalls: count.optional(),
  keep: z
    .strictObject({ minTokens: count.optional(), maxTokens: count.optional(), minMessages: count.optional() })
    .optional(),
})

export const engineSchema = z.strictObject({
  compaction: z.enum(['auto', 'ask', 'reactive', 'manual', 'off']).optional(),
  keep: z.union([count, z.strictObject({ tokens })]).optional(),
  target: share.optional(),
  economy: z.enum(['default', 'thrifty']).optional(),
  collapse: z.boolean().optional(),
  background: z.union([z.boolean(), z.strictObject({ from: share })]).optional(),
  askTimeoutMs: count.optional(),
  recall: z.boolean().optional(),
  isAutonomous: z.boolean().optional(),
  contextWindow: tokens.optional(),
  maxOutputTokens: tokens.optional(),
  autoCompactWindow: tokens.optional(),
  autoCompactAt: z.union([tokens, z.string(), z.record(z.string(), z.union([tokens, z.string()]))]).optional(),
  autoCompactPercent: z.number().gt(0).lte(100).optional(),
  blockingLimit: tokens.optional(),
  warningDistance: tokens.optional(),
  errorDistance: tokens.optional(),
  cacheMarks: z.union([z.literal(false), z.enum(['5m', '1h'])]).optional(),
  estimator: z.enum(['fitted', 'chars/4']).optional(),
  summary: summary.optional(),
  reductions: reductions.optional(),
  sessionMemory: z.union([z.boolean(), sessionMemory]).optional(),
})
