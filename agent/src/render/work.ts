// The work of a sub-agent so far, in one line. Loads nothing of the engine.
import { counted, exactDollars, short } from './numbers.ts'

type Work = { readonly calls: number; readonly tokens?: number; readonly cost?: number }

/** `3 calls, 12.3k tokens, $0.0123` */
export function workLine({ calls, tokens, cost }: Work): string {
  return [
    counted(calls, 'call'),
    ...(tokens === undefined ? [] : [`${short(tokens)} tokens`]),
    ...(cost === undefined ? [] : [exactDollars(cost)]),
  ].join(', ')
}
