// The plug-in's program: `hook` and `background` for hook events, `mcp` for recall, `lost ROLLOUT` for a person.
import { mkdirSync, readFileSync, writeSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { readableError } from '../../shared/missing-file.ts'
import packageFacts from '../package.json' with { type: 'json' }
import { createProjectFilter, projectOf, sessionsFolder } from './rollouts.ts'

const [command, argument = ''] = process.argv.slice(2)
// Next to this program: uninstalling removes both.
const folder = import.meta.dirname
enableCompileCache(join(folder, 'compiled'))

try {
  if (command === 'hook') await hook()
  else if (command === 'background') await background()
  else if (command === 'mcp') await mcp()
  else if (command === 'lost') await lost()
  else throw new Error(`unknown command ${command}`)
} catch (error) {
  // Codex shows this and continues.
  const readable = readableError(error)
  console.error(`everlong: ${readable instanceof Error ? readable.message : String(readable)}`)
  process.exitCode = 1
}

function input(): unknown {
  return JSON.parse(readFileSync(0, 'utf8'))
}

function print(text: string | undefined): void {
  if (text !== undefined) writeSync(1, `${text}\n`)
}

// Loaded on demand, because the hook must be fast.
async function hook(): Promise<void> {
  const { onHook } = await import('./hook.ts')
  print(await onHook(input(), folder))
}

async function lost(): Promise<void> {
  const { lostIn } = await import('./hook.ts')
  print((await lostIn(argument)) || 'The last compaction left nothing out that code can find.')
}

async function background(): Promise<void> {
  const { inBackground } = await import('./engine.ts')
  inBackground(input(), folder)
}

async function mcp(): Promise<void> {
  const path = sessionsFolder(process.env)
  // The first session starts its servers before it writes its first record.
  mkdirSync(path, { recursive: true })
  const project = projectOf(process.cwd())
  const index = join(folder, 'index', project.replaceAll(/[^a-zA-Z0-9]/g, '-').slice(-100))
  const { loadServer } = await import('./engine.ts')
  const { serve } = await loadServer()
  const { stdin, stdout, stderr } = process
  const archive = { folder: index, includes: createProjectFilter(project) }
  await serve({ path, version: packageFacts.version, archive }, { stdin, stdout, stderr })
}
