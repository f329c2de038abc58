// The agents that `everlong install` knows.
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi.ts'
import type { InstallTarget } from './target.ts'

export const targets: readonly InstallTarget[] = [claudeCode, codex, opencode, pi]
