// What a settings file may say, and what it may not: unknown keys and wrong values are mistakes, each with its place.
import { z } from 'zod'

export const permissionModes = ['ask', 'accept-edits', 'plan', 'allow'] as const

const permissions = z.strictObject({
  mode: z.enum(permissionModes).optional(),
  /** Rules such as `Bash(npm test)`, `Edit(src/**)` or a tool's name. A rule that denies wins. */
  allow: z.array(z.string()).optional(),
  deny: z.array(z.string()).optional(),
})

const mcpServer = z.union([
  z.strictObject({
    type: z.literal('stdio').optional(),
    command: z.string(),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({
    type: z.enum(['http', 'sse']),
    url: z.url(),
    headers: z.record(z.string(), z.string()).optional(),
  }),
])

const share = z.number().gt(0).lt(1)
const tokens = z.int().positive()

/** What docs/settings.md calls the engine's settings; those that only code can give are left out. */
const engine = z.strictObject({
  compaction: z.enum(['auto', 'ask', 'reactive', 'manual', 'off']).optional(),
  keep: z.union([z.int().nonnegative(), z.strictObject({ tokens })]).optional(),
  target: share.optional(),
  economy: z.enum(['usual', 'thrifty']).optional(),
  collapse: z.boolean().optional(),
  background: z.union([z.boolean(), z.strictObject({ from: share })]).optional(),
  contextWindow: tokens.optional(),
  maxOutputTokens: tokens.optional(),
  autoCompactWindow: tokens.optional(),
  autoCompactAt: z.union([tokens, z.string(), z.record(z.string(), z.union([tokens, z.string()]))]).optional(),
  autoCompactPercent: z.number().gt(0).lte(100).optional(),
  blockingLimit: tokens.optional(),
  warningDistance: tokens.optional(),
  errorDistance: tokens.optional(),
  cacheMarks: z.union([z.literal(false), z.enum(['5m', '1h'])]).optional(),
  sessionMemory: z.union([z.boolean(), z.looseObject({})]).optional(),
  summary: z.looseObject({}).optional(),
  reductions: z.looseObject({}).optional(),
})

export const settingsSchema = z.strictObject({
  $schema: z.string().optional(),
  /** `anthropic:MODEL`, `openai:MODEL@URL`, `demo`, or the name of a Claude model. */
  model: z.string().optional(),
  /** Thinking of the model: off, adaptive, or a number of tokens. */
  thinking: z.union([z.enum(['off', 'adaptive']), tokens]).optional(),
  permissions: permissions.optional(),
  /** For the agent itself and the commands it runs. */
  env: z.record(z.string(), z.string()).optional(),
  /** Checked by the engine: event → matchers → commands. */
  hooks: z.unknown().optional(),
  mcpServers: z
    .record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'use letters, digits, "-" and "_"'), mcpServer)
    .optional(),
  engine: engine.optional(),
})

export type McpServerSettings = z.infer<typeof mcpServer>
