// Claude Code loads a folder in ~/.claude/skills that has a plug-in's manifest as a plug-in, in place. So the installation is
// a folder of our own, and no file of Claude Code is touched.
import { join } from 'node:path'
import { type InstallTarget, moduleFolder, type Place } from './target.ts'

const files = [
  '.claude-plugin/plugin.json',
  '.mcp.json',
  'LICENSE',
  'README.md',
  'commands/compact.md',
  'commands/context.md',
  'commands/lost.md',
  'commands/recall.md',
  'commands/undo.md',
  'dist/compare.js',
  'dist/engine.js',
  'dist/everlong.js',
  'dist/hooks-module.js',
  'hooks/hooks.json',
  'hooks/session-start.json',
]

export const claudeCode: InstallTarget = {
  name: 'claude-code',
  title: 'Claude Code',
  about:
    'From the next session on, Claude Code gives the agent back what a compaction lost, and can search all sessions of a project. For you: /everlong:context, compact, undo, lost and recall.',
  changes: (place) => {
    const ours = join(configFolder(place), 'skills', 'everlong')
    return [
      ...files.map((path) => ({
        type: 'file' as const,
        path: join(ours, path),
        content: withNode(place.pluginFile('claude-code', path), path, place.node),
      })),
      moduleFolder(join(ours, 'dist')),
    ]
  },
  data: (place) => [
    join(configFolder(place), 'plugins', 'data', 'everlong-skills-dir'),
    // What Claude Code logs about our server, for each project.
    { folder: join(cacheFolder(place), 'claude-cli-nodejs'), match: '*/mcp-logs-plugin-everlong-everlong' },
    // Claude Code makes one for each session with a SessionStart hook.
    { folder: join(configFolder(place), 'session-env'), match: '*', ifEmpty: true },
  ],
}

function cacheFolder({ home, env }: Place): string {
  if (process.platform === 'darwin') return join(home, 'Library', 'Caches')
  return env.XDG_CACHE_HOME || join(home, '.cache')
}

function configFolder({ home, env }: Place): string {
  return env.CLAUDE_CONFIG_DIR || join(home, '.claude')
}

/** Names the Node to use, where the one on the PATH will not do. */
function withNode(text: string, path: string, node: string): string {
  if (node === 'node') return text
  const quoted = JSON.stringify(node).slice(1, -1)
  if (path === '.mcp.json') return text.replaceAll('"command": "node"', `"command": "${quoted}"`)
  if (path === 'hooks/hooks.json') return text.replaceAll('node \\"$', `\\"${quoted}\\" \\"$`)
  if (path === 'dist/hooks-module.js') return text.replace('"node"', JSON.stringify(node))
  return text.replaceAll('`node "', `\`"${node}" "`)
}
