// The keeper of the sandbox: a process of its own around @anthropic-ai/sandbox-runtime, which has one sandbox per process and mounts
// placeholders for files that are missing in the folder it runs in. So it runs in an empty folder, and ends with the agent.
import { spawn } from 'node:child_process'
import { existsSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SandboxManager, type SandboxRuntimeConfig } from '@anthropic-ai/sandbox-runtime'
import { codeOf } from '../files/paths.ts'
import { reasonOf } from '../reason-of.ts'
import { fixedInStore, withInner } from './folders.ts'
import { createGitStore } from './git-store.ts'
import { guardFor, placesIn } from './guard.ts'
import { type Guarded, GuardedFiles } from './guarded-files.ts'
import { misleadingFiles } from './misleading-files.ts'
import type { KeeperAnswer, KeeperRequest, Policy } from './protocol.ts'

const say = (answer: KeeperAnswer) => void process.send?.(answer)

/** The library runs its own small program inside the sandbox. */
const ownFolder = join(dirname(fileURLToPath(import.meta.resolve('@anthropic-ai/sandbox-runtime'))), '..')

const closedNetwork = { allowedDomains: [], deniedDomains: [] }
const nothing: SandboxRuntimeConfig = {
  network: closedNetwork,
  filesystem: { denyRead: [], allowRead: [], allowWrite: [], denyWrite: [] },
}

const waiting = new Map<number, (isAllowed: boolean) => void>()
let questions = 0

function ask({ host, port }: { readonly host: string; readonly port: number | undefined }): Promise<boolean> {
  const id = ++questions
  return new Promise((resolve) => {
    waiting.set(id, resolve)
    say({ type: 'connect', id, host, port })
  })
}

async function start(): Promise<void> {
  const { errors } = SandboxManager.checkDependencies()
  if (!SandboxManager.isSupportedPlatform()) throw new Error(`there is none for ${process.platform}`)
  if (errors.length > 0) throw new Error(errors.join('; '))
  await SandboxManager.initialize(nothing, ask)
  // The programs may exist while the system forbids what they do, for example in a container.
  const [program = '', ...words] = await wrapped('true', nothing.filesystem)
  const { code, text } = await outputOf(program, words)
  SandboxManager.cleanupAfterCommand()
  if (code !== 0) throw new Error(text.trim().split('\n')[0] || `a test in it ended with exit code ${code}`)
}

function outputOf(program: string, words: readonly string[]) {
  return new Promise<{ readonly code: number | null; readonly text: string }>((resolve) => {
    const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] })
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    child.once('error', (error) => resolve({ code: null, text: error.message }))
    child.once('close', (code) => resolve({ code, text }))
  })
}

async function wrapped(command: string, filesystem: SandboxRuntimeConfig['filesystem']): Promise<readonly string[]> {
  const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'
  const { argv } = await SandboxManager.wrapWithSandboxArgv(command, shell, { filesystem })
  return argv
}

const misleading = misleadingFiles()

let known: { readonly key: string; readonly files: GuardedFiles } | undefined

function guardedFiles({ rules, root, folders }: Policy): Guarded {
  const key = JSON.stringify({ rules, root })
  if (known?.key !== key) known = { key, files: new GuardedFiles(guardFor(rules, root)) }
  return known.files.find(folders.roots)
}

/** The system supports a few thousand paths. */
const maxPlaces = 2_000

type Reach = { readonly filesystem: SandboxRuntimeConfig['filesystem']; readonly hasDenied: boolean }

