// @everlong/agent/terminal/testing: programs in a pseudo-terminal, for our own rooms' tests and benchmarks.

export { type Pty, type PtyOptions, startPty } from './pty.ts'

/** The agent's terminal with a simulated model that does what the prompt says: see play-worker.ts. */
export const playProgram = new URL('./play.ts', import.meta.url)
