// Decides about commands in a workspace on disk, for tables of commands and expected decisions.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PermissionMode } from '../app.ts'
import { type Decision, decide } from '../permissions/decide.ts'
import { disk } from '../permissions/disk.ts'
import { parseRules } from '../permissions/rule.ts'
import { readScript } from '../permissions/script.ts'

export type CommandRules = {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  /** Default: `allow`, which never asks, so that only deny rules count. */
  readonly mode?: PermissionMode
}

/** A workspace with a secret in `.env`. */
export function makeWorkspace(folder: string): string {
  const root = join(folder, 'work')
  mkdirSync(join(root, 'src'), { recursive: true })
  writeFileSync(join(root, '.env'), 'KEY=topsecret\n')
  writeFileSync(join(root, 'src', 'a.js'), '1\n')
  return root
}

/** `WORKSPACE` in a command is replaced by the root. */
export function decideCommand(command: string, root: string, { mode = 'allow', ...lists }: CommandRules): Decision {
  const { rules, problems } = parseRules(lists)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const script = readScript(command.replaceAll('WORKSPACE', root))
  return decide({ type: 'run', script }, { mode, rules, root, disk })
}

export type Decided = {
  readonly allow: readonly string[]
  readonly ask: readonly string[]
  readonly deny: readonly string[]
}

/** The commands grouped by decision, in the given order. */
export function sorted(commands: readonly string[], root: string, rules: CommandRules): Decided {
  const decided = commands.map((command) => ({ command, type: decideCommand(command, root, rules).type }))
  const of = (type: Decision['type']) => decided.flatMap((each) => (each.type === type ? [each.command] : []))
  return { allow: of('allow'), ask: of('ask'), deny: of('deny') }
}
