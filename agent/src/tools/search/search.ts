// Searches a list of files with ripgrep if it is installed, otherwise in a worker. Both get the same files, so the results are
// the same.

import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { devNull } from 'node:os'
import { delimiter, join } from 'node:path'
import { reasonOf } from '../../reason-of.ts'
import { inWorker } from '../in-worker.ts'
import { expressionOf, type FileMatch, isSearched, type Search } from './matching.ts'

export type Searched =
  | { readonly type: 'found'; readonly matches: readonly FileMatch[]; readonly isCut: boolean }
  | { readonly type: 'failed'; readonly why: string }

export type SearchOptions = { readonly signal: AbortSignal; readonly ripgrep: string | undefined }

const maxMs = 30_000

export function findRipgrep(path: string | undefined): string | undefined {
  const names = process.platform === 'win32' ? ['rg.exe'] : ['rg']
  const places = (path ?? '').split(delimiter).filter(Boolean)
  return places.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export async function search(wanted: Search, { signal, ripgrep }: SearchOptions): Promise<Searched> {
  if (!wanted.multiline && crossesLines.test(wanted.pattern)) return { type: 'failed', why: oneLineOnly }
  if (ripgrep === undefined) return withoutRipgrep(wanted, signal)
  const matches: FileMatch[] = []
  let left = wanted.most
  // The system limits the length of a command line.
  for (const files of batchesOf(wanted.files)) {
    const batch = await withRipgrep({ ...wanted, files, most: left }, { signal, ripgrep })
    if (batch.type === 'failed') return batch
    matches.push(...batch.matches)
    left -= batch.matches.reduce((sum, { lines }) => sum + lines.length, 0)
    if (left <= 0) return { type: 'found', matches, isCut: true }
  }
  return { type: 'found', matches, isCut: false }
}

/** A line end, or `\n` that is not itself escaped. */
const crossesLines = /\n|(?<!\\)(?:\\\\)*\\n/
const oneLineOnly = 'The pattern contains a line end, and lines are searched one by one. Set multiline.'

function batchesOf(files: readonly string[]): readonly (readonly string[])[] {
  // Without files, the pattern is still checked.
  const batches: string[][] = files.length === 0 ? [[devNull]] : []
  let room = 0
  for (const file of files) {
    if (file.length + 1 > room) {
      batches.push([])
      room = 100_000
    }
    batches.at(-1)?.push(file)
    room -= file.length + 1
  }
  return batches
}

/** Prints `file NUL line:` for each matching line; the texts are read from the files. */
function withRipgrep(wanted: Search, { signal, ripgrep }: SearchOptions): Promise<Searched> {
  const { pattern, ignoreCase, multiline, files, most } = wanted
  const flags = [
    '--no-config',
    '--no-messages',
    '--color=never',
    '-nH',
    '--null',
    '--no-heading',
    '--crlf',
    '--max-columns=300',
  ]
  const own = [...(ignoreCase ? ['-i'] : []), ...(multiline ? ['-U', '--multiline-dotall'] : [])]
  const args = [...flags, ...own, '-e', withoutNeedlessEscapes(pattern), '--', ...files]
  return new Promise((resolve) => {
    const child = spawn(ripgrep ?? 'rg', args, { stdio: ['ignore', 'pipe', 'pipe'], signal, timeout: maxMs })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
    })
    child.once('error', (error) => resolve({ type: 'failed', why: error.message }))
    child.once('close', (code) => {
      if (code === null) resolve({ type: 'failed', why: tooSlow })
      else if (code === 2 && out === '') resolve({ type: 'failed', why: err.trim().split('\n').slice(-3).join(' ') })
      else resolve({ type: 'found', ...parsed(out, files, most) })
    })
  })
}

function parsed(out: string, files: readonly string[], most: number) {
  const lines = new Map<string, Set<number>>()
  for (const line of out.split('\n')) {
    const end = line.indexOf('\0')
    const number = Number.parseInt(line.slice(end + 1), 10)
    if (end < 0 || Number.isNaN(number)) continue
    const file = line.slice(0, end)
    lines.set(file, (lines.get(file) ?? new Set()).add(number))
  }
  const matches: FileMatch[] = []
  let left = most
  for (const file of files) {
    const own = lines.get(file)
    if (!own || !isSearched(file)) continue
    if (left <= 0) return { matches, isCut: true }
    matches.push({ file, lines: [...own] })
    left -= own.size
  }
  return { matches, isCut: false }
}

/** Models escape quotes and slashes; ripgrep 13 and older refuse that. */
function withoutNeedlessEscapes(pattern: string): string {
  return pattern.replace(/\\([\s\S])/g, (escaped, mark) => ('!"%\',/:;=@_`'.includes(mark) ? mark : escaped))
}

const tooSlow = `The search took longer than ${maxMs / 1000} s. Use a simpler pattern or a folder below.`

async function withoutRipgrep(wanted: Search, signal: AbortSignal): Promise<Searched> {
  try {
    expressionOf(wanted)
  } catch (error) {
    return { type: 'failed', why: reasonOf(error) }
  }
  const module = new URL('./matching-worker.ts', import.meta.url)
  const options = { data: wanted, signal, timeoutMs: maxMs, tooSlow }
  const run = await inWorker<readonly FileMatch[]>(module, options)
  if (run.type === 'failed') return run
  const count = run.value.reduce((sum, { lines }) => sum + lines.length, 0)
  return { type: 'found', matches: run.value, isCut: count >= wanted.most }
}
