// What the tests with real agents share: where the agents are, and a look at everything below a folder.
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

export const root = dirname(dirname(import.meta.dirname))

/** The command of an agent that `npm run test:agents` installed; undefined if it could not. */
export function agentCommand(name: string): string | undefined {
  const path = join(root, '.everlong/agents/node_modules/.bin', name)
  return existsSync(path) ? path : undefined
}

/** Hooks and servers run with the Node that is found first: the one that runs the tests. */
export const searchPath = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`

/** Every file below a folder with its content, and every folder, by its path from there. */
export function everythingIn(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  return new Map(
    names.map((name) => {
      const path = join(folder, name)
      return [name, lstatSync(path).isFile() ? readFileSync(path, 'base64') : 'not a file']
    }),
  )
}
