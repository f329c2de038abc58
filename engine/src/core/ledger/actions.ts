// How the latest test, build, push or deployment ended. A claim of success is compared with it.
import type { ActionsRun } from '../tools/actions.ts'
import type { CommandEnd } from './facts.ts'
import { isNotOurs, type State } from './state.ts'

export type ActionRun = {
  readonly actions: ActionsRun
  readonly text: string
  readonly ended: CommandEnd
  readonly outcome: string
}

/** "nothing to commit, working tree clean": git exits with 1, but nothing failed. */
const nothingToDo = /nothing (?:added )?to commit|no changes added to commit|working tree clean/i

export function noteActions(state: State, { actions: { all, blamed }, text, ended, outcome }: ActionRun): void {
  if (ended === 'badly' && isNotOurs(outcome)) return
  for (const action of all) {
    const hasFailed = action === blamed && !nothingToDo.test(outcome)
    const judged = ended !== 'badly' || hasFailed ? ended : 'unfinished'
    const hasSucceeded = ended === 'well' || state.actions.get(action)?.hasSucceeded === true
    state.actions.set(action, { action, text, last: state.messages, ended: judged, outcome, hasSucceeded })
  }
}

/** Another agent, or a tool that does such things by itself, may have done it since. */
export function forgetFailures(state: State, mayHaveDone: (action: string) => boolean): void {
  for (const [key, fact] of state.actions)
    if (fact.ended === 'badly' && mayHaveDone(fact.action)) state.actions.set(key, { ...fact, ended: 'unfinished' })
}
