// Codex is configured in one TOML file: the instructions for summaries, the server for recall, and the hook that runs
// after a compaction. The program that both start is a file of our own next to it.
import { join } from 'node:path'
import { shellWord } from '../render/shell-word.ts'
import type { InstallTarget, Place } from './target.ts'

export const codex: InstallTarget = {
  name: 'codex',
  title: 'Codex',
  about:
    'From the next session on, Codex writes summaries by the instructions of Everlong and can search all sessions of a project. After a compaction the agent gets back what the summary lost, once you have trusted the new hook: Codex asks when it starts, or open /hooks.',
  changes: (place) => {
    const folder = codexFolder(place)
    const path = join(folder, 'config.toml')
    const program = join(folder, 'everlong', 'everlong.js')
    return [
      { type: 'file', path: program, content: place.pluginFile('codex', 'dist/everlong.js') },
      { type: 'toml', path, where: 'start', text: promptLines(place) },
      { type: 'toml', path, where: 'end', text: tableLines(place.node, program) },
    ]
  },
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
  const command = `${commandWord(node)} ${commandWord(program)} hook`
  return [
    '[mcp_servers.everlong]',
    `command = ${text(node)}`,
    `args = [${text(program)}, "mcp"]`,
    '',
    '[[hooks.SessionStart]]',
    'matcher = "compact"',
    '',
    '[[hooks.SessionStart.hooks]]',
    'type = "command"',
    `command = ${text(command)}`,
  ].join('\n')
}

function commandWord(word: string): string {
  if (process.platform !== 'win32') return shellWord(word)
  return /^[\w./-]+$/.test(word) ? word : `"${word}"`
}
