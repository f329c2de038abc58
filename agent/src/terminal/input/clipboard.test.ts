// The image in the clipboard, with programs of our own in place of the system's.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { imageInClipboard } from './clipboard.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-clipboard-'))
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47]), Buffer.from('the rest')])

/** Each program prints these bytes. `path` is where programs are looked for. */
function install(
  outputs: Readonly<Record<string, Buffer>>,
  path: readonly string[] = [folder, dirname(process.execPath)],
) {
  for (const [name, bytes] of Object.entries(outputs)) {
    writeFileSync(join(folder, `${name}.bytes`), bytes)
    const program = `#!${process.execPath}\nprocess.stdout.write(require('node:fs').readFileSync(__filename + '.bytes'))\n`
    writeFileSync(join(folder, name), program)
    chmodSync(join(folder, name), 0o755)
  }
  vi.stubEnv('PATH', path.join(delimiter))
}

const image = (bytes: Buffer) => ({
  type: 'image',
  image: { mediaType: 'image/png', base64: bytes.toString('base64') },
})
const none = (why: string) => ({ type: 'none', why })
const text = Buffer.from('some text')
const ofSize = (size: number) => Buffer.concat([png, Buffer.alloc(size - png.length)])

test.each([
  ['is read with xclip', { xclip: png }, 'linux', image(png)],
  ['is read with wl-paste first', { 'wl-paste': png, xclip: ofSize(100) }, 'linux', image(png)],
  ['is read with xclip where wl-paste has none', { 'wl-paste': text, xclip: png }, 'linux', image(png)],
  ['is read with pngpaste on macOS', { pngpaste: png }, 'darwin', image(png)],
  ['may be the largest that the API takes', { xclip: ofSize(3_750_000) }, 'linux', image(ofSize(3_750_000))],
  [
    'may not be larger',
    { xclip: ofSize(3_750_001) },
    'linux',
    none('The image in the clipboard is too large to attach.'),
  ],
  ['is not a text', { xclip: text }, 'linux', none('There is no image in the clipboard.')],
  ['is not nothing', { xclip: Buffer.alloc(0) }, 'linux', none('There is no image in the clipboard.')],
  ['needs a program', {}, 'linux', none('Install wl-paste or xclip, or paste the path of an image file.')],
  [
    'needs another one on macOS',
    { xclip: png },
    'darwin',
    none('Install pngpaste, or paste the path of an image file.'),
  ],
  ['cannot be read elsewhere', { xclip: png }, 'win32', none('Paste the path of an image file to attach it.')],
])('the image %s', async (_, outputs, platform, expected) => {
  install(outputs)
  expect(await imageInClipboard(platform)).toEqual(expected)
})
