// An agent that Everlong can be installed into, as data: which files get which changes. `install`, `uninstall`, `status` and
// `--dry-run` all read the same list, so what is shown is what is written, and what was written can be taken back.

import { join } from 'node:path'

export type Place = {
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The Node that runs hooks and servers: `node`, or a path where the one on the PATH is missing or too old. */
  readonly node: string
  /** Reads a file of a built plug-in: `pluginFile('pi', 'dist/everlong.js')`. */
  readonly pluginFile: (plugin: string, path: string) => string
}

export type Change =
  /** A file of ours, at a path where there is none. */
  | { readonly type: 'file'; readonly path: string; readonly content: string }
  /**
   * Lines in a TOML file of the agent's. Refused where they would redefine a key. Tables go to the end of the file; keys
   * without a table must go to the start, or they would belong to the last table.
   */
  | { readonly type: 'toml'; readonly path: string; readonly text: string; readonly where?: 'start' | 'end' }

export type InstallTarget = {
  /** The word after `everlong install`. */
  readonly name: string
  readonly title: string
  /** What the user gets, and how to turn on what is optional. */
  readonly about: string
  readonly changes: (place: Place) => readonly Change[]
  /** What the agent wrote into its own file about what we installed: `uninstall` removes it too. Returns the text without it. */
  readonly forget?: (text: string, path: string) => string
  /** Folders that hold nothing but what the plug-in left while it ran. `uninstall` removes them with all they hold. */
  readonly data?: (place: Place) => readonly (string | DataPattern)[]
}

/** Folders whose names are not known beforehand: those below `folder` that match the glob. */
export type DataPattern = {
  readonly folder: string
  readonly match: string
  /** Only empty ones, and only if `folder` did not exist before: the agent makes them for any plug-in like ours. */
  readonly ifEmpty?: boolean
}

/** Programs of ours are modules, also below a package.json of somebody else that says otherwise. */
export function moduleFolder(folder: string): Change {
  return { type: 'file', path: join(folder, 'package.json'), content: '{ "type": "module" }\n' }
}
