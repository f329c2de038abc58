// The root of the checkout, and the folder of the shared transcripts if there is one.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')

/** The folder of real transcripts: next to the checkout, or in EVERLONG_DATA; undefined if there is none. */
export function transcriptFolder(): string | undefined {
  return dataFolder('transcripts')
}

/** A folder of the data; undefined if it does not exist. */
export function dataFolder(name: string): string | undefined {
  const data = [process.env.EVERLONG_DATA, join(root, '..', 'shared', 'data')]
  const folders = data.filter((folder) => folder !== undefined).map((folder) => join(folder, name))
  return folders.find((folder) => existsSync(folder))
}
