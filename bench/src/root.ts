// Where the house stands, and where the shared transcripts lie when there are any.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')

/** The folder of real transcripts: beside the checkout, or where EVERLONG_DATA says; undefined when there is none. */
export function transcriptFolder(): string | undefined {
  return dataFolder('transcripts')
}

/** A folder of the data at hand; undefined when it is not there. */
export function dataFolder(name: string): string | undefined {
  const data = [process.env.EVERLONG_DATA, join(root, '..', 'shared', 'data')]
  const folders = data.filter((folder) => folder !== undefined).map((folder) => join(folder, name))
  return folders.find((folder) => existsSync(folder))
}
