// What `everlong init` would change in a project, and what it changed. Only reads files.
import { join } from 'node:path'
import type { Write } from '../../disk.ts'
import { type FileChange, fileChange } from '../../render/file-change.ts'
import { type Project, sourceFiles } from './project.ts'
import { editFile, type Sdk } from './sdks.ts'
import { parseSource } from './source.ts'
import type { Trial } from './trial.ts'

export type InitPlan = {
  readonly sdks: readonly string[]
  readonly files: readonly FileChange[]
  readonly byHand: readonly ByHand[]
  /** Files that already use Everlong. */
  readonly already: readonly string[]
  /** The command that installs the library; undefined if the project has it. */
  readonly install: string | undefined
}

export type ByHand = {
  readonly sdk: string
  /** `src/app.ts:12`; undefined if no place was found. */
  readonly place: string | undefined
  readonly why: string
  readonly lines: readonly string[]
}

export type InitReport = InitPlan & {
  /** `not-asked`: there is no terminal to ask on, and --yes is missing. */
  readonly state: 'applied' | 'refused' | 'not-asked' | 'nothing-to-do'
  readonly trial?: Trial
}

export type Planned = { readonly plan: InitPlan; readonly writes: readonly Write[] }

export function planFor(project: Project, chosen: readonly Sdk[]): Planned {
  const { folder, hasEverlong, manager } = project
  const texts = new Map(
    sourceFiles(
      folder,
      chosen.flatMap(({ packages }) => packages),
    ).map(({ path, text }) => [path, { before: text, now: text }]),
  )
  const byHand: ByHand[] = []
  const already = new Set<string>()
  for (const sdk of chosen) {
    const seen = new Set<'changed' | 'already'>()
    const leave = (place: string | undefined, why: string) =>
      byHand.push({ sdk: sdk.name, place, why, lines: sdk.byHand })
    for (const [path, text] of texts) {
      const source = parseSource(path, text.now)
      if (!source) {
        leave(path, 'it has a syntax error, or syntax that is not known')
        continue
      }
      const edited = editFile(source, sdk)
      if (edited.type === 'by-hand') leave(`${path}:${edited.line}`, edited.why)
      if (edited.type === 'already') {
        already.add(path)
        seen.add('already')
      }
      if (edited.type !== 'edited') continue
      seen.add('changed')
      texts.set(path, { before: text.before, now: edited.text })
      for (const { line } of edited.left) leave(`${path}:${line}`, 'the options are not written out there')
    }
    if (seen.size === 0 && !byHand.some((each) => each.sdk === sdk.name)) leave(undefined, 'no call of it was found')
  }
  const writes = [...texts]
    .filter(([, { before, now }]) => before !== now)
    .map(([path, { before, now }]) => ({
      path: join(folder, path),
      before: Buffer.from(before),
      after: Buffer.from(now),
    }))
  return {
    writes,
    plan: {
      sdks: chosen.map(({ name }) => name),
      files: writes
        .map(fileChange)
        .map((change, at) => ({ ...change, path: relativePath(folder, writes[at]?.path ?? '') })),
      byHand,
      already: [...already],
      install: hasEverlong ? undefined : [manager.name, ...manager.install].join(' '),
    },
  }
}

function relativePath(folder: string, path: string): string {
  return path.slice(folder.length + 1)
}
