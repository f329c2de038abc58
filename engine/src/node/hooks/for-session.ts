// Creates the hooks of one session.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hooks } from '../../core/ports/hooks.ts'
import type { HookedSession } from '../../core/session/platform.ts'
import { sessionFolder } from '../session/session-folder.ts'
import { createHooks, type HooksOptions } from './hooks.ts'

export type HookChoices = Pick<HooksOptions, 'functions' | 'settings' | 'env' | 'timeoutMs'>

export function hooksFor(choices: HookChoices, { id, path, cwd }: HookedSession): Hooks {
  const folder = path === undefined ? join(tmpdir(), 'everlong') : sessionFolder(path)
  return createHooks({
    ...choices,
    sessionId: id,
    transcriptPath: path ?? '',
    cwd,
    outputFolder: join(folder, 'hook-output'),
  })
}
