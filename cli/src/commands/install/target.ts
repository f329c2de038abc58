// An agent for installing Everlong, as data: files and their changes. `install`, `uninstall`, `status` and `--dry-run` read the
// same list, so exactly what is shown is written, and everything written can be undone.

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
  /** A new file of ours. */
  | { readonly type: 'file'; readonly path: string; readonly content: string }
  /**
   * Lines in a TOML file of the agent's. Refused if they would redefine a key. Tables go to the end of the file; keys without a
   * table must go to the start, or they would belong to the last table.
   */
  | { readonly type: 'toml'; readonly path: string; readonly text: string; readonly where?: 'start' | 'end' }

export type InstallTarget = {
  /** The word after `everlong install`. */
  readonly name: string
  readonly title: string
  /** What the user gets, and how to turn on optional parts. */
  readonly about: string
  readonly changes: (place: Place) => readonly Change[]
  /** Removes what the agent wrote into its own file about our installation. Returns the text without it. */
  readonly forget?: (text: string, path: string) => string
  /** Folders with only the plug-in's data from running. `uninstall` removes them with all their content. */
  readonly data?: (place: Place) => readonly (string | DataPattern)[]
}

/** Folders whose names are not known beforehand: those below `folder` that match the glob. */
export type DataPattern = {
  readonly folder: string
  readonly match: string
  /** Only empty ones, and only if `folder` did not exist before, because the agent creates them for any similar plug-in. */
  readonly ifEmpty?: boolean
}

/** Our programs are modules, even below another package.json that says otherwise. */
export function moduleFolder(folder: string): Change {
  return { type: 'file', path: join(folder, 'package.json'), content: '{ "type": "module" }\n' }
}
