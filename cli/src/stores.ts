// Sessions in a database, for commands that take a path: postgres://HOST/DATABASE?tenant=NAME#SESSION. The session is copied
// into a temporary folder, the command works there, and what it appended is appended to the session in the database.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { StoreError } from 'everlong'
import { isTranscript } from 'everlong/internal'
import { scanFile } from 'everlong/internal/node'
import { jsonlSessions } from 'everlong/node'
import { postgres } from 'everlong/postgres'
import { copySessions, type SessionStore, type StoredRecord } from 'everlong/stores'
import { followStore } from './commands/view/follow-store.ts'
import { decrypted } from './decryption.ts'
import type { Io, Output } from './io.ts'
import { expecting, failed, gathered, noTranscript, type Outcome } from './outcome.ts'
import { isSealedPath, tenantFolderOf } from './sealed.ts'

export type StorePlace = {
  readonly store: SessionStore
  /** Undefined means all sessions. */
  readonly session: string | undefined
  /** The URL without user, password and parameters. */
  readonly name: string
}

export function isStoreUrl(argument: string): boolean {
  return /^postgres(ql)?:/.test(argument)
}

/** A store URL, a folder of transcripts, or one transcript. Throws a StoreError. */
export function placeOf(argument: string): StorePlace {
  if (!isStoreUrl(argument)) {
    const isFile = argument.endsWith('.jsonl')
    const store = jsonlSessions({ folder: isFile ? dirname(argument) : argument })
    return { store, session: isFile ? basename(argument, '.jsonl') : undefined, name: argument }
  }
  if (!/^\w+:\/\//.test(argument) || !URL.canParse(argument))
    throw new StoreError('This is not the URL of a database: postgres://USER@HOST/DATABASE#SESSION')
  const url = new URL(argument)
  const session = sessionIn(url)
  const chosen = { tenant: url.searchParams.get('tenant'), schema: url.searchParams.get('schema') }
  for (const name of Object.keys(chosen)) url.searchParams.delete(name)
  url.hash = ''
  const options = Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== null))
  const name = `${url.protocol}//${url.host}${url.pathname}${session === undefined ? '' : `#${session}`}`
  return { store: postgres({ url: url.href, ...options }), session, name }
}

function sessionIn({ hash }: URL): string | undefined {
  if (hash === '') return undefined
  try {
    return decodeURIComponent(hash.slice(1))
  } catch {
    throw new StoreError('The session in this URL is not percent-encoded correctly: "%" is written as "%25".')
  }
}

/** Fails if a path is missing or a file has no conversation, because it would count as an empty session. */
export function checkedPlace(argument: string): Outcome<undefined> {
  if (isStoreUrl(argument)) return gathered(undefined)
  return expecting(argument, () => {
    const isConversation = !statSync(argument).isFile() || isTranscript(scanFile(argument))
    return isConversation ? gathered(undefined) : failed(noTranscript(argument))
  })
}

type Run = (argv: readonly string[], io: Io) => Promise<number>

/** Runs a command with files instead of store URLs. Throws a StoreError if a store cannot be used. */
export async function withStores(argv: readonly string[], io: Io, run: Run): Promise<number> {
  const isStored = (argument: string) => isStoreUrl(argument) || isSealedPath(argument)
  const url = argv.find(isStored)
  if (url === undefined || argv[0] === 'copy' || argv[0] === 'prune') return run(argv, io)
  if (argv.filter(isStored).length > 1)
    throw new StoreError('Only one database, or one path of encrypted sessions, at a time: run the command for each.')
  if (argv[0] === 'memory' && argv.includes('--write')) {
    throw new StoreError('Notes are kept next to a session on disk. Copy the session to a folder first: everlong copy')
  }
  const place = readablePlace(url, io.env)
  const folder = mkdtempSync(join(tmpdir(), 'everlong-store-'))
  const cache = process.env.EVERLONG_CACHE_DIR
  process.env.EVERLONG_CACHE_DIR = join(folder, 'cache')
  try {
    return await runOnCopy({ argv, url, place, folder: join(folder, 'sessions'), io, run })
  } finally {
    if (cache === undefined) delete process.env.EVERLONG_CACHE_DIR
    else process.env.EVERLONG_CACHE_DIR = cache
    rmSync(folder, { recursive: true, force: true })
    await place.store.close()
  }
}

