// Reads the image in the clipboard with the system's programs.
import { spawn } from 'node:child_process'
import type { Image } from './pastes.ts'

type Pasted = { readonly type: 'image'; readonly image: Image } | { readonly type: 'none'; readonly why: string }

/** The API's limit for one image. */
const maxBytes = 3_750_000

const programs: Readonly<Record<string, readonly (readonly string[])[]>> = {
  linux: [
    ['wl-paste', '--type', 'image/png'],
    ['xclip', '-selection', 'clipboard', '-target', 'image/png', '-out'],
  ],
  darwin: [['pngpaste', '-']],
}

export async function imageInClipboard(platform: string = process.platform): Promise<Pasted> {
  const known = programs[platform] ?? []
  const names = known.map(([name]) => name).join(' or ')
  if (names === '') return { type: 'none', why: 'Paste the path of an image file to attach it.' }
  let isThere = false
  for (const [name = '', ...args] of known) {
    const bytes = await outputOf(name, args)
    isThere ||= bytes !== undefined
    if (!bytes || !isPng(bytes)) continue
    if (bytes.length > maxBytes) return { type: 'none', why: 'The image in the clipboard is too large to attach.' }
    return { type: 'image', image: { mediaType: 'image/png', base64: bytes.toString('base64') } }
  }
  return {
    type: 'none',
    why: isThere ? 'There is no image in the clipboard.' : `Install ${names}, or paste the path of an image file.`,
  }
}

function isPng(bytes: Buffer): boolean {
  return bytes.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))
}

/** Undefined if there is no such program. */
function outputOf(name: string, args: readonly string[]): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'ignore'], timeout: 3_000 })
    const parts: Buffer[] = []
    let size = 0
    child.stdout.on('data', (part: Buffer) => {
      size += part.length
      if (size <= maxBytes + part.length) parts.push(part)
    })
    child.once('error', () => resolve(undefined))
    child.once('close', () => resolve(Buffer.concat(parts)))
  })
}
