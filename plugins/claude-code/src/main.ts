// The plug-in's one program: `hook DATA-FOLDER` for hook events, `mcp` for recall, `lost SESSION` for a person.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from '@everlong/cli/mcp'
import { scanFile } from 'everlong/node'
import packageFacts from '../package.json' with { type: 'json' }
import { lastLost, onHook } from './hook.ts'
import { projectFolder, sessionName } from './project.ts'

const [command, argument = ''] = process.argv.slice(2)

try {
  if (command === 'hook') print(onHook(JSON.parse(readFileSync(0, 'utf8')), argument))
  else if (command === 'mcp') await mcp()
  else if (command === 'lost') print(lost(argument))
  else throw new Error(`unknown command ${command}`)
} catch (error) {
  // Claude Code shows this and goes on; exit code 2 would block the event.
  console.error(`everlong: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}

function print(text: string | undefined): void {
  if (text !== undefined) process.stdout.write(`${text}\n`)
}

async function mcp(): Promise<void> {
  const path = projectFolder(process.cwd(), process.env)
  // The first session of a project starts its servers before it writes its first record.
  mkdirSync(path, { recursive: true })
  const { stdin, stdout, stderr } = process
  await serve({ path, version: packageFacts.version }, { stdin, stdout, stderr })
}

function lost(id: string): string {
  const name = sessionName(id)
  const path = join(projectFolder(process.cwd(), process.env), `${name}.jsonl`)
  if (name === undefined || !existsSync(path)) return 'This session has no transcript yet.'
  const boundary = scanFile(path).epochs.at(-1)?.openedBy?.uuid
  if (boundary === undefined) return 'This session was not compacted yet.'
  return lastLost(path, boundary) || 'The last summary left nothing out that code can find.'
}
