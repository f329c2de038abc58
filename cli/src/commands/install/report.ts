// `everlong install` and `everlong uninstall`: show what will be written, and write exactly that.
import { counted, visible } from '@everlong/agent/render'
import packageFacts from '../../../package.json' with { type: 'json' }
import { ChangedMeanwhile } from '../../disk.ts'
import type { Io } from '../../io.ts'
import { failed, gathered, type Outcome, writing } from '../../outcome.ts'
import { type FileChange, fileChange, fileLines } from '../../render/file-change.ts'
import { heading, paragraph, type Screen } from '../../render/screen.ts'
import { type InstallResult, installInto, removeFrom } from './install.ts'
import { homeOf, MissingPlugin, placeOf } from './place.ts'
import { DamagedRecord } from './record.ts'
import type { InstallTarget, Place } from './target.ts'
import { targets } from './targets.ts'

export type InstallReport = {
  readonly action: 'install' | 'uninstall'
  readonly target: string
  readonly title: string
  /** Shown to the user after installing. */
  readonly about: string
  /** Whether the files now match the list. False for a dry run and after a refusal. */
  readonly isDone: boolean
  readonly files: readonly FileChange[]
  /** Folders of the plug-in's own data, removed with all they hold. */
  readonly data: readonly string[]
  readonly refusals: readonly { readonly path: string; readonly why: string; readonly todo: string }[]
}

export type InstallOptions = { readonly dryRun?: boolean; readonly io: Io }

export function install(name: string, { dryRun, io }: InstallOptions): Outcome<InstallReport> {
  return withTarget(name, io, (target, place) => {
    const result = installInto(target, place, { version: packageFacts.version, ...(dryRun ? { dryRun } : {}) })
    return outcomeOf('install', target, result)
  })
}

export function uninstall(name: string, { dryRun, io }: InstallOptions): Outcome<InstallReport> {
  return withTarget(name, io, (target, place) => {
    const result = removeFrom(target, place, dryRun ? { dryRun } : {})
    if (result) return outcomeOf('uninstall', target, result)
    return failed(`Everlong is not installed in ${target.title}. See everlong install.`)
  })
}

type Run = (target: InstallTarget, place: Place) => Outcome<InstallReport>

function withTarget(name: string, { env }: Io, run: Run): Outcome<InstallReport> {
  const target = targets.find((each) => each.name === name)
  if (!target) {
    const known = targets.map((each) => each.name).join(', ')
    return failed(`there is no agent called ${visible(name)}. Known: ${known}.`)
  }
  return writing(homeOf(env), () => {
    try {
      return run(target, placeOf(env))
    } catch (error) {
      const isExpected = [ChangedMeanwhile, MissingPlugin, DamagedRecord].some((kind) => error instanceof kind)
      if (isExpected) return failed((error as Error).message)
      throw error
    }
  })
}

function outcomeOf(
  action: InstallReport['action'],
  { name, title, about }: InstallTarget,
  { plan, data, isDone }: InstallResult,
): Outcome<InstallReport> {
  const refusals = distinct(plan.refusals)
  const files = plan.writes.map(fileChange)
  const report: InstallReport = { action, target: name, title, about, isDone, files, data, refusals }
  if (refusals.length === 0) return gathered(report)
  const complaint = `nothing was written: ${counted(new Set(refusals.map(({ path }) => path)).size, 'file')} must be changed by hand first.`
  return { type: 'gathered', report, exitCode: 1, complaint }
}

/** Several changes to one file may be refused for the same reason. */
function distinct(refusals: InstallResult['plan']['refusals']): InstallReport['refusals'] {
  const byText = refusals.map(({ path, why, todo }) => [`${path}\n${why}\n${todo}`, { path, why, todo }] as const)
  return [...new Map(byText).values()]
}

export function render(report: InstallReport, screen: Screen): readonly string[] {
  const verb = report.action === 'install' ? 'Install Everlong into' : 'Remove Everlong from'
  if (report.refusals.length > 0) return [heading(`${verb} ${report.title}`, screen), ...refusalLines(report, screen)]
  if (report.files.length === 0) return [`Everlong is installed in ${report.title} already. Nothing was written.`]
  return [
    heading(`${verb} ${report.title}`, screen),
    ...report.files.flatMap((file) => fileLines(file, screen)),
    ...report.data.map((folder) => `  removed  ${visible(folder)} and all in it`),
    '',
    ...paragraph(closing(report), screen),
  ]
}

function closing({ action, isDone, about, target }: InstallReport): string {
  if (!isDone) return 'A dry run: nothing was written.'
  return action === 'install'
    ? `${about} To remove it: everlong uninstall ${target}`
    : 'Everlong is removed. Nothing else was changed.'
}

function refusalLines({ refusals }: InstallReport, screen: Screen): readonly string[] {
  return refusals.flatMap(({ path, why, todo }) => [
    `  ${visible(path)}`,
    ...paragraph(`Not changed: ${why}.`, screen, 'yellow').map((line) => `  ${line}`),
    ...todo.split('\n').map((line) => `      ${visible(line)}`),
  ])
}
