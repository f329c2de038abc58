// Effects of key presses besides changes of the state.
import type { PermissionMode, Prompt } from '../../app.ts'
import type { AskAnswer } from '../host/protocol.ts'
import type { TerminalState } from './state.ts'

export type Effect =
  | { readonly type: 'submit'; readonly prompt: Prompt; readonly shown: string }
  /** `shown` replaces the line, which may contain an id. */
  | { readonly type: 'command'; readonly line: string; readonly shown?: string }
  /** Stops the turn. Queued prompts return to the editor. */
  | { readonly type: 'interrupt' }
  | { readonly type: 'abort-command' }
  /** Sends what runs to the background. */
  | { readonly type: 'move-to-background' }
  | { readonly type: 'take-queued' }
  /** Looks for files whose path matches. */
  | { readonly type: 'find-files'; readonly typed: string }
  | { readonly type: 'set-mode'; readonly mode: PermissionMode }
  | { readonly type: 'answer'; readonly id: number; readonly answer: AskAnswer }
  /** Loads the messages that a compaction summarized. */
  | { readonly type: 'load-original'; readonly receipt: string }
  | { readonly type: 'redraw' }
  /** Opens the text in the person's editor. */
  | { readonly type: 'open-editor' }
  /** Attaches the image of the clipboard. */
  | { readonly type: 'paste-image' }
  /** Returns the terminal to the shell until the program is continued. */
  | { readonly type: 'suspend' }
  | { readonly type: 'stop-playing' }
  | { readonly type: 'quit' }

export type Step = { readonly state: TerminalState; readonly effects: readonly Effect[] }

export function step(state: TerminalState, ...effects: readonly Effect[]): Step {
  return { state, effects }
}
