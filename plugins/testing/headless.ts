// An agent without a person and without a network: an empty home folder, a project whose one test fails, and a simulator that
// forgets everything when it summarizes.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Script, type ScriptRequest, type ServerOptions, startServer } from '@everlong/simulator'
import { blocksOf, isToolResult, textOf } from 'everlong/internal'
import { everythingIn, root, searchPath } from './agent.ts'

export const rule = 'From now on never touch the file schema.sql.'
export const wish = 'Rename the column total to amount in every report.'

export type Headless = {
  readonly folder: string
  readonly home: string
  readonly project: string
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  /** What the model was asked since the last call. */
  readonly sinceLast: () => readonly ScriptRequest[]
  readonly everlong: (...words: readonly string[]) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** `windows`: of models, where they must be smaller than real ones. */
export async function headless(
  name: string,
  script: Script,
  { windows }: Pick<ServerOptions, 'windows'> = {},
): Promise<Headless> {
  const folder = mkdtempSync(join(tmpdir(), `everlong-${name}-`))
  const [home, project] = [join(folder, 'home'), join(folder, 'project')]
  for (const path of [home, project]) mkdirSync(path)
  writeFileSync(join(project, 'package.json'), '{ "scripts": { "test": "echo expected 3, got 2; exit 1" } }\n')
  const requests: ScriptRequest[] = []
  const server = await startServer({
    ...{ port: 0, ...(windows ? { windows } : {}) },
    script: (request, context) => {
      requests.push(request)
      return script(request, context)
    },
  })
  // npm would mention its updates in the output of the tests, now and then.
  const env = { PATH: searchPath, HOME: home, npm_config_update_notifier: 'false' }
  return {
    ...{ folder, home, project, env, url: server.url },
    sinceLast: () => requests.splice(0),
    everlong: (...words) => run(process.execPath, [join(root, 'cli/src/main.ts'), ...words], { env, cwd: project }),
    close: async () => {
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** With nothing on standard input: an agent would wait for it. */
export async function run(
  command: string,
  words: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const child = promisify(execFile)(command, words, { timeout: 150_000, maxBuffer: 64 << 20, ...options })
  child.child.stdin?.end()
  return (await child).stdout
}

/** All that a request says. */
export function said(request: ScriptRequest | undefined): string {
  return request?.messages.map(({ content }) => textOf(content)).join('\n') ?? ''
}

/** The last thing in a request: the text, and whether it answers a call. */
export function lastSaid({ messages }: ScriptRequest): { readonly text: string; readonly isResult: boolean } {
  const last = blocksOf(messages.at(-1)?.content).at(-1)
  return last === undefined ? { text: '', isResult: false } : { text: textOf([last]), isResult: isToolResult(last) }
}

export function resultsIn(requests: readonly ScriptRequest[]): string {
  return JSON.stringify(
    requests.flatMap(({ messages }) => messages.flatMap((one) => blocksOf(one.content).filter(isToolResult))),
  )
}

/** Files that are gone since, and files of ours that are still there. */
export function leftBehind(home: string, before: ReadonlyMap<string, string>) {
  const after = everythingIn(home)
  const isOurs = (path: string) => /everlong/.test(path)
  return {
    gone: [...before.keys()].filter((path) => !after.has(path) && !isOurs(path)),
    ours: [...after.keys()].filter(isOurs),
  }
}
