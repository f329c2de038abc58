// Pasted paths of image files: a terminal pastes the path when a file is dropped on it.
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, extname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Image } from './pastes.ts'

const mediaTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

/** The API's limit for one image. */
const maxBytes = 3_750_000

export type ImageFile =
  | { readonly type: 'image'; readonly name: string; readonly image: Image }
  | { readonly type: 'too-large'; readonly name: string; readonly bytes: number }

/** Undefined if the text is not the path of an existing image. */
export function imageIn(pasted: string, folder: string): ImageFile | undefined {
  const path = pathIn(pasted.trim(), folder)
  const mediaType = path === undefined ? undefined : mediaTypes[extname(path).toLowerCase()]
  if (path === undefined || mediaType === undefined) return undefined
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isFile()) return undefined
  const name = basename(path)
  if (found.size > maxBytes) return { type: 'too-large', name, bytes: found.size }
  return { type: 'image', name, image: { mediaType, base64: readFileSync(path).toString('base64') } }
}

/** The forms that shells, file managers and people use: in quotes, with escaped spaces, as a URL, from the home folder. */
function pathIn(text: string, folder: string): string | undefined {
  if (text === '' || text.length > 4_096 || /[\n\r\0]/.test(text)) return undefined
  const bare = /^(['"])(.*)\1$/.exec(text)?.[2] ?? text.replace(/\\(.)/g, '$1')
  if (bare.startsWith('file://')) return URL.canParse(bare) ? fileURLToPath(bare) : undefined
  const whole = bare.startsWith('~/') ? resolve(homedir(), bare.slice(2)) : bare
  return isAbsolute(whole) ? whole : resolve(folder, whole)
}
