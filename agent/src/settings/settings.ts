// The agent's settings after merging its files.
import type { EngineSettings } from 'everlong'
import type { HookSettings } from 'everlong/node'
import type { PermissionMode } from '../app.ts'
import type { SandboxMode } from '../sandbox/modes.ts'
import type { McpServerSettings } from './schema.ts'

export type Settings = {
  readonly model?: string
  readonly thinking?: 'off' | 'adaptive' | number
  readonly retry?: { readonly minutes?: number }
  readonly checkpoints?: boolean
  readonly statusLine?: { readonly command: string }
  readonly bell?: boolean
  readonly permissions: {
    readonly mode?: PermissionMode
    readonly allow: readonly string[]
    readonly deny: readonly string[]
  }
  readonly sandbox?: SandboxMode
  readonly env: Readonly<Record<string, string>>
  readonly hooks: HookSettings
  readonly mcpServers: Readonly<Record<string, McpServerSettings>>
  readonly engine: EngineSettings
}

export const noSettings: Settings = {
  permissions: { allow: [], deny: [] },
  env: {},
  hooks: {},
  mcpServers: {},
  engine: {},
}
