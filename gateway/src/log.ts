// One line of JSON per event, without any text of a conversation.
export type LogLevel = 'info' | 'warn' | 'error'

/** Short facts only: names, ids, counts, times. */
export type Facts = Readonly<Record<string, string | number | boolean | undefined>>

export type Log = (level: LogLevel, event: string, facts?: Facts) => void

export function createLog(write: (line: string) => void, now: () => number): Log {
  return (level, event, facts = {}) => {
    write(`${JSON.stringify({ time: new Date(now()).toISOString(), level, event, ...facts })}\n`)
  }
}
