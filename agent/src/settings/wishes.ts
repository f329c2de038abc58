// Settings that a project may only make in a folder that the person trusts, one by one.
import { createHash } from 'node:crypto'
import type { OwnCommand } from '../own/own-commands.ts'
import { isSecretVariable } from '../permissions/secrets.ts'
import type { McpServerSettings } from './schema.ts'
import type { Settings } from './settings.ts'

/** A single hook, server, rule, variable or other setting. */
export type Wish = {
  /** One line for the person. */
  readonly text: string
  /** Covers everything in it, including details that the line does not show. */
  readonly digest: string
  readonly settings: Partial<Settings>
}

/** `servers`: MCP servers as in the files, before variables are filled in, because a new value of a variable is not a new wish. */
export function wishesOf(
  project: Settings,
  servers: Readonly<Record<string, unknown>>,
  commands: readonly OwnCommand[],
): readonly Wish[] {
  const { env, model, statusLine, sandbox, checkpoints, permissions } = project
  const { allow, mode } = permissions
  const isWider = mode !== undefined && mode !== 'plan' && mode !== 'ask'
  const permitting = (part: Partial<Settings['permissions']>) => ({
    permissions: { allow: [], deny: [], ...part },
  })
  return [
    ...hooksIn(project),
    ...serversIn(project, servers),
    ...commands.flatMap((command) => commandWish(command) ?? []),
    ...(statusLine === undefined ? [] : [wish(`status line: ${statusLine.command}`, { statusLine })]),
    ...allow.map((rule) => wish(`allow ${rule}`, permitting({ allow: [rule] }))),
    ...(isWider ? [wish(`permission mode ${mode}`, permitting({ mode }))] : []),
    ...(sandbox === undefined || sandbox === 'required' ? [] : [wish(`sandbox ${sandbox}`, { sandbox })]),
    ...(checkpoints === false ? [wish('no checkpoints, so /rewind cannot restore files', { checkpoints })] : []),
    ...Object.entries(env).map(([name, value]) =>
      wish(`set the variable ${variableText([name, value])}`, { env: { [name]: value } }),
    ),
    ...(model === undefined ? [] : [wish(`model ${model}`, { model })]),
  ]
}

/** Undefined for a slash command that runs no shell commands. */
export function commandWish({ name, shell }: OwnCommand): Wish | undefined {
  if (!shell) return undefined
  const { commands } = shell
  const digest = digestOf({ slashCommand: { name, commands } })
  return { text: `slash command /${name}: ${commands.join('; ')}`, digest, settings: {} }
}

function hooksIn({ hooks }: Settings): readonly Wish[] {
  return Object.entries(hooks).flatMap(([event, matchers = []]) =>
    matchers.flatMap((matcher) =>
      matcher.hooks.map((hook) =>
        wish(`hook ${event}: ${hook.command}`, { hooks: { [event]: [{ ...matcher, hooks: [hook] }] } }),
      ),
    ),
  )
}

function serversIn({ mcpServers }: Settings, sources: Readonly<Record<string, unknown>>): readonly Wish[] {
  return Object.entries(mcpServers).map(([name, server]) => {
    const place = 'url' in server ? server.url : [server.command, ...(server.args ?? [])].join(' ')
    const source = { mcpServers: { [name]: sources[name] } }
    return {
      ...wish(`MCP server ${name}: ${place}${extrasOf(server)}`, { mcpServers: { [name]: server } }),
      digest: digestOf(source),
    }
  })
}

/** Variables and headers of a server, which can change what runs and where it connects. */
function extrasOf(server: McpServerSettings): string {
  const [kind, values] =
    'url' in server
      ? (['headers', Object.keys(server.headers ?? {}).map(oneLine)] as const)
      : (['variables', Object.entries(server.env ?? {}).map(variableText)] as const)
  return values.length === 0 ? '' : ` (${kind}: ${values.join(', ')})`
}

/** Any variable can decide what runs, so all values are shown except those that are secrets by their name. */
function variableText(variable: readonly [string, string]): string {
  return oneLine(isSecretVariable(variable) ? variable[0] : variable.join('='))
}

/** Line breaks could imitate other settings. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function wish(text: string, settings: Partial<Settings>): Wish {
  return { text, digest: digestOf(settings), settings }
}

function digestOf(part: unknown): string {
  return createHash('sha256').update(JSON.stringify(part)).digest('hex')
}