async function reachOf(policy: Policy): Promise<Reach> {
  const { folders, rules, hidesGit, usesGit, root } = policy
  const { hidden, fixed, stores: nested } = guardedFiles(policy)
  const withDenied = await storesWithDenied(nested, policy)
  const stores = new Set([...(hidesGit ? folders.stores : []), ...(usesGit ? [] : withDenied)])
  const open = nested.filter((store) => !stores.has(store))
  const inNested = open.flatMap(withInner).flatMap(fixedInStore)
  const count = hidden.length + fixed.length + inNested.length
  if (count > maxPlaces) throw new Error(`rules and names close ${count} files, which is more than ${maxPlaces}`)
  misleading.note({ roots: folders.roots, stores: [...folders.stores, ...open].flatMap(withInner) })
  const byRules = placesIn(rules)
  // Folders around a repository are mounted one by one, because a mounted folder cannot be renamed and replaced by a copy.
  const around = open.flatMap((store) => foldersBetween(store, [root, ...folders.roots]))
  const writable = [...folders.writable, ...byRules.writable, ...around].filter((path) => !stores.has(path))
  const literal = (paths: readonly string[]) => [...new Set(paths)].map((path) => ({ path, literal: true }) as const)
  const filesystem = {
    denyRead: [...literal([...folders.closed, ...folders.secret, ...hidden, ...stores]), ...byRules.secret],
    // Writable paths are readable. In both lists, a path would not be writable.
    allowRead: literal(
      [...folders.readable, ...byRules.readable, ownFolder].filter((path) => !writable.includes(path)),
    ),
    allowWrite: literal(writable),
    denyWrite: literal([
      ...[...(hidesGit ? [] : folders.fixed), ...inNested, ...fixed, ...byRules.fixed, ...folders.secret, ...hidden],
      ...missingFolders(folders),
    ]),
  }
  return { filesystem, hasDenied: withDenied.length > 0 }
}

const gitStores = new Map<string, ReturnType<typeof createGitStore>>()

async function storesWithDenied(stores: readonly string[], { rules, root }: Policy): Promise<readonly string[]> {
  const found = await Promise.all(
    stores.map((store) => {
      const known = gitStores.get(store) ?? createGitStore(root)
      gitStores.set(store, known)
      return known.hasDenied(rules, [store])
    }),
  )
  return stores.filter((_, at) => found[at])
}

/** A path and its parent folders, below the nearest of these roots. */
function foldersBetween(place: string, roots: readonly string[]): readonly string[] {
  const found: string[] = []
  for (let folder = place; !roots.includes(folder) && folder !== dirname(folder); folder = dirname(folder)) {
    found.unshift(folder)
  }
  return found
}

/** The agent and git read settings in these folders that run programs, so a command must not create them. */
function missingFolders({ roots }: Policy['folders']): readonly string[] {
  return roots.flatMap((path) =>
    ['.everlong', '.claude', '.git']
      .map((name) => join(path, name))
      .filter((folder) => !existsSync(folder))
      .map((folder) => join(folder, 'settings')),
  )
}

async function wrap({ id, command, policy }: KeeperRequest & { readonly type: 'wrap' }): Promise<void> {
  try {
    const { filesystem, hasDenied } = await reachOf(policy)
    say({ type: 'wrapped', id, program: await wrapped(command, filesystem), hasDenied })
  } catch (error) {
    say({ type: 'not-wrapped', id, why: reasonOf(error) })
  }
}

/** Removes its own empty folder, because the agent may have been killed. A folder that is not empty is not its own. */
function removeFolder(): void {
  try {
    rmdirSync(process.cwd())
  } catch (error) {
    if (!/^(?:ENOTEMPTY|ENOENT|EBUSY|EINVAL)$/.test(codeOf(error) ?? '')) throw error
  }
}

async function close(): Promise<void> {
  await SandboxManager.reset()
  misleading.remove()
  process.exit()
}

process.on('exit', removeFolder)
// The terminal is gone. The library handles other signals, and exits.
process.on('SIGHUP', () => void close())

process.on('message', (request: KeeperRequest) => {
  switch (request.type) {
    case 'start':
      start().then(
        () => say({ type: 'started' }),
        (error) => say({ type: 'unavailable', why: reasonOf(error) }),
      )
      return
    case 'wrap':
      void wrap(request)
      return
    case 'ended':
      SandboxManager.cleanupAfterCommand()
      misleading.remove()
      return
    case 'answer':
      waiting.get(request.id)?.(request.isAllowed)
      waiting.delete(request.id)
      return
    case 'close':
      void close()
  }
})
// The agent is gone, also if it was killed.
process.on('disconnect', () => void close())
