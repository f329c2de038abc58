// The folder of a demo.

import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { visible } from '@everlong/agent/render'
import { failed, gathered, noPlaceFor, type Outcome, writing } from '../../outcome.ts'

/** The path of a new session in this folder, which is created if necessary. Without a folder, in a new temporary one. */
export function placeIn(folder: string | undefined): Outcome<string> {
  const trouble = folder === undefined ? undefined : noPlaceFor(folder)
  if (trouble) return failed(trouble)
  return writing(folder ?? tmpdir(), () => {
    const kept = folder ?? mkdtempSync(join(tmpdir(), 'everlong-demo-'))
    if (!existsSync(kept)) mkdirSync(kept)
    if (!statSync(kept).isDirectory()) return failed(`${visible(kept)} is not a folder. Choose another --folder.`)
    accessSync(kept, constants.W_OK)
    const transcript = join(kept, 'session.jsonl')
    if (!existsSync(transcript)) return gathered(transcript)
    return failed(`${visible(transcript)} is there already and is left alone. Choose another --folder.`)
  })
}
