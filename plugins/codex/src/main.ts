// The plug-in's one program: `hook` for hook events, `mcp` for recall, `lost ROLLOUT` for a person.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageFacts from '../package.json' with { type: 'json' }
import { lost, onHook } from './hook.ts'
import { createProjectFilter, projectOf, sessionsFolder } from './rollouts.ts'

const [command, argument = ''] = process.argv.slice(2)

try {
  if (command === 'hook') print(onHook(JSON.parse(readFileSync(0, 'utf8'))))
  else if (command === 'mcp') await mcp()
  else if (command === 'lost') print(lost(argument) || 'The last compaction left nothing out that code can find.')
  else throw new Error(`unknown command ${command}`)
} catch (error) {
  // Codex shows this and goes on.
  console.error(`everlong: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}

function print(text: string | undefined): void {
  if (text !== undefined) process.stdout.write(`${text}\n`)
}

async function mcp(): Promise<void> {
  const path = sessionsFolder(process.env)
  // The first session starts its servers before it writes its first record.
  mkdirSync(path, { recursive: true })
  const project = projectOf(process.cwd())
  // Next to this program: uninstalling removes both.
  const folder = join(import.meta.dirname, 'index', project.replaceAll(/[^a-zA-Z0-9]/g, '-').slice(-100))
  // Loaded when it is needed: the hook must be fast.
  const { serve } = await import('@everlong/cli/mcp')
  const { stdin, stdout, stderr } = process
  const archive = { folder, includes: createProjectFilter(project) }
  await serve({ path, version: packageFacts.version, archive }, { stdin, stdout, stderr })
}
