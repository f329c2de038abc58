// Everything that the terminal shows, as one value.
import type { AgentState, Choice, PermissionRequest, Prompt, Question } from '../../app.ts'
import type { Receipt } from '../../receipt.ts'
import { createSheet, type Sheet } from '../../render/sheet.ts'
import type { Todo } from '../../render/todos.ts'
import { continuesCode } from '../draw/markdown.ts'
import type { Call, CommandInfo, FinishedCall, GaugeReading, OriginalMessage, SetupScreen } from '../host/protocol.ts'
import { type Editor, emptyEditor } from '../input/editor.ts'

/** Items of the scrollback, in order. They never change. */
export type Item = { readonly hasGap: boolean } & Content

export type Content =
  | { readonly type: 'welcome'; readonly folder: string }
  | { readonly type: 'prompt'; readonly prompt: Prompt }
  /** Finished blocks of an answer, in Markdown. */
  | { readonly type: 'answer'; readonly text: string }
  | { readonly type: 'call'; readonly call: FinishedCall }
  | { readonly type: 'receipt'; readonly line: string }
  | { readonly type: 'notice' | 'trouble' | 'output' | 'announcement'; readonly text: string }
  /** The full subject of a question. */
  | {
      readonly type: 'detail'
      readonly title: string
      readonly detail: NonNullable<PermissionRequest['detail']>
    }
  | { readonly type: 'setup'; readonly why: string; readonly setup: SetupScreen }

/** Items that can be shown in full. */
export type Detail =
  | { readonly type: 'call'; readonly call: FinishedCall }
  | {
      readonly type: 'receipt'
      readonly receipt: Receipt
      readonly line: string
      readonly original?: readonly OriginalMessage[]
    }

export type Compaction = {
  readonly startedAt: number
  readonly tokens: number
  readonly phase: string
  readonly outputTokens?: number
}

export type RunningCall = {
  readonly call: Call
  readonly startedAt: number
  /** Number of its sub-agent's calls, and the newest one. */
  readonly steps: number
  readonly step?: Call
  readonly spent?: { readonly tokens: number; readonly cost?: number }
  /** Its newest output lines, and their total number. */
  readonly output?: { readonly lines: readonly string[]; readonly total: number }
}

export type PermissionDialog = {
  readonly type: 'permission'
  readonly id: number
  readonly request: PermissionRequest
  readonly selected: number
  /** Set while the person types a reason. */
  readonly reason?: Editor
}

export type QuestionsDialog = {
  readonly type: 'questions'
  readonly id: number
  readonly questions: readonly Question[]
  /** Answers to the questions before the current one. */
  readonly answers: readonly (readonly string[])[]
  readonly selected: number
  /** Ticked labels, if several are allowed. */
  readonly ticked: readonly string[]
  /** Set while the person types their own answer. */
  readonly own?: Editor
}

export type AskDialog = PermissionDialog | QuestionsDialog

export type Picker = {
  readonly type: 'picker'
  readonly title: string
  readonly choices: readonly Choice[]
  readonly filter: string
  readonly selected: number
  /** A choice is inserted into the prompt instead of run. */
  readonly fillsPrompt?: boolean
}

/** Shows a detail in full. */
export type Viewer = {
  readonly type: 'viewer'
  /** Index of the detail. */
  readonly at: number
  /** First line that is shown. */
  readonly top: number
}

