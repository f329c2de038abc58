// `everlong init`: finds the SDK of a project, shows its changes, asks, applies them, and runs one simulated conversation.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { confirm } from '../../confirm.ts'
import { ChangedMeanwhile, writeAll } from '../../disk.ts'
import type { Io } from '../../io.ts'
import { failed, gathered, type Outcome, systemTrouble } from '../../outcome.ts'
import { foldedFor, screenOf } from '../../render/screen.ts'
import { type InitReport, planFor } from './plan.ts'
import { NoProject, type Project, readProject } from './project.ts'
import { planLines } from './screen.ts'
import { sdks } from './sdks.ts'
import { tryIn } from './trial.ts'

export type InitOptions = {
  readonly sdk?: string
  readonly yes?: boolean
  /** False with --no-try. */
  readonly try?: boolean
  readonly json?: boolean
}

export async function init(folder: string, options: InitOptions & { readonly io: Io }): Promise<Outcome<InitReport>> {
  const path = resolve(options.io.cwd, folder)
  try {
    return await initIn(path, options)
  } catch (error) {
    if (error instanceof NoProject || error instanceof ChangedMeanwhile) return failed(error.message)
    const message = systemTrouble(path, error)
    if (message === undefined) throw error
    return failed(message)
  }
}

async function initIn(folder: string, options: InitOptions & { readonly io: Io }): Promise<Outcome<InitReport>> {
  const { io } = options
  const project = readProject(folder)
  const chosen = project.sdks.filter(({ name }) => options.sdk === undefined || name === options.sdk)
  if (chosen.length === 0) return failed(noSdk(options.sdk))
  const { plan, writes } = planFor(project, chosen)
  if (writes.length === 0 && plan.install === undefined) return gathered({ ...plan, state: 'nothing-to-do' })

  if (!options.json) io.stdout.write(`${foldedFor(io, planLines(plan, screenOf(io))).join('\n')}\n\n`)
  const answer = options.yes ? 'yes' : await confirm('Apply this?', io)
  if (answer !== 'yes') return gathered({ ...plan, state: answer === 'no' ? 'refused' : 'not-asked' })

  const trouble = plan.install === undefined ? undefined : await install(project, io)
  if (trouble !== undefined)
    return failed(`${trouble} Nothing was changed. Run ${plan.install} yourself, then try again.`)
  writeAll({ writes, folders: [] })
  if (options.try === false) return gathered({ ...plan, state: 'applied' })
  const trial = await tryIn(
    folder,
    chosen.map(({ name }) => name),
  )
  return gathered({ ...plan, state: 'applied', trial }, trial.type === 'done' ? 0 : 1)
}

function noSdk(asked: string | undefined): string {
  if (asked !== undefined) return `package.json has no dependency for ${asked}. Leave --sdk out to use what is there.`
  const known = sdks.flatMap(({ packages }) => packages).join(', ')
  return `package.json has none of the SDKs that Everlong knows: ${known}. In a monorepo, name the folder of the package that calls the model. For other clients, see the library: npm install everlong.`
}

/** Returns the reason if it failed. Output of the package manager goes to standard error. */
async function install({ folder, manager }: Project, { stderr, env }: Io): Promise<string | undefined> {
  const child = spawn(manager.name, manager.install, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // There, npm is a script. The words are constants.
    shell: process.platform === 'win32',
  })
  child.stdout.pipe(stderr, { end: false })
  child.stderr.pipe(stderr, { end: false })
  try {
    const [exitCode] = await once(child, 'close')
    return exitCode === 0 ? undefined : `${manager.name} ended with ${exitCode}.`
  } catch (error) {
    return `${manager.name} cannot be started: ${(error as Error).message}.`
  }
}
