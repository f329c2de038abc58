// The agent of the demo on the screen: the real one, with its tools, on a made-up repository in its own folder.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAgent } from '@everlong/agent/host'
import { commandInfos, serveInWorker } from '@everlong/agent/terminal/worker'
import { repositoryIn, syntheticRepository, writeRepository } from '@everlong/simulator'
import { demoModel } from '../agent/demo-model.ts'
import { agentWithoutMarks } from '../agent/marks.ts'
import { demoAgent } from './model.ts'
import { settings, window } from './stage.ts'

export type DemoData = {
  /** Must be empty. It is kept afterwards. */
  readonly folder: string
  readonly home: string
}

serveInWorker<DemoData>(async ({ folder, home }, person) => {
  mkdirSync(folder)
  mkdirSync(home)
  writeRepository(syntheticRepository({ seed: 7, files: 60 }), folder)
  const { recall: _, contextWindow: __, ...engine } = settings
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ engine }))
  const env = { ...process.env, EVERLONG_HOME: home }
  const chosen = await demoModel(folder, { window, isSlow: true, script: demoAgent(repositoryIn(folder)) })
  const started = await startAgent({ folder, env, person, mode: 'allow', chosen })
  if (started.type !== 'started') throw new Error('The agent of the demo did not start.')
  const agent = agentWithoutMarks(started.agent)
  return { type: 'agent', agent, folder, commands: commandInfos() }
})
