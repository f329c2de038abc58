// Commands that show how the agent is set up: /status, /mcp, /skills, /hooks.
import type { Environment } from 'everlong'
import packageFacts from '../../package.json' with { type: 'json' }
import type { CommandResult } from '../app.ts'
import { memoryFiles } from '../context/memory-files.ts'
import type { Server } from '../mcp/servers.ts'
import { count, counted } from '../render/numbers.ts'
import { sandboxLine } from '../sandbox/modes.ts'
import { isTrusted } from '../settings/trust.ts'
import { clipped, error, type SlashCommand, text } from './command.ts'

export const status: SlashCommand = {
  name: 'status',
  help: 'shows the session, the model, the mode and what is loaded',
  run: (_, given) => {
    const { session, folder, home, model, mode, settings, sandbox, toolSet, name, ownCommands, env } = given
    const { id, path } = session()
    const { size, percentLeft } = session().explain()
    const { servers = [], skills = [], agents = [] } = toolSet
    const rows = [
      ['session', `${name() ?? 'nothing was said yet'} (${id})`],
      ['transcript', path ?? 'only in memory'],
      ['folder', `${folder} (${isTrusted({ home, folder }) ? 'trusted' : 'not trusted'})`],
      ['model', `${model().words}${serverOf(model().words, env)}`],
      ['mode', `${mode()} (/permissions)`],
      ['sandbox', sandboxLine(sandbox()).replace(/^Sandbox: /, '')],
      ['context', `${count(size.tokens)} tokens, ${percentLeft} % left`],
      ['instructions', `${counted(memoryFiles({ home, folder, ...settings.permissions }).length, 'file')} (/memory)`],
      ['commands', `${ownCommands().length} of your own, ${skills.length} of them skills (/skills)`],
      ['agents', agents.length === 0 ? 'none of your own' : agents.map((each) => each.name).join(', ')],
      ['MCP servers', servers.length === 0 ? 'none' : `${servers.map((each) => each.name).join(', ')} (/mcp)`],
      ['hooks', `${counted(hookLines(settings.hooks).length, 'command')} (/hooks)`],
      ['version', packageFacts.version],
    ] as const
    return text(...rows.map(([label, value]) => `${label.padEnd(12)}  ${value}`))
  },
}

/** The server from the environment, without credentials. One that the model names itself is in its name. */
function serverOf(words: string, { ANTHROPIC_BASE_URL: url }: Environment): string {
  if (url === undefined || !URL.canParse(url) || /^openai:|@|^demo$/.test(words)) return ''
  return ` at ${new URL(url).origin}`
}

export const mcp: SlashCommand = {
  name: 'mcp',
  arguments: '[SERVER]',
  help: 'lists the MCP servers; starts one and lists its tools',
  run: async (words, { toolSet: { servers = [] } }) => {
    if (servers.length === 0)
      return text('No MCP servers. Add them to .mcp.json, or to mcpServers in the settings (docs/agent.md).')
    if (words === '') {
      const choices = servers.map((server) => ({
        label: server.name,
        detail: stateOf(server),
        command: `/mcp ${server.name}`,
      }))
      return { type: 'choose', title: 'MCP servers. Enter starts one and lists its tools.', choices }
    }
    const server = servers.find(({ name }) => name === words)
    if (!server) return error(`There is no MCP server ${words}. Known: ${servers.map(({ name }) => name).join(', ')}.`)
    const tools = await server.tools()
    if ('why' in tools) return error(tools.why)
    return text(
      `${server.name}: ${counted(tools.length, 'tool')}`,
      ...tools.map(({ name, tool }) => `  ${name}  ${clipped(tool.description ?? '', 100)}`),
    )
  },
}

function stateOf(server: Server): string {
  const state = server.state()
  if (state === undefined) return 'starts when it is needed'
  return 'why' in state ? clipped(state.why, 100) : counted(state.tools, 'tool')
}

export const skills: SlashCommand = {
  name: 'skills',
  help: 'lists the skills, and the commands and agents of your own',
  run: (_, { toolSet, ownCommands }) => {
    const { skills: found = [], agents = [] } = toolSet
    const isSkill = new Set(found.map(({ name }) => name))
    const own = ownCommands().filter(({ name }) => !isSkill.has(name))
    if (found.length + own.length + agents.length === 0)
      return text('None. They are in skills, commands and agents of .everlong or .claude (docs/agent.md).')
    return listing([
      ['Skills', found.map(({ name, description }) => [`/${name}`, description])],
      ['Commands', own.map(({ name, help }) => [`/${name}`, help])],
      ['Agents', agents.map(({ name, description }) => [name, description])],
    ])
  },
}

type Section = readonly [string, readonly (readonly [string, string])[]]

function listing(sections: readonly Section[]): CommandResult {
  return text(
    ...sections.flatMap(([title, rows]) =>
      rows.length === 0 ? [] : [title, ...rows.map(([name, words]) => `  ${name}  ${clipped(words, 100)}`)],
    ),
  )
}

export const hooks: SlashCommand = {
  name: 'hooks',
  help: 'lists the hooks',
  run: (_, { settings }) => {
    const lines = hookLines(settings.hooks)
    return text(...(lines.length === 0 ? ['No hooks. Add them to hooks in the settings (docs/agent.md).'] : lines))
  },
}

type Hooks = Parameters<SlashCommand['run']>[1]['settings']['hooks']

function hookLines(settings: Hooks): readonly string[] {
  return Object.entries(settings).flatMap(([event, matchers = []]) =>
    matchers.flatMap(({ matcher, hooks: commands }) =>
      commands.map(({ command }) => `${event}${matcher ? ` (${matcher})` : ''}: ${command}`),
    ),
  )
}
