// Starts the program of the terminal's tests in a pseudo-terminal, in a folder of its own.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'
import type { PlayData } from './play-worker.ts'
import { type Pty, type PtyOptions, startPty } from './pty.ts'

export type Program = Pty & { readonly folder: string; readonly home: string }

export type ProgramOptions = Omit<PtyOptions, 'command'> & {
  readonly data?: Partial<PlayData>
  readonly words?: readonly string[]
  /** Puts files into the folder before the program starts. */
  readonly prepare?: (folder: string) => void
}

const compiled = process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'everlong-compiled')
const program = fileURLToPath(new URL('./play.ts', import.meta.url))

/** Ends programs that are still running when a test ends, and removes their folders. */
export function programs(): (options?: ProgramOptions) => Program {
  const running: Pty[] = []
  const roots: string[] = []
  afterEach(async () => {
    for (const each of running.splice(0)) {
      if (each.isAlive()) each.kill('SIGKILL')
      await each.ended
    }
    for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true })
  })
  const placesIn = (root: string) => ({ folder: join(root, 'project'), home: join(root, 'home') })
  const newPlaces = () => {
    const root = mkdtempSync(join(tmpdir(), 'everlong-terminal-'))
    roots.push(root)
    const places = placesIn(root)
    for (const place of Object.values(places)) mkdirSync(place)
    return places
  }
  return ({ data, env, prepare, words = [], ...options } = {}) => {
    const { folder, home } = { ...newPlaces(), ...data }
    prepare?.(folder)
    const command = [process.execPath, program, JSON.stringify({ ...data, folder, home }), ...words]
    const pty = startPty({ ...options, command, cwd: folder, env: { NODE_COMPILE_CACHE: compiled, ...env } })
    running.push(pty)
    return { ...pty, folder, home }
  }
}
