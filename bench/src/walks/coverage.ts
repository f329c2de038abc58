// Which files and functions a process runs, by V8's coverage. Worker threads and child processes are included.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from '../root.ts'

export type Coverage = {
  /** Source files of the checkout without the benchmarks, relative to its root. */
  readonly loaded: readonly string[]
  /** Those with a named function that was called. */
  readonly ran: readonly string[]
  /** Named functions that were called. */
  readonly functions: number
}

type Report = {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly functionName: string
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
    }[]
  }[]
}

/** `folder` becomes the home folder and the cache folder of the process. */
export function coverageOf(
  words: readonly string[],
  { folder, input = '' }: { readonly folder: string; readonly input?: string | undefined },
): Coverage {
  const reports = join(folder, 'coverage')
  mkdirSync(reports)
  const run = spawnSync(process.execPath, words, {
    input,
    encoding: 'utf8',
    cwd: folder,
    timeout: 120_000,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      EVERLONG_HOME: join(folder, 'home'),
      EVERLONG_CACHE_DIR: join(folder, 'cache'),
      NODE_V8_COVERAGE: reports,
    },
  })
  if (run.status !== 0) throw new Error(`${words.join(' ')} ended with ${run.status ?? run.signal}: ${run.stderr}`)
  return merged(readdirSync(reports).map((name) => JSON.parse(readFileSync(join(reports, name), 'utf8')) as Report))
}

function merged(reports: readonly Report[]): Coverage {
  const called = new Map<string, Set<string>>()
  for (const { url, functions } of reports.flatMap(({ result }) => result)) {
    const path = sourcePath(url)
    if (path === undefined) continue
    const names = called.get(path) ?? new Set<string>()
    called.set(path, names)
    for (const { functionName, ranges } of functions) {
      const [range] = ranges
      if (functionName !== '' && range && range.count > 0) names.add(`${functionName}@${range.startOffset}`)
    }
  }
  const ran = [...called].filter(([, names]) => names.size > 0)
  return {
    loaded: [...called.keys()].toSorted(),
    ran: ran.map(([path]) => path).toSorted(),
    functions: ran.reduce((sum, [, names]) => sum + names.size, 0),
  }
}

function sourcePath(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined
  const path = relative(root, fileURLToPath(url)).replaceAll('\\', '/')
  return /^(\.\.|bench)\/|node_modules\//.test(path) || !path.endsWith('.ts') ? undefined : path
}
