// `everlong view`: serves the page until it is stopped, on 127.0.0.1 only, and opens it in a browser.
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bytes, visible } from '@everlong/agent/render'
import { builtPage, exportSession, startViewer, type Undo } from '@everlong/viewer'
import { isTranscript } from 'everlong/internal'
import { findSessions, scanFile } from 'everlong/internal/node'
import { nothingHere, ownSessions } from '../../agent-homes.ts'
import type { Io } from '../../io.ts'
import {
  failed,
  gathered,
  noPlaceFor,
  noTranscript,
  noTranscripts,
  notThere,
  type Outcome,
  portTrouble,
  reading,
  systemTrouble,
  writing,
} from '../../outcome.ts'

export type ViewOptions = {
  readonly port: number
  readonly open: boolean
  readonly out?: string
  readonly comment?: string
  readonly content: boolean
}

type Asked = ViewOptions & { readonly io: Io }

export async function view(named: readonly string[], options: Asked): Promise<Outcome<object>> {
  const { io, port } = options
  const { folders: paths, unreadable } = named.length > 0 ? { folders: named, unreadable: [] } : ownSessions(io.env)
  for (const { path, reason } of unreadable) io.stderr.write(`${visible(path)} cannot be read: ${visible(reason)}\n`)
  const missing = paths.find((path) => !existsSync(path))
  if (missing !== undefined) return failed(notThere(missing))
  if (findSessions(paths).files.length === 0)
    return failed(named.length > 0 ? noTranscripts(paths) : nothingHere('view'))
  if (options.out !== undefined) return written(paths, options.out, options)
  try {
    await serve(paths, options)
    return gathered({})
  } catch (error) {
    const message = portTrouble(port, error) ?? systemTrouble(`port ${port}`, error)
    if (message === undefined) throw error
    return failed(message)
  }
}

/** A file that exists is not overwritten. */
async function written(
  paths: readonly string[],
  out: string,
  { comment, content, io }: Asked,
): Promise<Outcome<object>> {
  const trouble = noPlaceFor(out)
  if (trouble !== undefined) return failed(trouble)
  const [path, ...others] = findSessions(paths).files.map((file) => file.path)
  if (path === undefined || others.length > 0) return failed('--out writes one session. Name its file.')
  const readable = reading(path, () =>
    isTranscript(scanFile(path)) ? gathered(undefined) : failed(noTranscript(path)),
  )
  if (readable.type === 'failed') return readable
  const html = await exportSession(path, {
    comment: comment ?? null,
    isContentHidden: !content,
    env: io.env,
    page: builtPage(await pageFolder(io)),
  })
  return writing(out, () => {
    try {
      writeFileSync(out, html, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      return failed(`${visible(out)} exists and is not overwritten. Give --out another name.`)
    }
    io.stdout.write(
      `Wrote ${visible(out)} (${bytes(Buffer.byteLength(html))}). Secrets that code recognizes were replaced; read it before you share it.\n`,
    )
    return gathered({})
  })
}

async function serve(paths: readonly string[], { port, open, content, io }: Asked): Promise<void> {
  const page = builtPage(await pageFolder(io))
  const undo = io.undoInStore ?? undoIn(io)
  const viewer = await startViewer({ paths, port, env: io.env, page, undo, isContentHidden: !content })
  try {
    // Listens first, because a reader of the address may stop it at once.
    const stopped = io.untilStopped?.()
    io.stdout.write(`Open ${viewer.url}\n\nOnly this machine can read it. Press Ctrl-C to stop.\n`)
    if (open) openBrowser(viewer.url)
    await stopped
  } finally {
    await viewer.close()
  }
}

/** Does the same as `everlong undo`. */
function undoIn(io: Io): Undo {
  return async (path, uuid) => {
    const { gather } = await import('../edit/undo.ts')
    const outcome = await gather(path, { edit: [uuid], io })
    return outcome.type === 'failed' ? outcome.message : undefined
  }
}

/** In the package it is next to the program; in a checkout it is built when a source has changed. */
async function pageFolder({ stderr }: Io): Promise<string> {
  const built = fileURLToPath(new URL('page', import.meta.url))
  if (existsSync(built)) return built
  // Not part of the package: scripts/package/build.ts leaves it out.
  const { buildPage } = await import('@everlong/viewer/build')
  return buildPage(() => stderr.write('Building the page (once, a few seconds).\n'))
}

/** Without a desktop the user opens the printed address. */
function openBrowser(url: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url]
  const child = spawn(command ?? '', args, { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
