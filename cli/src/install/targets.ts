// The agents that `everlong install` knows.
import { claudeCode } from './claude-code.ts'
import type { InstallTarget } from './target.ts'

export const targets: readonly InstallTarget[] = [claudeCode]
