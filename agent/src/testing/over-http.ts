// Stages for scenario tests: the engine with its own client, the simulator behind a socket, closed after each test.
import { afterEach } from 'vitest'
import { type Stage, type StageOptions, setStage } from './stage.ts'

export function stagesOverHttp(): (options?: StageOptions) => Promise<Stage> {
  const open: Stage[] = []
  afterEach(async () => {
    for (const stage of open.splice(0)) await stage.close()
  })
  return async (options = {}) => {
    const stage = await setStage({ over: 'http', ...options })
    open.push(stage)
    return stage
  }
}

/** A promise, and the way to keep it: for a script that is to wait. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}
