// Checks that a place to search exists.
import { stat } from 'node:fs/promises'
import type { Place } from '../../files/paths.ts'
import { problemOf } from '../kit.ts'
import { similarNames } from '../similar-names.ts'

export async function folderProblem(place: Place): Promise<string | undefined> {
  const found = await statOrProblem(place)
  if (typeof found === 'string') return found
  return found.isFolder ? undefined : `${place.shown} is a file, not a folder.`
}

export async function statOrProblem(place: Place): Promise<{ readonly isFolder: boolean } | string> {
  try {
    return { isFolder: (await stat(place.real)).isDirectory() }
  } catch (error) {
    return `${problemOf(error, place.shown)}${await similarNames(place)}`
  }
}
