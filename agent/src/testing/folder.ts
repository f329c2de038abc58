// A temporary folder for each test that asks for one.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'

export function setFolder(): () => string {
  const made: string[] = []
  afterEach(() => {
    for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
  return () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'everlong-folder-')))
    made.push(folder)
    return folder
  }
}
