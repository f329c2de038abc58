// Shared parts of all tools: the workspace, permissions, secrets, the files that each session has read, and the folder for long
// output.

import { join } from 'node:path'
import { sessionFolder } from 'everlong/internal/node'
import type { Session } from 'everlong/node'
import type { z } from 'zod'
import type { PermissionRequest } from '../app.ts'
import { codeOf, type Workspace } from '../files/paths.ts'
import type { Access } from '../permissions/decide.ts'
import type { AskedCall, Permissions } from '../permissions/permissions.ts'
import type { Redactor } from '../permissions/secrets.ts'
import { reasonOf } from '../reason-of.ts'
import { interrupted } from '../run-tools.ts'
import { type AnyTool, defineTool, type Tool, type ToolContext, type ToolOutput } from '../tool.ts'
import type { ReadFiles } from './read-files.ts'

export type Kit = {
  readonly workspace: Workspace
  readonly permissions: Permissions
  readonly redactor: Redactor
  /** The environment for commands. */
  readonly environment: Readonly<Record<string, string>>
  readonly readFiles: (session: Session) => ReadFiles
  /** Our own folders that this session may read. */
  readonly ownFolders: (session: Session) => readonly string[]
  /** Folder for the full output of this session's commands. */
  readonly outputFolder: (session: Session) => string
}

/** A planned call. It is prepared and checked first, then permission is asked, then it runs. */
export type Planned = {
  readonly access: Access
  /** One line for the person: `Edit src/main.ts`. */
  readonly title: string
  readonly detail?: PermissionRequest['detail']
  readonly run: () => Promise<ToolOutput | string> | ToolOutput | string
  /** Called instead of `run` if the call may not run. */
  readonly cancel?: () => void
}

export type GuardedTool<Input> = Omit<Tool<Input>, 'run' | 'input'> & {
  readonly input: z.ZodType<Input>
  /** Returns a result instead of a plan for an error that needs no permission, such as a missing file. */
  readonly plan: (input: Input, context: ToolContext) => Promise<Planned | ToolOutput> | Planned | ToolOutput
}

export function guardedTool<Input>(kit: Kit, { plan, ...tool }: GuardedTool<Input>): AnyTool {
  return defineTool<Input>({
    ...tool,
    run: async (input, context) => {
      const planned = await plan(input, context)
      if ('content' in planned) return planned
      const { access, title, detail, run, cancel } = planned
      const { toolUseId, signal, session } = context
      const asked = { access, title, tool: tool.name, toolUseId, signal, session, ...(detail ? { detail } : {}) }
      const why = await refusal(kit, asked)
      if (why === undefined) return run()
      cancel?.()
      return failed(why)
    },
  })
}

/** The reason why a call may not run. */
async function refusal(kit: Kit, asked: AskedCall): Promise<string | undefined> {
  const answer = await kit.permissions.check(asked)
  if (asked.signal.aborted) return interrupted
  return answer.type === 'denied' ? answer.message : movedSince(kit, asked.access)
}

/** A link may have been put into the path while the person was asked. The agreement covers only the old place. */
async function movedSince({ workspace }: Kit, access: Access): Promise<string | undefined> {
  if (access.type !== 'read' && access.type !== 'write') return undefined
  const { path, shown, real } = access.place
  const now = await workspace.place(path)
  if (now.real === real) return undefined
  return `${shown}: a link in this path was changed while permission was asked. It leads to ${now.real} now. Nothing was done.`
}

export function failed(content: string, details?: unknown): ToolOutput {
  return { content, isError: true, ...(details === undefined ? {} : { details }) }
}

export function outputFolderOf(transcript: string): string {
  return join(sessionFolder(transcript), 'output')
}

/** File for the whole output of a call if it is long. */
export function outputPath(kit: Kit, { session, toolUseId }: ToolContext): string {
  return join(kit.outputFolder(session), `${toolUseId.replace(/[^\w-]/g, '_')}.txt`)
}

/** Explains Unix errors. */
export function problemOf(error: unknown, path: string): string {
  const known = words[codeOf(error) ?? '']
  return known === undefined ? `${path}: ${reasonOf(error)}` : `${path}: ${known}`
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file.',
  ENOTDIR: 'a part of the path is a file, not a folder.',
  EISDIR: 'this is a folder, not a file.',
  EACCES: 'the system does not permit it.',
  EPERM: 'the system does not permit it.',
  EROFS: 'the file system is read-only.',
  ENOSPC: 'the disk is full.',
  EEXIST: 'a file is there already.',
  ELOOP: 'the path goes through too many links.',
  ENAMETOOLONG: 'the name is too long.',
}
