// State that changes during a session: the date, and the state of git. It is sent with the first prompt, and again with a later
// one if it has changed or a compaction has removed it.
import type { MessageInput, Workspace } from 'everlong'
import { describeWorkspace } from 'everlong/internal/compaction'

export type Surroundings = { readonly workspace: Workspace; readonly now: () => number }

export type EnvironmentNews = {
  /** A message for the conversation. Undefined if the model is up to date. */
  readonly next: () => Promise<MessageInput | undefined>
  /** Call it when the context no longer contains the message. */
  readonly forget: () => void
}

export function createEnvironmentNews({ workspace, now }: Surroundings): EnvironmentNews {
  let told: { readonly day: string; readonly branch: string } | undefined
  return {
    next: async () => {
      const day = new Date(now()).toLocaleDateString('en-CA')
      const { branch, text } = await gitState(workspace)
      const isKnown = told?.day === day && told.branch === branch
      if (isKnown) return undefined
      told = { day, branch }
      return { role: 'user', origin: 'attachment', attachment: 'Environment', content: `Date: ${day}\n${text}` }
    },
    forget: () => {
      told = undefined
    },
  }
}

async function gitState(workspace: Workspace): Promise<{ readonly branch: string; readonly text: string }> {
  const state = await workspace.state()
  if (state.type === 'unknown') return { branch: '', text: `Git: ${state.why}` }
  return { branch: state.branch ?? '', text: describeWorkspace(state) }
}
