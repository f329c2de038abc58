// The plug-in's single program. Hooks start it often, so each part is loaded only when needed.
import { mkdirSync, readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { readableError } from '../../shared/missing-file.ts'
import packageFacts from '../package.json' with { type: 'json' }
import { onHook } from './hook.ts'
import { memoryIn } from './notes.ts'
import { projectFolder, sessionName } from './project.ts'

const [command, ...words] = process.argv.slice(2)
const dataFolder = process.env.CLAUDE_PLUGIN_DATA
// Removing the plug-in removes its data, so everything that can be rebuilt goes there.
if (dataFolder) {
  process.env.EVERLONG_CACHE_DIR ??= join(dataFolder, 'cache')
  enableCompileCache(join(dataFolder, 'compiled'))
}

try {
  if (command === 'hook') print(await onHook(input(), words[0] ?? ''))
  else if (command === 'background') await background()
  else if (command === 'mcp') await mcp()
  else print(await answer())
} catch (error) {
  // Claude Code shows this and continues; exit code 2 would block the event.
  const readable = readableError(error)
  console.error(`everlong: ${readable instanceof Error ? readable.message : String(readable)}`)
  process.exitCode = 1
}

function input(): unknown {
  return JSON.parse(readFileSync(0, 'utf8'))
}

function print(text: string | undefined): void {
  if (text !== undefined) process.stdout.write(`${text}\n`)
}

async function background(): Promise<void> {
  const { inBackground } = await import('./compare.ts')
  await inBackground(input(), words[0] ?? '')
}

/** For a session, with the folder of the plug-in's notes if hooks can use them. */
async function answer(): Promise<string> {
  const [session, notes] = words
  const { answerTo, keptAnswer } = await import('./engine.ts')
  const given = await answerTo(command ?? '', session, { cwd: process.cwd(), env: process.env })
  const name = sessionName(session)
  if (notes && name !== undefined) return keptAnswer(command ?? '', given, { session: name, memory: memoryIn(notes) })
  return given.planned ? `${given.text}\n(Hooks are turned off, so this has no effect.)` : given.text
}

async function mcp(): Promise<void> {
  const { loadServer } = await import('./engine.ts')
  const { serve } = await loadServer()
  const path = projectFolder(process.cwd(), process.env)
  // The first session of a project starts its servers before it writes its first record.
  mkdirSync(path, { recursive: true })
  const { stdin, stdout, stderr } = process
  await serve({ path, version: packageFacts.version }, { stdin, stdout, stderr })
}
