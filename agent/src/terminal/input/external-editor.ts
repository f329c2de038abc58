// Edits a text in the person's own editor.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from 'everlong'
import { reasonOf } from '../../reason-of.ts'
import { safeText } from '../../render/safe.ts'

export type Edited =
  | { readonly type: 'edited'; readonly text: string }
  | { readonly type: 'failed'; readonly why: string }

export type EditOptions = {
  readonly env: Environment
  /** Gives the terminal to the editor while it runs. */
  readonly inTerminal: (run: () => Promise<void>) => Promise<void>
}

/** `$VISUAL`, `$EDITOR`, or vi. The variable may have arguments: `code --wait`. */
export async function editText(text: string, { env, inTerminal }: EditOptions): Promise<Edited> {
  const editor = env.VISUAL || env.EDITOR || 'vi'
  const folder = mkdtempSync(join(tmpdir(), 'everlong-edit-'))
  const path = join(folder, 'prompt.md')
  try {
    writeFileSync(path, text === '' ? '' : `${text}\n`, { mode: 0o600 })
    let code: number | null = null
    await inTerminal(async () => {
      code = await exitOf(editor, path)
    })
    if (code !== 0) return { type: 'failed', why: `The editor (${editor}) ended with ${code}. The text is as it was.` }
    return { type: 'edited', text: safeText(readFileSync(path, 'utf8')).trimEnd() }
  } catch (error) {
    return { type: 'failed', why: `The editor (${editor}) could not be started: ${reasonOf(error)}` }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function exitOf(editor: string, path: string): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child =
      process.platform === 'win32'
        ? spawn(`${editor} "${path}"`, { shell: true, stdio: 'inherit' })
        : spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit' })
    child.once('error', reject)
    child.once('close', resolve)
  })
}