export type TerminalState = {
  readonly size: { readonly columns: number; readonly rows: number }
  readonly isColored: boolean
  /** Printed items are replaced by undefined, so that memory does not grow. */
  readonly items: readonly (Item | undefined)[]
  readonly lastType: Content['type'] | undefined
  /** The newest details. */
  readonly details: readonly Detail[]
  readonly agent: AgentState | undefined
  /** Prompts that were sent before the agent was ready. */
  readonly early: readonly Prompt[]
  readonly commands: readonly CommandInfo[]
  readonly gauge: GaugeReading | undefined
  /** Output of the person's status line command. */
  readonly statusLine: string
  /** The part of the answer that may still change. */
  readonly answer: string
  /** Whether text of the current answer has been shown. */
  readonly hasStreamed: boolean
  readonly isThinking: boolean
  readonly retry: { readonly attempt: number; readonly why: string; readonly until: number } | undefined
  readonly running: readonly RunningCall[]
  /** The agent's list of steps. */
  readonly todos: readonly Todo[]
  readonly compaction: Compaction | undefined
  readonly busySince: number | undefined
  /** The slash command that is running. */
  readonly command: string | undefined
  readonly asks: readonly AskDialog[]
  readonly overlay: Picker | Viewer | undefined
  readonly editor: Editor
  readonly history: readonly string[]
  /** The shown entry of the history, counted from the newest, and the text typed before. */
  readonly recalled: { readonly back: number; readonly draft: Editor } | undefined
  /** Files that match the text after an `@`. */
  readonly found: { readonly typed: string; readonly files: readonly string[] } | undefined
  /** Selected row of the completion menu; -1 when it was closed with Esc. */
  readonly completion: number
  readonly hint: string | undefined
  /** The list of keys is open, until the next key. */
  readonly showsKeys: boolean
  /** The key that was pressed first, and when, if a second press soon after has an effect. */
  readonly armed: { readonly key: 'ctrl+c' | 'ctrl+d' | 'escape'; readonly at: number } | undefined
  /** When text was last typed. */
  readonly typedAt: number
  /** The person has said something in this session. */
  readonly hasSaid: boolean
  /** The bell rings when a question waits. */
  readonly ringsBell: boolean
  /** The demo is typing. */
  readonly isPlaying: boolean
}

export const firstState: TerminalState = {
  size: { columns: 80, rows: 24 },
  isColored: false,
  items: [],
  lastType: undefined,
  details: [],
  agent: undefined,
  early: [],
  commands: [],
  gauge: undefined,
  statusLine: '',
  answer: '',
  hasStreamed: false,
  isThinking: false,
  retry: undefined,
  running: [],
  todos: [],
  compaction: undefined,
  busySince: undefined,
  command: undefined,
  asks: [],
  overlay: undefined,
  editor: emptyEditor,
  history: [],
  recalled: undefined,
  found: undefined,
  completion: 0,
  hint: undefined,
  showsKeys: false,
  armed: undefined,
  typedAt: 0,
  hasSaid: false,
  ringsBell: false,
  isPlaying: false,
}

/** The layout for all drawings. */
export function sheetOf({ size, isColored }: Pick<TerminalState, 'size' | 'isColored'>): Sheet {
  return createSheet({ width: Math.max(10, size.columns), isColored })
}

const maxDetails = 50

export function withItem(state: TerminalState, content: Content): TerminalState {
  const isPacked = packed.has(content.type) || (content.type === 'answer' && continuesCode(content.text))
  const isTogether = content.type === state.lastType && isPacked
  const item: Item = { ...content, hasGap: !isTogether && state.lastType !== undefined }
  return { ...state, items: [...state.items, item], lastType: content.type }
}

/** Several in a row have no gap. */
const packed: ReadonlySet<Content['type']> = new Set(['call', 'notice'])

export function withDetail(state: TerminalState, detail: Detail): TerminalState {
  return { ...state, details: [...state.details, detail].slice(-maxDetails) }
}

/** After items have been printed, their contents are no longer needed. */
export function withoutPrinted(state: TerminalState, printed: number): TerminalState {
  if (state.items.findIndex((item) => item !== undefined) >= printed) return state
  return { ...state, items: state.items.map((item, at) => (at < printed ? undefined : item)) }
}

/** Whether something runs that can continue in the background. */
export function canMove({ running }: Pick<TerminalState, 'running'>): boolean {
  return running.some(({ call }) => movable.has(call.name))
}

const movable: ReadonlySet<string> = new Set(['Bash', 'Task', '!'])