/** Decrypted if necessary. */
function readablePlace(argument: string, env: Io['env']): StorePlace {
  const isFolder = !isStoreUrl(argument) && !argument.endsWith('.jsonl')
  const folder = isFolder ? tenantFolderOf(argument) : argument
  if (typeof folder !== 'string') {
    throw new StoreError(`${argument} has the sessions of several tenants. Name one: ${folder.join(', ')}`)
  }
  const place = placeOf(folder)
  return { ...place, name: isFolder ? argument : place.name, store: decrypted(place.store, env) }
}

type Copying = {
  readonly argv: readonly string[]
  readonly url: string
  readonly place: StorePlace
  readonly folder: string
  readonly io: Io
  readonly run: Run
}

async function runOnCopy({ argv, url, place, folder, io, run }: Copying): Promise<number> {
  const { store, session, name } = place
  const disk = jsonlSessions({ folder })
  const copied = await copySessions({
    from: store,
    to: disk,
    ...(session === undefined ? {} : { sessions: [session] }),
  })
  if (copied.sessions === 0) throw new StoreError(`There is no session at ${name}.`)
  const path = session === undefined ? folder : `${join(folder, session)}.jsonl`
  const before = session === undefined ? 0 : (await recordsIn(disk, session)).length
  const renamed = (output: Output) => renaming(output, path, name)
  const onCopy = argv.map((argument) => (argument === url ? path : argument))
  const ownIo = { ...io, stdout: renamed(io.stdout), stderr: renamed(io.stderr) }
  if (argv[0] === 'view') return viewStore({ argv: onCopy, url, place, disk, io: ownIo, run })
  const exitCode = await run(onCopy, ownIo)
  if (session !== undefined)
    await bringBack(place.store, session, (await recordsIn(disk, session)).slice(before), before)
  return exitCode
}

type Viewing = Omit<Copying, 'folder'> & { readonly disk: SessionStore }

/** The page stays open, so the copy grows with the store. It is never copied back: an undo goes to the store itself. */
async function viewStore({ argv, url, place, disk, io, run }: Viewing): Promise<number> {
  const { store, session } = place
  const stop = followStore({
    from: store,
    to: disk,
    session,
    everyMs: 1_000,
    onTrouble: (why) => io.stderr.write(why === undefined ? 'The store answers again.\n' : `${why} Trying again.\n`),
  })
  const undoInStore = async (path: string, uuid: string) => {
    const at = placeIn(url, basename(path, '.jsonl'))
    const said = new PassThrough().setEncoding('utf8')
    const exitCode = await withStores(['undo', at, '--edit', uuid], { ...io, stdout: said, stderr: said }, run)
    return exitCode === 0 ? undefined : String(said.read() ?? '').replace(/^everlong: /, '')
  }
  try {
    return await run(argv, { ...io, undoInStore })
  } finally {
    await stop()
  }
}

/** A session of a store in the form of an argument. */
function placeIn(argument: string, session: string): string {
  if (!isStoreUrl(argument)) {
    const folder = argument.endsWith('.jsonl') ? dirname(argument) : String(tenantFolderOf(argument))
    return join(folder, `${session}.jsonl`)
  }
  const at = new URL(argument)
  at.hash = encodeURIComponent(session)
  return at.href
}

async function recordsIn(store: SessionStore, id: string): Promise<readonly StoredRecord[]> {
  const found: StoredRecord[] = []
  for await (const record of store.records(id)) found.push(record)
  return found
}

async function bringBack(
  store: SessionStore,
  id: string,
  added: readonly StoredRecord[],
  before: number,
): Promise<void> {
  if (added.length === 0) return
  const opened = await store.open(id, { as: 'existing', owner: 'the everlong command' })
  const why = opened.type === 'held' ? opened.why : `The session ${id} was erased.`
  if (opened.type !== 'opened') throw new StoreError(`${why} Nothing was changed.`)
  const { session } = opened
  // Versions of files do not count records.
  const isUnchanged = (await session.all()).length === before
  const appended = isUnchanged ? await session.append(added, session.version) : undefined
  await session.release()
  if (appended?.type === 'stored') return
  throw new StoreError(`${appended?.why ?? `The session ${id} has changed meanwhile.`} Nothing was changed.`)
}

/** Replaces the path of the temporary copy with the name that the user gave. */
function renaming(output: Output, path: string, name: string): Output {
  const write = (text: string | Uint8Array) =>
    output.write(typeof text === 'string' ? text.replaceAll(path, name) : text)
  return Object.create(output, { write: { value: write } }) as Output
}
