// The schema of a settings file. Unknown keys and invalid values are mistakes, each with its place.
import { z } from 'zod'
import { serverName, serverNameRule } from '../mcp/server-name.ts'
import { sandboxModes } from '../sandbox/modes.ts'

/** No settings file written by a person is larger. */
export const maxSettingsBytes = 1024 * 1024

export const permissionModes = ['ask', 'accept-edits', 'plan', 'allow'] as const

const permissions = z.strictObject({
  mode: z.enum(permissionModes).optional(),
  /** Rules such as `Bash(npm test)`, `Edit(src/**)` or a tool's name. A rule that denies wins. */
  allow: z.array(z.string()).optional(),
  deny: z.array(z.string()).optional(),
})

export const mcpServer = z.union([
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

export const settingsSchema = z.strictObject({
  $schema: z.string().optional(),
  /** `anthropic:MODEL`, `openai:MODEL@URL`, `demo`, or the name of a Claude model. */
  model: z.string().optional(),
  /** Thinking of the model: off, adaptive, or a number of tokens. */
  thinking: z.union([z.enum(['off', 'adaptive']), z.int().positive()]).optional(),
  /** Minutes during which a request is repeated if the provider is overloaded or unreachable. */
  retry: z
    .strictObject({
      minutes: z
        .number()
        .min(0)
        .max(24 * 60)
        .optional(),
    })
    .optional(),
  permissions: permissions.optional(),
  /** Whether files are saved before each prompt, for /rewind. */
  checkpoints: z.boolean().optional(),
  /** A command whose first line of output is shown below the prompt. */
  statusLine: z.strictObject({ command: z.string().min(1) }).optional(),
  /** Whether the bell rings when a question waits. */
  bell: z.boolean().optional(),
  /** The sandbox of the operating system for commands. */
  sandbox: z.enum(sandboxModes).optional(),
  /** Variables for the agent itself and the commands that it runs. */
  env: z.record(z.string(), z.string()).optional(),
  /** Checked by the engine: event → matchers → commands. */
  hooks: z.unknown().optional(),
  mcpServers: z.record(z.string().regex(serverName, serverNameRule), mcpServer).optional(),
  /** Checked by the engine. */
  engine: z.unknown().optional(),
})

export type McpServerSettings = z.infer<typeof mcpServer>
