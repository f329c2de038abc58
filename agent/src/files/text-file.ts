// Reads and writes text files without unrequested changes of encoding, mode or link.
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf } from './paths.ts'

/** The kind of a file by its first bytes. Undefined if it is text. */
export function binaryKind(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  const known = signatures.find(([start]) => head.startsWith(start))
  if (known) return known[1]
  return bytes.subarray(0, 8_000).includes(0) ? 'unknown type' : undefined
}

const signatures: readonly (readonly [string, string])[] = [
  ['%PDF-', 'PDF'],
  ['PK\u0003\u0004', 'zip archive'],
  ['\u001f\u008b', 'gzip archive'],
  ['\u007fELF', 'ELF executable'],
  ['SQLite format 3', 'SQLite database'],
  ['\u0000asm', 'WebAssembly module'],
]

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

export function imageType(bytes: Uint8Array): ImageType | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (head.startsWith('\u0089PNG\r\n')) return 'image/png'
  if (head.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg'
  if (head.startsWith('GIF8')) return 'image/gif'
  return head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP' ? 'image/webp' : undefined
}

/** Undefined if the bytes are not UTF-8, because writing the text back would change bytes elsewhere. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Replaces the file atomically and keeps its mode. */
export async function replaceText(path: string, text: string): Promise<void> {
  const { mode } = await stat(path)
  const temporary = join(dirname(path), `.${randomUUID()}.tmp`)
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600 })
    await chmod(temporary, mode & 0o7777)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Fails if anything exists there, even a link. */
export async function createText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  try {
    await writeFile(path, text, { flag: 'wx' })
  } catch (error) {
    // Removes a partial file.
    if (codeOf(error) !== 'EEXIST') await rm(path, { force: true })
    throw error
  }
}
