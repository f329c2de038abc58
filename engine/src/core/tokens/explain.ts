// How full the context is, what happens at which size, and why. Nothing else computes these numbers.
import type { ViewMessage } from '../message/message.ts'
import { type ContextSize, contextSize, modelOf, type SizeOptions } from './context-size.ts'
import { resolveSettings, type SettingsInput } from './settings.ts'
import { resolveThresholds, type Thresholds } from './thresholds.ts'
import { resolveWindows, type WindowFacts, type Windows } from './windows.ts'

export type ExplainInput = SettingsInput &
  WindowFacts &
  SizeOptions & {
    readonly size?: ContextSize | undefined
    readonly messages?: readonly ViewMessage[] | undefined
  }

/** From best to worst. */
export type ContextState = 'ok' | 'warning' | 'error' | 'over-threshold' | 'blocking'

export type Explanation = Windows &
  Thresholds & {
    readonly model: string | undefined
    readonly size: ContextSize
    readonly percentLeft: number
    readonly state: ContextState
    readonly isAboveWarning: boolean
    readonly isAboveError: boolean
    /** Never true while auto-compact is off. */
    readonly isAboveThreshold: boolean
    readonly isBlocking: boolean
    readonly warnings: readonly string[]
  }

/** Throws a ConfigurationError if the settings cannot work. */
export function explain(input: ExplainInput): Explanation {
  const messages = input.messages ?? []
  const model = input.model ?? modelOf(messages)
  const settings = resolveSettings({ ...input, model })
  const windows = resolveWindows(settings, { ...input, model })
  const thresholds = resolveThresholds(settings, windows.effectiveWindow.value)
  const size = input.size ?? contextSize(messages, { ...input, model })
  const used = size.tokens
  const is = {
    isAboveWarning: used >= thresholds.warning.value,
    isAboveError: used >= thresholds.error.value,
    isAboveThreshold: thresholds.autoCompact.mode !== false && used >= thresholds.autoCompactThreshold.value,
    isBlocking: used >= thresholds.blocking.value,
  }
  const { value: limit } = thresholds.limit
  const percentLeft = Math.max(0, Math.round(((limit - used) / limit) * 100))
  return { model, size, ...windows, ...thresholds, percentLeft, state: stateOf(is), ...is, warnings: settings.warnings }
}

type Flags = Pick<Explanation, 'isAboveWarning' | 'isAboveError' | 'isAboveThreshold' | 'isBlocking'>

function stateOf({ isAboveWarning, isAboveError, isAboveThreshold, isBlocking }: Flags): ContextState {
  if (isBlocking) return 'blocking'
  if (isAboveThreshold) return 'over-threshold'
  if (isAboveError) return 'error'
  return isAboveWarning ? 'warning' : 'ok'
}
