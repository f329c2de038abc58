// Codex is configured in one TOML file: the instructions for summaries, the server for recall, and the hooks that run
// before and after a compaction. The program that they start is in a folder of our own next to it.
import { join } from 'node:path'
import { shellWord } from '../../render/shell.ts'
import { withoutTrust } from './codex-trust.ts'
import { type InstallTarget, moduleFolder, type Place } from './target.ts'

/** The first is the program, which loads the others when it needs them. */
const files = ['everlong.js', 'hook.js', 'engine.js']

export const codex: InstallTarget = {
  name: 'codex',
  title: 'Codex',
  about:
    'From the next session on, Codex writes summaries by the instructions of Everlong and can search all sessions of a project. After a compaction the agent gets back what the summary lost, once you have trusted the new hooks: Codex asks when it starts, or open /hooks.',
  changes: (place) => {
    const folder = codexFolder(place)
    const path = join(folder, 'config.toml')
    const ours = join(folder, 'everlong')
    return [
      ...files.map((name) => ({
        type: 'file' as const,
        path: join(ours, name),
        content: place.pluginFile('codex', `dist/${name}`),
      })),
      moduleFolder(ours),
      { type: 'toml', path, where: 'start', text: promptLines(place) },
      { type: 'toml', path, where: 'end', text: tableLines(place.node, join(ours, 'everlong.js')) },
    ]
  },
  forget: (text, path) => (path.endsWith('.toml') ? withoutTrust(text, path, ['PreCompact', 'SessionStart']) : text),
  data: (place) => [join(codexFolder(place), 'everlong')],
}

function codexFolder({ home, env }: Place): string {
  return env.CODEX_HOME ?? join(home, '.codex')
}

function promptLines(place: Place): string {
  return `compact_prompt = '''\n${place.pluginFile('codex', 'compact-prompt.md').trim()}'''`
}

function tableLines(node: string, program: string): string {
  // A JSON string is a TOML string too.
  const text = (value: string) => JSON.stringify(value)
  const command = (word: string) => text(`${commandWord(node)} ${commandWord(program)} ${word}`)
  return [
    '[mcp_servers.everlong]',
    `command = ${text(node)}`,
    `args = [${text(program)}, "mcp"]`,
    '',
    // Reads the conversation while Codex writes the summary: Codex does not wait for it.
    '[[hooks.PreCompact]]',
    '',
    '[[hooks.PreCompact.hooks]]',
    'type = "command"',
    `command = ${command('background')}`,
    'async = true',
    '',
    '[[hooks.SessionStart]]',
    'matcher = "compact"',
    '',
    '[[hooks.SessionStart.hooks]]',
    'type = "command"',
    `command = ${command('hook')}`,
  ].join('\n')
}

function commandWord(word: string): string {
  if (process.platform !== 'win32') return shellWord(word)
  return /^[\w./-]+$/.test(word) ? word : `"${word}"`
}
